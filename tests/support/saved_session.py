"""A session file with fixed ids and times, in which each kind of thing that a context log tells of happens once.

prompt · read app.cfg (r1) · grep (r2) · r1 elided by a policy · a refusal · app.cfg read again (r3) · compaction of the start · taken back · answer
"""

import json
from pathlib import Path
from typing import Any

from trimtab.types.codec import encode_entry
from trimtab.types.edits import Compact, EditCost, Elide
from trimtab.types.entries import CustomEntry, EditEntry, Header, KnownEntry, MessageEntry, RevertEntry
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, user

CONFIG = "\n".join([f"option_{n} = /srv/app/data_{n}.bin" for n in range(60)] + ["listen_port = 4711"])
STUB = "[archived r1~abcdefgh: read, 1,200 tokens, 61 lines; to read it: recall id=r1]"
SUMMARY = "[summary of 4 messages, results r1-r2; to read any of them: recall id=ID]\nThe configuration was read."


def entries() -> list[KnownEntry]:
    """The entries, each behind the one before it, a second apart."""
    made: list[KnownEntry] = []

    def at() -> dict[str, Any]:
        return {"parent": made[-1].id if made else None, "time": f"2026-05-04T03:02:{len(made):02}.000Z"}

    def say(entry_id: str, message: Message) -> None:
        made.append(MessageEntry(id=entry_id, **at(), message=message))

    say("user0001", user("Never touch the tests. Which port does app.cfg open?"))
    say("ask00001", _ask("I read app.cfg.", "c1", "read", {"path": "app.cfg"}))
    say("res00001", ToolResult("c1", "read", (Text(CONFIG),), is_error=False, handle="r1"))
    say("ask00002", _ask("I look for its users.", "c2", "grep", {"pattern": "option_7"}))
    say("res00002", ToolResult("c2", "grep", (Text("main.py:7: option_7\n" * 40),), is_error=False, handle="r2"))
    made.append(
        EditEntry(
            id="edit0001",
            **at(),
            edit=Elide(targets=("res00001",), texts={"res00001": STUB}),
            reason="a long result that nothing uses",
            author="policy:rules",
            before_tokens=1_200,
            after_tokens=40,
            cost=EditCost(cache_usd=0.0012),
            batch="2.1",
        )
    )
    refused = {"event": "not_applied", "author": "policy:rules", "reasons": ["elide: 'res00002' is pinned"]}
    made.append(CustomEntry(id="note0001", **at(), kind="context", data=refused))
    say("ask00003", _ask("I need it again.", "c3", "read", {"path": "app.cfg"}))
    say("res00003", ToolResult("c3", "read", (Text(CONFIG),), is_error=False, handle="r3"))
    made.append(
        EditEntry(
            id="edit0002",
            **at(),
            edit=Compact(
                targets=("ask00001", "res00001", "ask00002", "res00002"),
                summary=SUMMARY,
                mode="serialised",
                model="scripted/tiny",
            ),
            reason="the window fills up",
            author="recovery",
            before_tokens=700,
            after_tokens=60,
            cost=EditCost(model_tokens=1_500, ms=850),
            batch="3.1",
        )
    )
    made.append(RevertEntry(id="back0001", **at(), target="edit0002", author="user", reason="it lost the users"))
    say("ask00004", Assistant((Text("It opens 4711."),), "stop", model="tiny", provider="scripted"))
    return made


def _ask(text: str, call_id: str, name: str, arguments: dict[str, Any]) -> Assistant:
    call = ToolCall(call_id, name, arguments, json.dumps(arguments))
    return Assistant((Text(text), call), "tool_use", model="tiny", provider="scripted")


def write_session(path: Path, *, cwd: str, upto: str | None = None) -> Path:
    """Write the session, as far as the entry `upto`."""
    made = entries()
    last = next((n for n, entry in enumerate(made) if entry.id == upto), len(made) - 1)
    return _written(path, made[: last + 1], cwd=cwd)


def write_masked_session(path: Path, *, cwd: str, edits: int) -> Path:
    """Write a session of as many reads as there are `edits`, each of which hides one result: `mask0`, `mask1`, …"""
    made: list[KnownEntry] = [MessageEntry(id="start", parent=None, time="", message=user("read them"))]

    def then(entry_id: str) -> dict[str, Any]:
        return {"id": entry_id, "parent": made[-1].id, "time": ""}

    for n in range(edits):
        made.append(MessageEntry(**then(f"ask{n}"), message=_ask("next", f"c{n}", "read", {"path": f"f{n}"})))
        result = ToolResult(f"c{n}", "read", (Text(CONFIG),), is_error=False)
        made.append(MessageEntry(**then(f"res{n}"), message=result))
        edit = Elide(targets=(f"res{n}",), texts={f"res{n}": STUB})
        made.append(EditEntry(**then(f"mask{n}"), edit=edit, author="policy:mask"))
    return _written(path, made, cwd=cwd)


def _written(path: Path, made: list[KnownEntry], *, cwd: str) -> Path:
    header = Header("s-fixed", cwd, "2026-05-04T03:02:00.000Z", 1)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"".join(encode_entry(value) + b"\n" for value in (header, *made)))
    return path
