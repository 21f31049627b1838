"""Questions to a person over the wire: what a client is shown, what counts as an answer, and what holds without one."""

from typing import Any

import pytest

from support.cli import Cli, Json
from support.rpc_wire import Wire, kinds, notices, wired

TOUCH: Json = {"tool_calls": [{"id": "t1", "name": "bash", "arguments": {"command": "touch made"}}]}


def dialog(wire: Wire, method: str = "select") -> Json:
    """The next question."""
    return wire.until(lambda r: r["type"] == "extension_ui_request" and r["method"] == method)[-1]


def outcome(wire: Wire) -> tuple[bool, bool]:
    """Whether the call failed, and whether the turn was stopped."""
    records = wire.until(lambda r: r["type"] == "agent_settled")
    (end,) = [r for r in records if r["type"] == "tool_execution_end"]
    return end["isError"], records[-1]["aborted"]


def test_a_permission_is_asked_with_all_that_there_is_to_decide_by(cli: Cli) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "ok"})) as wire:
        wire.ask("prompt", message="go")
        asked = dialog(wire)
        assert asked["title"].splitlines()[0] == asked["question"]["text"]
        assert "touch made" in asked["title"]
        assert asked["question"]["kind"] == "permission"
        assert asked["timeout"] == 300_000
        assert [o["key"] for o in asked["question"]["options"]] == [text.split(":")[0] for text in asked["options"]]
        assert wire.ask("get_state")["isStreaming"] is True
        wire.reply(asked, value=asked["options"][0])
        assert outcome(wire) == (False, False)
        assert (cli.project / "made").exists()


@pytest.mark.parametrize(
    "answer",
    [{"cancelled": True}, {"value": "no: no"}, {"value": "of my own"}, {"value": 7}, {"confirmed": True}, {}],
)
def test_what_was_not_offered_lets_nothing_run(cli: Cli, answer: dict[str, Any]) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "ok"})) as wire:
        wire.ask("prompt", message="go")
        wire.reply(dialog(wire), **answer)
        assert outcome(wire) == (True, False)
        assert not (cli.project / "made").exists()


def test_no_and_why_goes_to_the_model(cli: Cli) -> None:
    model = cli.script(TOUCH, {"text": "ok", "expect": {"contains": ["use the other folder"]}})
    with wired(cli, model=model) as wire:
        wire.ask("prompt", message="go")
        wire.reply(dialog(wire), value="tell")
        words = dialog(wire, "input")
        assert words["question"]["kind"] == "text"
        wire.reply(words, value="use the other folder")
        assert outcome(wire) == (True, False)
        assert wire.ask("get_last_assistant_text") == {"text": "ok"}


def test_an_answer_for_the_session_is_asked_for_once(cli: Cli) -> None:
    model = cli.script(
        TOUCH, {"tool_calls": [{"name": "bash", "arguments": {"command": "touch made"}}]}, {"text": "ok"}
    )
    with wired(cli, model=model) as wire:
        wire.ask("prompt", message="go")
        wire.reply(dialog(wire), value="session")
        records = wire.until(lambda r: r["type"] == "agent_settled")
        assert [r["isError"] for r in records if r["type"] == "tool_execution_end"] == [False, False]
        assert [r for r in records if r.get("method") == "select"] == []
        rules = wire.ask("trimtab.permissions")
        assert (rules["mode"], [r["rule"] for r in rules["allow"]]) == ("auto-edit", ["bash(touch made $)"])


def test_when_time_is_up_nobody_has_answered_and_the_dialog_is_closed(cli: Cli) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "ok"})) as wire:
        assert wire.ask("trimtab.set_dialogs", timeoutMs=100) is None
        wire.ask("prompt", message="go")
        asked = dialog(wire)
        assert asked["timeout"] == 100
        assert wire.event("trimtab.dialog_closed")["id"] == asked["id"]
        wire.reply(asked, value=asked["options"][0])
        assert "time is up" in wire.event("response", command="extension_ui_response")["error"]
        wire.event("agent_settled")
        assert not (cli.project / "made").exists()


def test_a_client_may_say_that_nobody_is_there(cli: Cli) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "ok"})) as wire:
        wire.ask("trimtab.set_dialogs", enabled=False)
        records = wire.prompt("go")
        assert "extension_ui_request" not in [k for k in kinds(records) if k != "extension_ui_request"]
        assert [r for r in records if r.get("method") == "select"] == []
        assert any("1 call" in text or "not allowed" in text or "wasn't" in text for text in notices(records))


def test_an_abort_closes_the_question_and_the_turn(cli: Cli) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "ok"})) as wire:
        wire.ask("prompt", message="go")
        asked = dialog(wire)
        assert wire.ask("abort") is None
        assert wire.event("trimtab.dialog_closed")["id"] == asked["id"]
        assert wire.event("agent_settled")["aborted"] is True


def test_a_client_that_leaves_in_the_middle_of_a_question_lets_nothing_run_and_loses_nothing(cli: Cli) -> None:
    with wired(cli, model=cli.script(TOUCH, {"text": "without it"})) as wire:
        wire.ask("prompt", message="go")
        dialog(wire)
        left = wire.leave()
        assert {"type": "agent_settled", "aborted": False} in left  # the session's name may come behind it
        assert not (cli.project / "made").exists()
    assert b"without it" in cli.sessions[0].read_bytes()


def test_what_a_question_shows_can_not_steer_a_terminal(cli: Cli) -> None:
    call = {"name": "bash", "arguments": {"command": "touch a\x1b[2K\u202eb"}}
    with wired(cli, model=cli.script({"tool_calls": [call]}, {"text": "ok"})) as wire:
        wire.ask("prompt", message="go")
        asked = dialog(wire)
        assert "\x1b" not in asked["title"]
        assert "\u202e" not in asked["title"]
        wire.reply(asked, cancelled=True)
        wire.event("agent_settled")


def test_trust_is_asked_about_once_the_client_has_said_that_somebody_is_there(cli: Cli) -> None:
    cli.file("AGENTS.md", "Say ahoy.")
    model = cli.script({"text": "ok", "expect": {"contains": ["Say ahoy."]}})
    with wired(cli, model=model) as wire:
        wire.ask("get_state")
        assert any("trust" in text for text in notices(wire.seen))
        wire.ask("trimtab.set_dialogs")
        name = wire.send("prompt", message="/reload")
        asked = dialog(wire)
        assert asked["question"]["kind"] == "trust"
        assert wire.send("get_messages")  # waits for the session, and blocks nothing
        wire.reply(asked, value="once")
        assert wire.response(name)["data"] == {"disposition": "handled"}
        wire.prompt("go")
        assert wire.ask("get_last_assistant_text") == {"text": "ok"}
