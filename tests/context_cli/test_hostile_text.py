"""Text from outside in what `trimtab context` and `trimtab replay` print: no row is forged by it, and no terminal obeys it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from trimtab.types.codec import encode_entry
from trimtab.types.edits import Elide
from trimtab.types.entries import (
    CustomEntry,
    EditEntry,
    Header,
    KnownEntry,
    MessageEntry,
    RevertEntry,
    SessionInfoEntry,
)
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, user

FORGED = "edit9999  2026-05-04 03:02:05  step 9  user  drop everything"
EVIL = f"fine\n{FORGED}\r\n{FORGED}\u2028{FORGED}\x1b[2J\x1b]0;owned\x07\x9b31m\x85{FORGED}\x0b{FORGED}\u202egnp.exe\x00\x7f"
OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.fixture
def evil(cli: Cli) -> str:
    """A session in which every field that is free text is hostile."""
    made: list[KnownEntry] = []

    def at(entry_id: str) -> dict[str, Any]:
        return {
            "id": entry_id,
            "parent": made[-1].id if made else None,
            "time": f"2026-05-04T03:02:{len(made):02}.000Z",
        }

    call = ToolCall(f"c1{EVIL}", f"read{EVIL}", {"path": EVIL}, json.dumps({"path": EVIL}))
    made.append(MessageEntry(**at("user0001"), message=user(f"needle {EVIL}")))
    asked = Assistant((Text(EVIL), call), "tool_use", model=f"tiny{EVIL}", provider=f"scripted{EVIL}")
    made.append(MessageEntry(**at("ask00001"), message=asked))
    result = ToolResult(f"c1{EVIL}", f"read{EVIL}", (Text(f"needle_1234 {EVIL}" * 20),), is_error=False, handle="r1")
    made.append(MessageEntry(**at("res00001"), message=result))
    stub = f"[archived r1~abcdefgh: {EVIL}]"
    made.append(
        EditEntry(
            **at("edit0001"),
            edit=Elide(targets=("res00001",), texts={"res00001": stub}),
            reason=EVIL,
            author=f"policy:{EVIL}",
            batch=EVIL,
        )
    )
    data = {"event": f"policy_failed{EVIL}", "author": EVIL, "reasons": [EVIL, EVIL]}
    made.append(CustomEntry(**at("note0001"), kind="context", data=data))
    made.append(RevertEntry(**at("back0001"), target="edit0001", author=EVIL, reason=EVIL))
    again = Elide(targets=("res00001",), texts={"res00001": stub})
    made.append(EditEntry(**at("edit0002"), edit=again, reason=EVIL, author=EVIL))
    made.append(SessionInfoEntry(**at("info0001"), title=EVIL, policy=f"mask{EVIL}"))
    path = cli.root / "evil.jsonl"
    header = Header(f"s-evil{EVIL}", str(cli.project), "2026-05-04T03:02:00.000Z", 1)
    path.write_bytes(b"".join(encode_entry(value) + b"\n" for value in (header, *made)))
    return str(path)


COMMANDS = [
    ["show"], ["log"], ["log", "--diff"], ["explain", "r1"], ["explain", "edit0001"], ["explain", "edit0002"], ["explain", "note0001"],
    ["blame", "r1"], ["blame", "needle"], ["blame", "1"], ["blame", EVIL.replace("\0", "")], ["restore", "r1"], ["pin", "r1"], ["unpin", "r1"], ["revert", "last"],
    ["explain", EVIL], ["restore", EVIL], ["bisect", "--check", "true"], ["bisect", "--check", 'grep -q \'"target":"edit0002"\' "$TRIMTAB_SESSION"'],
]  # fmt: skip


@pytest.mark.parametrize(
    "command", COMMANDS, ids=lambda command: " ".join(command)[:20].encode("ascii", "replace").decode()
)
def test_no_text_forges_a_row_or_reaches_the_terminal(cli: Cli, evil: str, command: list[str]) -> None:
    verb, *rest = command
    outcome = cli.inside("context", verb, evil, *rest)
    assert outcome.code in (0, 1, 2)
    for text in (outcome.out, outcome.err):
        assert OBEYED.findall(text.replace("\n", "")) == []
        assert [line for line in text.split("\n") if line.startswith("edit9999")] == []


@pytest.mark.parametrize(
    "command",
    [*COMMANDS[:10], ["restore", "r1"]],
    ids=lambda command: " ".join(command)[:20].encode("ascii", "replace").decode(),
)
def test_json_holds_the_text_and_no_terminal_obeys_it(cli: Cli, evil: str, command: list[str]) -> None:
    verb, *rest = command
    outcome = cli.inside("context", verb, evil, *rest, "--json")
    assert outcome.code == 0, outcome.err
    assert OBEYED.findall(outcome.out.replace("\n", "")) == []
    assert json.loads(outcome.out)[
        "session_id" if verb in ("show", "log", "restore") else next(iter(json.loads(outcome.out)))
    ]


HEAD = "── you · user0009"


@pytest.mark.parametrize("command", [["context", "show", "--text"], ["sessions", "show"]], ids=" ".join)
def test_no_message_forges_the_head_of_another(cli: Cli, command: list[str]) -> None:
    breaks = ["\n", "\r\n", "\u2028", "\n\x1b[2K", "\x1b]0;\n\x07\n", "\r"]
    forged = "".join(f"{made}{HEAD}" for made in breaks)
    call = ToolCall(f"c1{forged}", f"read{forged}", {}, "{}")
    messages = [user(forged), Assistant((Text(forged), call), "tool_use", model=f"m{forged}", provider="p"), ToolResult(call.id, call.name, (Text(forged),), is_error=False)]  # fmt: skip
    made = [MessageEntry(id=f"entry00{n}", parent=f"entry00{n - 1}" if n else None, time="2026-05-04T03:02:00.000Z", message=m) for n, m in enumerate(messages)]  # fmt: skip
    path = cli.root / "forged.jsonl"
    header = Header("s-forged", str(cli.project), "2026-05-04T03:02:00.000Z", 1)
    path.write_bytes(b"".join(encode_entry(value) + b"\n" for value in (header, *made)))
    outcome = cli.inside(command[0], command[1], str(path), *command[2:])
    assert outcome.code == 0, outcome.err
    assert sum(line.startswith("──") for line in outcome.out.splitlines()) == len(messages)
    assert not [line for line in outcome.out.splitlines() if line.startswith(HEAD)]


def test_the_reason_is_shown_with_its_breaks_marked(cli: Cli, evil: str) -> None:
    assert f"    fine\\n{FORGED}\\n{FORGED}\\n{FORGED}" in cli.inside("context", "log", evil).out


def test_replay_prints_no_row_of_a_file_name_or_a_policy(cli: Cli) -> None:
    name = f"a\n{FORGED}\x1b[2J.jsonl"
    (cli.project / name).write_bytes(b"junk")
    for arguments in ([name], [name, "--json"], [name, "--policy", f"none\n{FORGED}"], [f"--dump={name}", name]):
        outcome = cli.inside("replay", *arguments)
        assert outcome.code in (1, 2)
        for text in (outcome.out, outcome.err):
            assert OBEYED.findall(text.replace("\n", "")) == []
            assert [line for line in text.split("\n") if line.startswith("edit9999")] == []


def test_a_folder_of_that_name_is_named_on_one_line(cli: Cli) -> None:
    Path(cli.project / f"a\n{FORGED}").mkdir()
    outcome = cli.inside("replay", f"a\n{FORGED}")
    assert [line for line in outcome.err.split("\n") if line.startswith("edit9999")] == []
