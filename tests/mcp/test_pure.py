"""Names, configurations, forms and look-ups: what needs no server."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.mcp_kit import project_of
from trimtab.coding.commands.mcp import filled
from trimtab.coding.mcp.config import ServerConfig, expanded
from trimtab.coding.mcp.finding import Entry, found
from trimtab.coding.mcp.harmless import listing_of
from trimtab.coding.mcp.listings import Listings
from trimtab.coding.mcp.logins import FileLogins
from trimtab.coding.mcp.names import tool_names
from trimtab.coding.mcp.pipe import Lines
from trimtab.coding.mcp.tail import Tail
from trimtab.coding.mcp.values import Listing, PromptArgument, RemotePrompt, RemoteTool
from trimtab.config.in_force import in_force
from trimtab.config.settings import McpServer
from trimtab.types.errors import UsageError

PAIRS = st.lists(st.tuples(st.text(max_size=70), st.text(max_size=70)), max_size=20)


@given(PAIRS, st.randoms())
def test_every_tool_has_a_name_of_its_own_that_providers_take(pairs: list[tuple[str, str]], random: object) -> None:
    names = tool_names(pairs)
    assert len(set(names.values())) == len(set(pairs))
    for name in names.values():
        assert len(name) <= 64
        assert name.replace("-", "a").replace("_", "a").isalnum()
        assert name.isascii()
    shuffled = list(pairs)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert tool_names(shuffled) == names


@given(st.lists(st.binary(max_size=40)), st.integers(1, 7))
def test_lines_come_whole_however_they_are_cut(parts: list[bytes], size: int) -> None:
    data = b"".join(part + b"\n" for part in (p.replace(b"\n", b" ") for p in parts))
    lines = Lines()
    got = [line for at in range(0, len(data), size) for line in lines.feed(data[at : at + size])]
    assert got == [part.replace(b"\n", b" ") for part in parts]


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)
    )
)
def test_a_listing_of_anything_is_one(value: object) -> None:
    entries = [{"name": "x", "inputSchema": value, "description": value}, value, {"name": value}]
    listing = listing_of(entries, entries)
    assert all(tool.parameters["type"] == "object" for tool in listing.tools)


def test_the_tail_of_what_is_printed_is_bounded() -> None:
    tail = Tail()
    for _ in range(100):
        tail.feed(b"x" * 100_000 + b"\n\x1b[31mred\n")
    assert len(tail.lines()) == 40
    assert max(map(len, tail.lines())) == 2_000
    assert "red" in tail.lines()


NODE = """node:internal/modules/cjs/loader:1215
  throw err;
Error: Cannot find module '/x.js'
    at Function.executeUserEntryPoint [as runMain] (node:internal/modules/run_main:128:12)
  code: 'MODULE_NOT_FOUND',
