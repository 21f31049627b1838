"""What the environment holds for a provider: keys, proxies, certificates."""

import pytest

from trimtab.config.keys import find_ca_file, find_key, find_proxy


@pytest.mark.parametrize(
    ("variable", "env", "key"),
    [("K", {"K": " sk \n"}, "sk"), ("K", {"K": " "}, None), ("K", {}, None), ("", {"": "sk"}, None)],
)
def test_a_key_comes_without_stray_blanks(variable: str, env: dict[str, str], key: str | None) -> None:
    assert find_key(variable, env) == key


@pytest.mark.parametrize(
    ("url", "env", "proxy"),
    [
        ("https://a.example/v1", {"https_proxy": "http://p:1"}, "http://p:1"),
        ("https://a.example/v1", {"HTTPS_PROXY": "p:1"}, "http://p:1"),
        ("https://a.example/v1", {"http_proxy": "http://p:1"}, None),
        ("http://a.example/v1", {"all_proxy": "socks5://p:1"}, "socks5://p:1"),
        ("https://a.example/v1", {"https_proxy": "http://p:1", "no_proxy": "b.example, .example"}, None),
        ("https://a.example/v1", {"https_proxy": "http://p:1", "NO_PROXY": "*"}, None),
        ("https://aexample/v1", {"https_proxy": "http://p:1", "no_proxy": "example"}, "http://p:1"),
    ],
)
def test_a_proxy_is_that_of_the_scheme_unless_the_host_is_exempt(
    url: str, env: dict[str, str], proxy: str | None
) -> None:
    assert find_proxy(url, env) == proxy


@pytest.mark.parametrize(
    ("env", "file"),
    [
        ({"SSL_CERT_FILE": "/a", "REQUESTS_CA_BUNDLE": "/b"}, "/a"),
        ({"SSL_CERT_FILE": "", "REQUESTS_CA_BUNDLE": "/b"}, "/b"),
        ({}, None),
    ],
)
def test_certificates_are_named_by_the_usual_variables(env: dict[str, str], file: str | None) -> None:
    assert find_ca_file(env) == file
