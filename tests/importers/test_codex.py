"""Codex: usage that follows its answer, exact replacements, and items of many kinds."""

from support.transcripts import CODEX, counted, lines, rollout, said, story
from trimtab.sessions.detect import read_recording
from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import Assistant, Opaque, Text, Thinking, User, user
from trimtab.types.usage import Usage


def _answers(recording: Recording) -> list[Answered]:
    return [event for event in recording.events if isinstance(event, Answered)]


def _calling(call_id: str) -> dict[str, object]:
    return rollout("response_item", type="function_call", name="exec", arguments="{}", call_id=call_id)


def _output(call_id: str) -> dict[str, object]:
    return rollout("response_item", type="function_call_output", call_id=call_id, output="ok")


def test_usage_belongs_to_the_items_before_it_and_results_wait_for_it() -> None:
    recording = read_recording(CODEX)
    assert story(recording)[:5] == [
        "injected: <permissions instructions> none",
        "user: fix greet",
        'answer: looking exec_command[k1]({"cmd":"ls"}) apply_patch[k2](*** Begin\n)',
        "result k1: greet.py",
        "result k2: ok",
    ]
    assert [answer.message.usage for answer in _answers(recording)] == [
        Usage(input=800, output=20, cache_read=100, reasoning=5),
        Usage(input=900, output=20, cache_read=100),
        Usage(input=200, output=20, cache_read=100),
    ]


def test_facts_come_from_the_header_the_turn_and_the_counts() -> None:
    recording = read_recording(CODEX)
    assert (recording.model, recording.provider, recording.window) == ("gpt-x", "openai", 258_400)
    assert (recording.system, recording.id, recording.cwd) == ("You code.", "c1", "/p")


def test_encrypted_reasoning_is_hidden_thinking() -> None:
    first = _answers(read_recording(CODEX))[0]
    assert first.hidden_thinking
    assert first.message.parts[0] == Thinking("", "secret", redacted=True)


def test_a_compaction_holds_the_exact_replacement_and_brings_no_message_into_the_chain() -> None:
    recording = read_recording(CODEX)
    (mark,) = [event for event in recording.events if isinstance(event, Compacted)]
    assert mark.replacement == (user("fix greet"), Assistant((Text("greet is fixed"),), "stop"))
    assert mark.before_tokens == 1000
    came = [e.message for e in recording.events if isinstance(e, Came) and isinstance(e.message, User)]
    assert came[1:] == [user("fix greet"), user("thanks")]


def test_a_count_that_did_not_move_counts_nothing() -> None:
    data = lines(
        rollout("response_item", **said("user", "go")),
        rollout("response_item", **said("assistant", "one")),
        counted(500, 520),
        rollout("response_item", **said("assistant", "two")),
        counted(500, 520),
        counted(700, 1240),
    )
    prompts = [answer.message.usage.prompt for answer in _answers(read_recording(data)) if answer.message.usage]
    assert prompts == [500, 700]


def test_an_answer_without_a_count_ends_when_the_model_goes_on_after_its_results() -> None:
    data = lines(
        rollout("response_item", **said("user", "go")),
        _calling("a"),
        _output("a"),
        rollout("response_item", **said("assistant", "next")),
        _calling("b"),
        counted(500, 520),
        _output("b"),
    )
    recording = read_recording(data)
    assert story(recording) == [
        "user: go",
        "answer:  exec[a]({})",
        "result a: ok",
        "answer: next exec[b]({})",
        "result b: ok",
    ]
    assert [answer.message.usage is None for answer in _answers(recording)] == [True, False]


def test_an_aborted_turn_cancels_its_answer() -> None:
    data = lines(rollout("response_item", **said("assistant", "I was")), rollout("event_msg", type="turn_aborted"))
    assert _answers(read_recording(data))[0].message.stop_reason == "cancelled"


def test_several_headers_in_one_file_are_one_session_named_by_the_first() -> None:
    data = lines(
        rollout("session_meta", id="child", forked_from_id="parent"),
        rollout("session_meta", id="parent"),
        rollout("response_item", **said("user", "go")),
    )
    recording = read_recording(data)
    assert (recording.id, recording.notes) == ("child", ("2 session headers in one file", "goes on from parent"))


def test_calls_that_the_provider_ran_are_kept_as_its_own() -> None:
    data = lines(rollout("response_item", type="web_search_call", status="completed", action={"query": "x"}))
    (answer,) = _answers(read_recording(data))
    (part,) = answer.message.parts
    assert isinstance(part, Opaque)
    assert part.data["action"] == {"query": "x"}


def test_messages_that_the_client_wrote_are_injected() -> None:
    data = lines(
        rollout("response_item", **said("user", "<environment_context>…")),
        rollout("response_item", **said("user", "# AGENTS.md instructions for /p")),
        rollout("response_item", type="agent_message", content=[{"type": "input_text", "text": "child is done"}]),
        rollout("response_item", **said("user", "go")),
    )
    assert [e.injected for e in read_recording(data).events if isinstance(e, Came)] == [True, True, True, False]


def test_the_oldest_lines_are_items_without_a_payload() -> None:
    data = lines(
        {"created_at": "2025-09-10T12:00:00Z", "role": "user", "message": "Translate hello"},
        {"type": "function_call", "function": {"name": "translate"}, "arguments": {"text": "hello"}},
        {"type": "function_result", "name": "translate", "result": "hola"},
        {"created_at": "2025-09-10T12:00:02Z", "role": "assistant", "content": "hola"},
    )
    recording = read_recording(data)
    assert recording.format == "codex"
    assert story(recording) == [
        "user: Translate hello",
        'answer:  translate[call_1]({"text":"hello"})',
        "result call_1: hola",
        "answer: hola",
    ]
