"""Every command with every kind of value in every field: one answer each, and the server lives."""

import json
from typing import Any

import msgspec
import pytest

from support.cli import Cli
from support.rpc_wire import wired
from trimtab.frontends.rpc.table import VERBS, Verb

NASTY: list[Any] = [
    "",
    "\0",
    "a\0b",
    "\n",
    "\ud800",
    "\x1b[2J\u202e",
    "x" * 300_000,
    "../" * 2_000,
    "~nobody-at-all/x",
    "//",
    "/help",
    "/skill:",
    "-1",
    None,
    -1,
    2**80,
    1e308,
    True,
    [],
    {},
    [None],
]
LEFT_OUT = {"bash": {"command"}}
"""A command line is run as it is written."""


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_a_command_is_answered_once_whatever_stands_in_its_fields(cli: Cli, verb: Verb) -> None:
    good: dict[str, Any] = {"message": "hi", "line": "/name", "provider": "scripted", "mode": "all", "enabled": True}
    fields = [f.encode_name for f in msgspec.structs.fields(verb.request)]
    with wired(cli, model=cli.script(*[{"text": "ok"}] * 40)) as wire:
        wire.ask("trimtab.set_dialogs", enabled=False)
        for name in fields or [""]:
            for value in NASTY if name not in LEFT_OUT.get(verb.name, ()) else ["true", "\0", 7]:
                given = {f: good.get(f, "x") for f in fields} | ({name: value} if name else {"more": value})
                wire.read = len(wire.seen)
                identity = wire.send(verb.name, **given)
                answer = wire.response(identity)
                assert answer["command"] == verb.name
                if not answer["success"]:
                    assert answer["error"].strip()
                    assert len(answer["error"]) < 10_000, answer["error"][:200]
        wire.ask("abort")
        assert wire.ask("get_state")["sessionId"]
    answers = [r["id"] for r in wire.seen if r["type"] == "response" and "id" in r]
    assert len(answers) == len(set(answers))
    assert json.dumps(wire.seen)
