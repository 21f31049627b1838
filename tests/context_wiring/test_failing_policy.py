"""A policy of an installed package that fails: the session goes on with the rules, and a person sees why, now and later."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.small_window import reads, says
from trimtab.context.actions import Action
from trimtab.context.cycle import deciding
from trimtab.context.policies.fallback import Fallback
from trimtab.context.seeing.observation import Observation

LINES = (*(reads(f"{letter}.txt") for letter in "abcdef"), says("done"))


class _Theirs:
    """A policy that isn't ours."""

    name = "theirs"

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.asked = 0

    def decide(self, observation: Observation) -> Sequence[Any]:
        self.asked += 1
        match self.kind:
            case "raises":
                raise ValueError(f"no model file, try {self.asked}")
            case "cant-say-why":
                raise _Mute
            case "babbles":
                raise RuntimeError("x" * 100_000 + "\ud800")
            case "hangs":
                threading.Event().wait(1.0)
        return [Action("elide", ("nothing-of-that-name",))]


@dataclass(slots=True)
class _Impatient(Fallback):
    timeout_s: float = 0.1


class _Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("not even this")


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("raises", "ValueError: no model file, try 1"),
        ("cant-say-why", "_Mute"),
        ("babbles", "RuntimeError: xxx"),
        ("hangs", "no decision within 0.1 s"),
        ("talks-nonsense", "elide names nothing that is there"),
    ],
)
def test_it_is_a_notice_once_and_stands_in_the_log_each_time(
    kind: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = _Theirs(kind)
    point = type("Point", (), {"name": "theirs", "value": "pkg:make", "load": lambda _self: lambda: policy})()
    monkeypatch.setattr(metadata, "entry_points", lambda *, group: [point] if group == "trimtab.policies" else [])
    monkeypatch.setattr(deciding, "Fallback", _Impatient)
    cli = Cli.at(tmp_path)
    for letter in "abcdef":
        cli.file(f"{letter}.txt", "".join(f"{letter} line {n} holds item_{n}\n" for n in range(200)))
    window = ["--set", "providers.scripted.context_window=16000"]
    run = ["--policy", "theirs", "--permission", "full", "--set", "context.soft=0.1", *window]
    outcome = cli.inside("-p", "read them", "--mode", "json", "--model", cli.script(*LINES), *run)
    assert outcome.code == 0, outcome.err
    notices = [event["message"] for event in outcome.of("notice") if "'theirs'" in event["message"]]
    assert 1 <= len(notices) <= 2
    assert why in notices[0]
    assert "the rules decide instead" in notices[0]
    assert all(len(notice) < 500 for notice in notices)
    assert policy.asked <= 3
    log = cli.inside("context", "log", "last", *window)
    assert log.code == 0, log.err
    assert log.out.count("policy_failed") + log.out.count("policy failed") == policy.asked
    assert why[:30] in log.out