Node.js v20.1.0
"""
NPM = """npm error code E404
npm error 404 Not Found - GET https://r/x
npm error 404  The requested resource 'x@*' could not be found
npm error 404 Note that you can also install from a
npm error A complete log of this run can be found in: /x.log
"""


@pytest.mark.parametrize(
    ("printed", "told"),
    [
        ("", ""),
        ("one\ntwo", "two"),
        (NODE, "Error: Cannot find module '/x.js'"),
        (NPM, "npm error 404 The requested resource 'x@*' could not be found"),
        ("Traceback (most recent call last):\n  File x\nKeyError: 'A'\n", "KeyError: 'A'"),
        ("fatal: no database\nbye\n", "fatal: no database"),
        ("x" * 500 + " is not set\n", "x" * 500 + " is not set"),
    ],
)
def test_the_line_that_says_why_a_server_failed_is_told_whole(printed: str, told: str) -> None:
    tail = Tail()
    tail.feed(b"an error before\n")
    tail.begin()
    tail.feed(printed.encode())
    assert " ".join(tail.telling().split()) == told


def test_variables_stand_for_their_values_and_for_a_default_where_there_is_none(tmp_path: Path) -> None:
    server = McpServer(command="x", args=("${A}", "${B:-b}"), env={"K": "<${A}>"})
    full = expanded(ServerConfig("n", server, tmp_path), {"A": "1"})
    assert (full.server.args, full.server.env, full.problem) == (("1", "b"), {"K": "<1>"}, "")


@pytest.mark.parametrize(
    ("server", "problem"),
    [
        (McpServer(), "it needs a command or a url, and not both"),
        (McpServer(command="x", url="http://h"), "it needs a command or a url, and not both"),
        (McpServer(url="ftp://h"), "its url is no http(s) address"),
        (McpServer(url="http://h:99999/"), "its url can't be read: Port out of range 0-65535"),
        (McpServer(url="http://h/\x1b[31m"), "its url is no http(s) address"),
        (McpServer(command="x", args=("\0",)), "its command or a variable holds what no program can be given"),
        (McpServer(command="x", env={"A=B": ""}), "its command or a variable holds what no program can be given"),
    ],
)
def test_a_configuration_that_cannot_be_used_says_why(tmp_path: Path, server: McpServer, problem: str) -> None:
    assert expanded(ServerConfig("n", server, tmp_path), {}).problem == problem


def test_an_address_is_shown_without_what_may_be_secret(tmp_path: Path) -> None:
    url = "https://me:secret@host/mcp?key=secret"
    assert ServerConfig("n", McpServer(url=url), tmp_path).where == "https://host/mcp"


def test_a_variable_in_a_command_is_shown_by_its_name(tmp_path: Path) -> None:
    full = expanded(ServerConfig("n", McpServer(command="x", args=("--key=${KEY}",)), tmp_path), {"KEY": "hush-hush"})
    assert (full.where, full.command) == ("x --key=${KEY}", ("x", "--key=hush-hush"))


def test_what_a_server_prints_is_kept_without_the_secrets_that_it_was_given() -> None:
    tail = Tail(("hush-hush",))
    tail.feed(b"my key is hush-hush\nand ")
    tail.feed(b"hush-hush")
    assert tail.lines() == ("my key is (set)", "and (set)")


def test_secrets_of_a_server_are_shown_to_nobody(tmp_path: Path) -> None:
    project = project_of(tmp_path, {"a": {"url": "http://h", "headers": {"X": "hush"}, "env": {"Y": "hush"}}})
    assert "hush" not in repr([(row.key, row.value) for row in in_force(project.loaded) if row.key[0] == "mcp"])


def test_a_listing_is_kept_for_its_configuration_and_a_damaged_one_is_none(tmp_path: Path) -> None:
    listings, listing = Listings(tmp_path / "cache"), Listing((RemoteTool("a", "b", {"type": "object"}),))
    listings.write("key", listing)
    assert listings.read("key") == listing
    assert listings.read("other") is None
    (tmp_path / "cache" / "key.json").write_bytes(b'{"format": 1, "listing": \xff')
    assert listings.read("key") is None


def test_a_login_is_kept_for_its_owner_alone(tmp_path: Path) -> None:
    logins = FileLogins(tmp_path / "home" / "logins.json")
    logins.put("https://a", {"tokens": {"access_token": "x"}})
    logins.put("https://b", {})
    assert logins.get("https://a") == {"tokens": {"access_token": "x"}}
    assert logins.file.stat().st_mode & 0o777 == 0o600
    assert logins.forget("https://a")
    assert not logins.forget("https://a")
    logins.put("https://a", {"tokens": {}})
    logins.file.chmod(0o644)
    assert logins.get("https://a") is None


def test_words_find_the_tools_that_are_about_them() -> None:
    entries = [
        Entry("mcp__git__git_log", "Shows the commit logs", ("max_count",)),
        Entry("mcp__git__git_commit", "Records changes to the repository"),
        Entry("mcp__files__readFile", "Reads a file"),
    ]
    assert found(entries, "commit changes", 5)[0] == "mcp__git__git_commit"
    assert found(entries, "read file", 5)[0] == "mcp__files__readFile"
    assert found(entries, "mcp__git__git_log", 5) == ["mcp__git__git_log"]
    assert found(entries, "weather", 5) == []


@pytest.mark.parametrize(
    ("typed", "arguments"),
    [
        ("tea", {"what": "tea"}),
        ("tea slowly and well", {"what": "tea", "how": "slowly and well"}),
        ("how=well 'green tea'", {"how": "well", "what": "green tea"}),
    ],
)
def test_arguments_of_a_prompt_are_read_as_a_person_types_them(typed: str, arguments: dict[str, str]) -> None:
    prompt = RemotePrompt("plan", "", (PromptArgument("what", required=True), PromptArgument("how")))
    assert filled(prompt, typed) == arguments


@pytest.mark.parametrize("typed", ["", "'open", "how=well"])
def test_arguments_that_are_missing_or_torn_are_told(typed: str) -> None:
    prompt = RemotePrompt("plan", "", (PromptArgument("what", required=True), PromptArgument("how")))
    with pytest.raises(UsageError):
        filled(prompt, typed)


def test_what_a_project_says_of_servers_in_its_settings_is_withheld(tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".trimtab"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text('[mcp.servers.x]\ncommand = "sh"\n')
    project = project_of(tmp_path, trust="once")
    assert dict(project.settings.mcp.servers) == {}
    assert [row.key for row in project.withheld] == [("mcp", "servers", "x", "command")]


def test_the_schema_of_a_listing_survives_being_kept() -> None:
    schema = {"type": "object", "properties": {"x": {"enum": [1, None, "a"]}}}
    listing = listing_of([{"name": "t", "inputSchema": schema}], [])
    assert listing.tools[0].parameters == json.loads(json.dumps(schema))
