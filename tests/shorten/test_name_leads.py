"""Names keep what tells one path from another: the root, the home, the folders upwards, the dot of a hidden file."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.shorten.names import names_in, names_line
from trimtab.context.strings import distinctive_strings


def count(text: str) -> int:
    return -(-len(text) // 4)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("/etc/app/hosts.conf", "/etc/app/hosts.conf"),
        ("etc/app/hosts.conf", "etc/app/hosts.conf"),
        ("./etc/app/hosts.conf", "etc/app/hosts.conf"),
        ("../etc/app/hosts.conf", "../etc/app/hosts.conf"),
        ("../../etc/hosts.conf", "../../etc/hosts.conf"),
        ("~/notes/today.txt", "~/notes/today.txt"),
        ("~/.config/app.toml", "~/.config/app.toml"),
        ("/.dockerenv_file", "/.dockerenv_file"),
        (".github/workflows/ci.yml", ".github/workflows/ci.yml"),
        ("open('/srv/app/data.csv')", "/srv/app/data.csv"),
        ("path=/srv/app/data.csv:", "/srv/app/data.csv"),
        ("https://example.org/a.html", "https://example.org/a.html"),
        ("...parse_header", "parse_header"),
        ("--dry-run-all", "dry-run-all"),
        ("::parse_header", "parse_header"),
        ("//server/share.txt", "server/share.txt"),
    ],
)
def test_a_name_is_shown_as_its_text_writes_it(text: str, shown: str) -> None:
    assert names_line(text, max_tokens=50, count=count) == f"names: {shown}"


def test_the_first_place_where_a_name_stands_decides() -> None:
    text = "src/app/main.py and then /src/app/main.py"
    assert names_in(text, max_tokens=50, count=count) == ("src/app/main.py",)


def test_a_name_that_stands_elsewhere_is_known_whatever_is_in_front_of_it() -> None:
    assert names_in("/srv/app/data.csv", standing={"srv/app/data.csv"}, max_tokens=50, count=count) == ()


@given(st.text(alphabet="ab1_./~-:@ /", max_size=60), st.integers(0, 40))
def test_a_line_is_within_its_budget_and_says_the_strings_of_the_text(text: str, most: int) -> None:
    names = names_in(text, max_tokens=most, count=count)
    assert sum(count(f" {name}") for name in names) <= max(0, most)
    assert set(distinctive_strings(" ".join(names))) <= set(distinctive_strings(text))
    assert all(name in text for name in names)
