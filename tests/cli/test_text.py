"""Text mode: the answer on standard output, everything else on standard error, no terminal control."""

import io

from trimtab.agent.events import (
    Error,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Notice,
    Retry,
    ToolEnded,
    TurnEnded,
)
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import Assistant, Text, ToolCall
from trimtab.types.usage import Usage

END = TurnEnded(reason="stop", usage=Usage())


def answer(text: str, *, stop: str = "stop", superseded: bool = False, call: str = "") -> MessageEnded:
    calls = (ToolCall("c1", "bash", {"command": call}, ""),) if call else ()
    message = Assistant((Text(text), *calls), stop, superseded=superseded)  # type: ignore[arg-type]
    return MessageEnded(entry_id="e", message=message, message_id="m")


def shown(*events: Event, live: bool = False, progress: bool = False) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    printer = TextPrinter(out=out, err=err, live=live, progress=progress)
    for event in events:
        printer.show(event)
    return out.getvalue(), err.getvalue()


def test_in_a_pipe_only_the_last_answer_stands_on_standard_output() -> None:
    events = (
        MessageStarted(message_id="m"),
        answer("Looking."),
        MessageStarted(message_id="n"),
        answer("Found it."),
        END,
    )
    assert shown(*events) == ("Found it.\n", "")


def test_on_a_terminal_the_answer_streams_once() -> None:
    deltas = [MessageDelta(message_id="m", part=0, kind="text", text=t) for t in ("Fo", "und")]
    assert shown(MessageStarted(message_id="m"), *deltas, answer("Found"), END, live=True)[0] == "Found\n"


def test_thinking_and_arguments_are_not_the_answer() -> None:
    deltas = [MessageDelta(message_id="m", part=0, kind=k, text="x") for k in ("thinking", "tool_arguments")]  # type: ignore[arg-type]
    assert shown(*deltas, END, live=True) == ("", "")


def test_a_superseded_answer_is_not_the_answer() -> None:
    events = (answer("half", superseded=True), MessageStarted(message_id="n"), answer("whole"), END)
    assert shown(*events)[0] == "whole\n"


def test_notices_retries_and_errors_go_to_standard_error_with_the_next_step() -> None:
    events = (
        Notice(message="careful"),
        Retry(attempt=1, wait_s=2.0, kind="rate_limit", message="too fast"),
        Error(kind="auth", message="no key", hint="set KEY"),
        END,
    )
    assert shown(*events) == (
        "",
        "note: careful\nretrying in 2 s (attempt 1, rate_limit): too fast\nerror: no key\n  set KEY\n",
    )


def test_a_tool_shows_as_one_line_with_its_subject_and_how_it_ended() -> None:
    ended = ToolEnded(entry_id="e", call_id="c1", name="bash", is_error=True, parts=(Text("boom\nmore"),))
    assert shown(answer("", stop="tool_use", call="make  test\n"), ended, progress=True)[1] == (
        "  bash make test  [failed] boom\n"
    )


def test_terminal_control_in_answers_names_and_errors_is_stripped() -> None:
    evil = "a\x1b]52;c;aGk=\x07b\x1b[2Jc\x1b]0;title\x07\r\x07"
    out, err = shown(MessageStarted(message_id="m"), answer(evil), Notice(message=evil), END)
    assert out == "abc\n"
    assert err == "note: abc\n"
