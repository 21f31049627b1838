"""Usage that was recorded as running totals: told from usage of each call by what came in between, and made into it."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from support.recordings import answered, call, compacted, long_session, result, said
from support.transcripts import SESSIONS, counted, lines, rollout
from support.transcripts import said as spoken
from trimtab.sessions.detect import read_recording, read_recordings
from trimtab.sessions.importers.running_totals import NOTE, per_call
from trimtab.sessions.recorded import Answered, Event
from trimtab.types.usage import Usage


def usages(events: list[Event]) -> list[Usage | None]:
    return [event.message.usage for event in events if isinstance(event, Answered)]


def with_usages(events: list[Event], numbers: list[Usage | None]) -> list[Event]:
    left = iter(numbers)
    return [
        replace(e, message=structs.replace(e.message, usage=next(left))) if isinstance(e, Answered) else e
        for e in events
    ]


def totals(events: list[Event], *, anew_at: int | None = None) -> list[Event]:
    """The same session, as a client records it that counts on; `anew_at`: it was started again before that call."""
    so_far, made = Usage(), []
    for number, usage in enumerate(usages(events)):
        so_far = Usage() if number == anew_at else so_far
        so_far += usage or Usage()
        made.append(so_far)
    return with_usages(events, made)


@st.composite
def sessions(draw: st.DrawFn) -> list[Event]:
    """A session whose reports are as rough as real ones: a hidden prefix, hidden thoughts, counts that aren't ours, cached or not, shortened on the way."""
    prompt = draw(st.integers(0, 30_000))
    rate = draw(st.floats(0.7, 1.4))
    cached = draw(st.booleans())
    events: list[Event] = [said("look at the project")]
    for number in range(draw(st.integers(6, 15))):
        size = draw(st.integers(200, 8_000))
        output = draw(st.integers(20, 900))
        prompt += int(size * rate) + draw(st.integers(0, 200))
        one = answered(call("Read", f"c{number}", path=f"f{number}"), prompt=prompt, output=output)
        if cached:
            read = max(0, prompt - size)
            usage = Usage(input=3, output=output, cache_read=read, cache_write=prompt - read)
            one = replace(one, message=structs.replace(one.message, usage=usage))
        events += [result("c0", "word" * size), one]
    return events


@given(sessions())
def test_usage_of_each_call_stays_as_it_is(events: list[Event]) -> None:
    assert per_call(events) == events


@given(sessions(), st.data())
def test_running_totals_become_the_usage_of_each_call(events: list[Event], data: st.DataObject) -> None:
    anew_at = data.draw(st.none() | st.integers(4, len(usages(events)) - 1))
    recorded = totals(events, anew_at=anew_at)
    if anew_at is not None:
        before, after = usages(recorded)[anew_at - 1 : anew_at + 1]
        assert before is not None
        assert after is not None
        # One call that took more than all before it looks like a counter that went on: nobody could tell.
        assume(after.prompt < before.prompt)
    assert per_call(recorded) == events


@given(sessions())
def test_what_was_made_right_stays_right(events: list[Event]) -> None:
    made = per_call(totals(events))
    assert per_call(made) == made


def test_a_session_that_was_compacted_is_told_as_well() -> None:
    sizes = [9_000, 11_000, 13_500, 15_000, 4_000, 6_000, 8_500, 9_900]
    events: list[Event] = [said("go")]
    for number, size in enumerate(sizes):
        if number == 4:
            events.append(compacted("what was done"))
        events += [result("c", "word" * 2_000), answered(prompt=size, output=100 + number, text="x")]
    assert per_call(events) == events
    assert per_call(totals(events)) == events


def test_a_call_that_nothing_was_counted_for_has_no_usage() -> None:
    events: list[Event] = [said("go")]
    for number in range(6):
        events += [result("c", "word" * 1_500), answered(prompt=5_000 + 1_600 * number, output=90, text="x")]
    told = usages(totals(events))
    repeated = [*with_usages(events, told), answered(text="again")]
    repeated = with_usages(repeated, [*told, told[-1]])
    assert usages(per_call(repeated)) == [*usages(events), None]


@pytest.mark.parametrize("number", range(4))
def test_few_calls_are_left_alone(number: int) -> None:
    events: list[Event] = [said("go")]
    for n in range(number):
        events += [result("c", "word" * 1_500), answered(prompt=5_000 + 1_600 * n, output=90, text="x")]
    assert per_call(totals(events)) == totals(events)


@pytest.mark.parametrize("kind", SESSIONS)
def test_no_format_of_ours_is_taken_for_totals(kind: str) -> None:
    assert [r.notes for r in read_recordings(SESSIONS[kind][1]) if NOTE in r.notes] == []


def test_a_session_without_usage_is_left_alone() -> None:
    events = list(long_session(8).events)
    assert per_call(events) == events


def pi_lines(prompts: list[int], outputs: list[int]) -> bytes:
    rows: list[dict[str, Any]] = [
        {"type": "session", "id": "s", "timestamp": "2026-04-01T10:00:00.000Z", "cwd": "/p"},
        {"type": "message", "message": {"role": "user", "content": "go"}},
    ]
    for number, (prompt, output) in enumerate(zip(prompts, outputs, strict=True)):
        ask = {"type": "toolCall", "id": f"p{number}", "name": "read", "arguments": {"path": "a"}}
        usage = {"input": prompt, "output": output, "cacheRead": 0, "cacheWrite": 0}
        answer = {"role": "assistant", "content": [ask], "model": "m", "provider": "p", "usage": usage}
        back = {"role": "toolResult", "toolCallId": f"p{number}", "content": [{"type": "text", "text": "word" * 2_000}]}
        rows += [
            {"type": "message", "message": {**answer, "stopReason": "toolUse"}},
            {"type": "message", "message": back},
        ]
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def test_a_file_says_so_in_its_notes() -> None:
    each = [8_000 + 2_050 * n for n in range(6)]
    plain = read_recording(pi_lines(each, [50, 60, 40, 70, 55, 65]))
    summed = read_recording(pi_lines([sum(each[: n + 1]) for n in range(6)], [50, 110, 150, 220, 275, 340]))
    assert (NOTE in plain.notes, NOTE in summed.notes) == (False, True)
    assert usages(list(summed.events)) == usages(list(plain.events))


def test_totals_of_codex_without_the_last_call_are_taken_apart_exactly() -> None:
    rows: list[Any] = [rollout("response_item", **spoken("user", "go"))]
    for total in ((1_000, 10), (2_500, 40), (4_200, 70), (900, 5)):
        info = {"total_token_usage": {"input_tokens": total[0], "output_tokens": total[1], "cached_input_tokens": 100}}
        rows += [
            rollout("response_item", **spoken("assistant", "one")),
            rollout("event_msg", type="token_count", info=info),
        ]
    found = [(u.prompt, u.output) for u in usages(list(read_recording(lines(*rows)).events)) if u]
    assert found == [(1_000, 10), (1_500, 30), (1_700, 30), (900, 5)]
    assert counted(500, 520)["payload"]["info"]["last_token_usage"]
