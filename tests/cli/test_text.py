"""Text mode: the answer on standard output, everything else on standard error, no terminal control."""

import io

import pytest

from trimtab.agent.events import (
    Error,
    Event,
    MessageDelta,
    MessageEnded,
    MessageStarted,
    Notice,
    Retry,
    SessionOpened,
    ToolEnded,
    ToolParked,
    ToolStarted,
    TurnEnded,
    TurnReason,
    TurnStarted,
)
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import Assistant, Text, ToolCall, User
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


def test_words_that_waited_for_the_end_of_a_turn_are_shown_when_they_are_said() -> None:
    parts = (Text("then \x1b[31mthis\n\n"), Text('<file path="a.txt">\nsecret text\n</file>\n'))
    queued, typed = User(parts, origin="follow_up"), User(parts, origin="prompt")
    events = [MessageEnded(entry_id="e", message=message, message_id="m") for message in (queued, typed)]
    assert shown(*events) == ("", "(now: then this)\n")


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
    ended = ToolEnded(entry_id="e", call_id="c1", name="bash", is_error=False, parts=(Text("boom\nmore"),))
    assert shown(answer("", stop="tool_use", call="make  test\n"), ended, progress=True)[1] == (
        "  bash make test  [ok]\n"
    )


@pytest.mark.parametrize(
    ("result", "lines"),
    [
        ("boom", "boom\n"),
        ("boom\n\nmore", "\n    boom\n    more\n"),
        ("\n".join("abcdefghijkl"), "\n" + "".join(f"    {line}\n" for line in "ab…fghijkl")),
    ],
)
def test_a_failed_call_shows_how_its_result_begins_and_ends(result: str, lines: str) -> None:
    ended = ToolEnded(entry_id="e", call_id="c1", name="bash", is_error=True, parts=(Text(result),))
    assert shown(ended, progress=True)[1] == f"  bash  [failed] {lines}".replace(" \n", "\n")


@pytest.mark.parametrize(
    ("mark", "file", "words"),
    [
        ("", "/s.jsonl", "what was done is kept, and --continue goes on; --max-steps sets how many there are"),
        ("", None, "without --no-session it could go on; --max-steps sets how many there are"),
        ("> ", None, "what was done is kept, and your next words go on; /settings max_steps sets how many there are"),
    ],
)
def test_how_to_go_on_is_what_can_be_done_there(mark: str, file: str | None, words: str) -> None:
    err = io.StringIO()
    printer = TextPrinter(out=io.StringIO(), err=err, live=False, progress=False, mark=mark)
    printer.show(SessionOpened(format=1, id="abc", cwd="/", created="", session_file=file))
    printer.show(TurnEnded(reason="max_steps", usage=Usage()))
    assert " ".join(err.getvalue().split()) == f"the turn used up its steps: {words}"


class Screen(io.StringIO):
    """What a terminal shows, as far as nothing of it is drawn over."""

    def isatty(self) -> bool:
        """It is one."""
        return True


def begun(call_id: str, name: str = "bash") -> ToolStarted:
    return ToolStarted(call_id=call_id, name=name, arguments={})


def done(call_id: str, name: str = "bash", *, error: str = "") -> ToolEnded:
    return ToolEnded(entry_id="e", call_id=call_id, name=name, is_error=bool(error), parts=(Text(error or "fine"),))


@pytest.mark.parametrize(
    ("events", "steps"),
    [
        ([begun("1"), done("1")], ["  bash  ", "  bash  [ok]\n"]),
        ([begun("1"), done("1", error="a\nb")], ["  bash  ", "  bash  [failed]\n    a\n    b\n"]),
        (
            [begun("1"), begun("2", "read"), done("2", "read"), done("1")],
            ["  bash  ", "  bash  \n  read  ", "  bash  \n  read  [ok]\n", "  bash  \n  read  [ok]\n  bash  [ok]\n"],
        ),
        (
            [begun("1"), Notice(message="careful"), done("1")],
            ["  bash  ", "  bash  \nnote: careful\n", "  bash  \nnote: careful\n  bash  [ok]\n"],
        ),
        (
            [begun("1"), MessageDelta(message_id="m", part=0, kind="text", text="so"), done("1")],
            ["  bash  ", "  bash  \nso", "  bash  \nso\n  bash  [ok]\n"],
        ),
    ],
)
def test_on_a_terminal_a_call_stands_there_while_it_runs_and_its_line_ends_with_it(
    events: list[Event], steps: list[str]
) -> None:
    screen = Screen()
    printer = TextPrinter(out=screen, err=screen, live=True, progress=True)
    seen = []
    for event in events:
        printer.show(event)
        seen.append(screen.getvalue())
    assert seen == steps


