"""`/bug`: what the report holds, what it never holds, and what becomes of it where it can't be written."""

import json
from pathlib import Path

import pytest

from support.cli import Cli, Outcome
from support.servers import FakeServer, Received, Reply, json_reply
from trimtab.coding.bug_report import Hiding
from trimtab.coding.project import open_project

NAMES = (
    *("variable", "key", "header", "bearer", "query", "password", "proxy", "client", "params", "argument"),
    *("option", "environment", "user", "login", "access", "refresh", "asked", "glued", "mcp", "again"),
)
SECRETS = {name: f"Zq{name}hides{number}Xy" for number, name in enumerate(NAMES)}
"""Of no shape that is known."""


def _settings(port: str) -> str:
    s = SECRETS
    return f"""
model = "office/tiny"
[providers.office]
base_url = "http://me:{s["password"]}@127.0.0.1:{port}/v1?key={s["query"]}"
api_key = "{s["key"]}"
headers = {{ X-Own = "{s["header"]}", Authorization = "Bearer {s["bearer"]}" }}
proxy = "http://me:{s["proxy"]}@proxy.example:3128"
models = [{{ id = "tiny", context_window = 32768, max_output = 4096 }}]
[providers.two]
base_url = "https://two.example/v1"
[providers.two.oauth]
token_url = "https://two.example/token?secret={s["asked"]}"
device_url = "https://two.example/device"
client_id = "public"
client_secret = "{s["client"]}"
token_params = {{ more = "{s["params"]}" }}
[mcp.servers.tool]
command = "true"
args = ["--token", "{s["argument"]}", "--api-key={s["option"]}"]
env = {{ PLAIN = "{s["environment"]}" }}
[mcp.servers.db]
command = "mysql"
args = ["-u", "me", "-p{s["glued"]}"]
[verify]
commands = ["curl -u me:{s["user"]} https://checks.example"]
"""


def _repeats(request: Received) -> Reply:
    """Everything that was sent, and what nobody sent: a server that knows too much."""
    return json_reply({"error": {"message": f"{'x' * 270} {request.headers} {' '.join(SECRETS.values())}"}}, status=400)


def talk(cli: Cli, *lines: str) -> Outcome:
    return cli.inside("chat", stdin="".join(f"{line}\n" for line in lines).encode())


def test_a_report_holds_no_secret_of_settings_variables_and_logins_wherever_it_stands(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path, MY_API_TOKEN=SECRETS["variable"])
    with FakeServer(_repeats) as server:
        cli.config(_settings(server.url.rpartition(":")[2]))
        token = {"type": "oauth", "access_token": SECRETS["access"], "refresh_token": SECRETS["refresh"]}
        kept = {"providers": {"three": {"type": "api_key", "api_key": SECRETS["login"]}, "four": token}}
        (cli.home / "auth.json").write_text(json.dumps(kept))
        (cli.home / "auth.json").chmod(0o600)
        tokens = {"access_token": SECRETS["mcp"], "refresh_token": SECRETS["again"]}
        (cli.home / "mcp-logins.json").write_text(json.dumps({"servers": {"https://h/mcp": {"tokens": tokens}}}))
        (cli.home / "mcp-logins.json").chmod(0o600)
        outcome = talk(cli, "hello", "/bug report.md")
    assert "written to" in outcome.err + outcome.out, outcome.err
    report = (cli.project / "report.md").read_text()
    assert {name for name, secret in SECRETS.items() if secret[:10] in report} == set()
    for told in (
        "office/tiny",
        "proxy.example:3128",
        "two.example",
        "error invalid 400",
        "assistant, 0 characters",
        "mcp db",
    ):
        assert told in report
    assert str(tmp_path) not in report


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: {}",
        "-H 'Authorization: {}'",
        "Cookie: sid={}",
        "X-Api-Key: {}",
        "x-auth-token: {}",
        "password: {}",
        "passwd={}",
        '"password": "{}"',
        '{{\\"password\\": \\"{}\\"}}',
        "--password {}",
        "gpg --passphrase {} -d f",
        "host=h user=u password={} dbname=d",
        "mysql -p{} db",
        "redis://:{}@h/0",
    ],
)
def test_a_report_hides_what_is_named_like_a_secret_though_it_looks_like_a_word(tmp_path: Path, text: str) -> None:
    hide = Hiding(open_project(tmp_path, env={"HOME": "/root"}))
    shown = hide(text.format("sesame"))
    assert "sesame" not in shown
    assert hide(shown) == shown


@pytest.mark.parametrize(
    "text", ["PWD=/tmp/x", "password: string", "the password is wrong", "Authorization header is missing", "mkdir -p a"]
)
def test_a_report_leaves_alone_what_only_speaks_of_secrets(tmp_path: Path, text: str) -> None:
    assert Hiding(open_project(tmp_path, env={"HOME": "/root"}))(text) == text


@pytest.mark.parametrize("in_the_way", ["a file", "a link that leads nowhere"])
def test_where_no_report_can_be_written_the_talk_says_so_and_goes_on(cli: Cli, in_the_way: str) -> None:
    cli.home.mkdir()
    bugs = cli.home / "bugs"
    if in_the_way == "a file":
        bugs.write_text("")
    else:
        bugs.symlink_to("nowhere/at/all")
    cli.config(f'model = "{cli.script({"text": "hello"})}"\n')
    outcome = talk(cli, "/bug", "/cost")
    assert outcome.code == 0, outcome.err
    assert f"the folder {bugs} can't be made" in outcome.out + outcome.err
    assert "this session took" in outcome.out + outcome.err


def test_a_report_takes_the_place_of_nothing(cli: Cli) -> None:
    cli.file("there.md", "mine")
    (cli.project / "link.md").symlink_to(cli.root / "elsewhere.md")
    cli.config(f'model = "{cli.script({"text": "hello"})}"\n')
    outcome = talk(cli, "/bug there.md", "/bug link.md", "/bug .", "/bug no/folder.md", "/bug fine.md")
    assert outcome.code == 0, outcome.err
    assert (outcome.out + outcome.err).count("is there already") == 3
    assert (cli.project / "there.md").read_text() == "mine"
    assert not (cli.root / "elsewhere.md").exists()
    assert (cli.project / "fine.md").stat().st_mode & 0o777 == 0o600


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project of one test."""
    return Cli.at(tmp_path)