def test_an_error_that_has_no_room_behind_its_call_breaks_between_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.frontends.cli.text.width_of", lambda stream: 40)
    screen = Screen()
    printer = TextPrinter(out=screen, err=screen, live=True, progress=True)
    printer.show_all([begun("1"), done("1", error="no such file or folder; use ls or find to see what is there")])
    printer.show_all([begun("2"), done("2", error="no such file")])
    assert screen.getvalue().splitlines() == [
        "  bash  [failed]",
        "    no such file or folder; use ls or",
        "      find to see what is there",
        "  bash  [failed] no such file",
    ]


def test_how_a_call_ended_is_never_cut_in_two_by_the_edge_of_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trimtab.frontends.cli.text.width_of", lambda stream: 40)
    screen = Screen()
    printer = TextPrinter(out=screen, err=screen, live=True, progress=True)
    for call_id, size in (("1", 27), ("2", 28)):  # forty columns, and one more
        call = ToolCall(call_id, "bash", {"command": "x" * size}, "{}")
        printer.show(MessageEnded(entry_id="e", message=Assistant((call,), "tool_use")))
        printer.show_all([begun(call_id), done(call_id)])
    assert screen.getvalue().splitlines() == [f"  bash {'x' * 27}  [ok]", f"  bash {'x' * 28}  ", "    [ok]"]


def test_who_types_meanwhile_gets_the_end_of_a_call_on_a_line_of_its_own() -> None:
    screen = Screen()
    printer = TextPrinter(out=screen, err=screen, live=True, progress=True, mark="> ")
    printer.show(begun("1"))
    screen.write("stop\n")  # as the terminal echoes it
    printer.line_taken()
    printer.show(done("1"))
    assert screen.getvalue() == "  bash  stop\n  bash  [ok]\n"


def test_a_refused_call_shows_what_would_allow_it() -> None:
    parts = (Text("Not run: 'x' may change things.\nA person allows it with --permission full."),)
    details = {"permission": "denied"}
    ended = ToolEnded(entry_id="e", call_id="c1", name="bash", is_error=True, parts=parts, details=details)
    assert shown(ended, progress=True)[1] == (
        "  bash  [not allowed] Not run: 'x' may change things.\n    A person allows it with --permission full.\n"
    )


def test_an_error_stands_after_what_the_model_said() -> None:
    both = io.StringIO()
    printer = TextPrinter(out=both, err=both, live=False, progress=False)
    refused = Error(kind="refused", message="refused")
    printer.show_all([answer("I won't.", stop="refused"), refused, TurnEnded(reason="refused", usage=Usage())])
    assert both.getvalue() == "I won't.\nerror: refused\n"


@pytest.mark.parametrize(("wait_s", "when"), [(0.0, "now"), (0.4, "now"), (1.0, "in 1 s"), (30.2, "in 30 s")])
def test_a_retry_says_when(wait_s: float, when: str) -> None:
    retry = Retry(attempt=1, wait_s=wait_s, kind="server", message="busy")
    assert shown(retry)[1] == f"retrying {when} (attempt 1, server): busy\n"


def test_a_parked_call_says_how_to_answer_it() -> None:
    opened = SessionOpened(format=1, id="abc", cwd="/", created="")
    parked = ToolParked(entry_id="e", call_id="c1", name="ask", question="red?")
    end = TurnEnded(reason="parked", usage=Usage())
    assert shown(opened, parked, end)[1] == "c1 waits for your answer: red?\n  trimtab answer abc c1 TEXT\n"


@pytest.mark.parametrize("reason", ["length", "empty", "max_steps", "cancelled"])
def test_an_end_that_the_answer_does_not_explain_is_one_line_with_the_next_step(reason: TurnReason) -> None:
    err = shown(TurnEnded(reason=reason, usage=Usage()))[1]
    assert err.count("\n") == 1
    assert ("ask again" if reason == "empty" else "--continue goes on") in err


def test_the_mark_comes_back_after_what_is_said_while_the_person_could_type() -> None:
    err = io.StringIO()
    printer = TextPrinter(out=io.StringIO(), err=err, live=True, progress=True, mark="> ")
    printer.show_all([END, Notice(message="two calls")])
    printer.show_all([Notice(message="late")])
    assert err.getvalue() == "note: two calls\n> \nnote: late\n> "
    printer.line_taken()
    printer.show_all([Notice(message="before the turn"), TurnStarted()])
    printer.show_all([Notice(message="in the turn")])
    assert err.getvalue().endswith("> note: before the turn\nnote: in the turn\n")
    printer.show_all([END])
    printer.leave()
    assert err.getvalue().endswith("in the turn\n> \n")


def test_terminal_control_in_answers_names_and_errors_is_stripped() -> None:
    evil = "a\x1b]52;c;aGk=\x07b\x1b[2Jc\x1b]0;title\x07\r\x07"
    out, err = shown(MessageStarted(message_id="m"), answer(evil), Notice(message=evil), END)
    assert out == "abc\n"
    assert err == "note: abc\n"
