"""Formats that are one JSON document or a plain list: Gemini, SWE-agent, mini-swe-agent, OpenAI and Anthropic messages."""

import json
from typing import Any

from support.transcripts import ANTHROPIC, CHAT, GEMINI, MINI_SWE_AGENT, OPENAI, SWE_AGENT, chat_call, lines, story
from trimtab.sessions.detect import read_recording, read_recordings
from trimtab.sessions.recorded import Answered, Recording
from trimtab.types.messages import Image, Thinking
from trimtab.types.usage import Usage


def _answers(recording: Recording) -> list[Answered]:
    return [event for event in recording.events if isinstance(event, Answered)]


def test_results_inside_the_calls_of_gemini_follow_their_answer() -> None:
    assert story(read_recording(GEMINI)) == [
        "user: fix greet",
        'answer:  read_file[read-1]({"path":"greet.py"}) shell[sh-1]({"command":"false"})',
        "result read-1: def greet(): pass",
        "error sh-1: exit 1",
        "answer: done",
    ]


def test_gemini_counts_cached_tokens_inside_its_input_and_thoughts_beside_its_output() -> None:
    first = _answers(read_recording(GEMINI))[0]
    assert first.message.usage == Usage(input=403, output=17, cache_read=600, reasoning=7)
    assert first.message.parts[0] == Thinking("Look\nfirst")
    assert first.hidden_thinking


def test_a_message_of_gemini_that_comes_again_replaces_the_earlier_one_and_a_rewind_takes_messages_back() -> None:
    data = lines(
        {"sessionId": "g", "projectHash": "0", "kind": "main"},
        {"id": "1", "type": "user", "content": [{"text": "go"}]},
        {"id": "2", "type": "gemini", "content": "draft"},
        {"id": "2", "type": "gemini", "content": "final"},
        {"$set": {"lastUpdated": "2026-04-01T10:00:00.000Z"}},
        {"id": "3", "type": "user", "content": "wrong"},
        {"$rewindTo": "3"},
        {"id": "4", "type": "user", "content": "right"},
    )
    assert story(read_recording(data)) == ["user: go", "answer: final", "user: right"]


def test_contents_as_the_api_of_gemini_has_them_are_read() -> None:
    parts: list[Any] = [{"text": "look"}, {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}]
    data = {"history": [{"role": "user", "parts": parts}, {"role": "gemini", "parts": [{"text": "I see"}]}]}
    recording = read_recording(json.dumps(data).encode())
    assert story(recording) == ["user: look[image]", "answer: I see"]
    assert isinstance(recording.events[0].message.parts[1], Image)  # type: ignore[union-attr]


def test_each_action_of_swe_agent_is_a_call_and_what_follows_its_result() -> None:
    recording = read_recording(SWE_AGENT)
    assert story(recording) == [
        "injected: a demonstration",
        "user: fix greet",
        'answer: look bash[call_1]({"command":"ls"})',
        "result call_1: greet.py",
        'answer: done bash[call_2]({"command":"submit"})',
    ]
    assert recording.system == "You fix issues."
    assert recording.notes == ("the run sent 900 tokens and received 30", "the run ended: submitted")


def test_a_trajectory_without_a_history_is_read_from_its_steps() -> None:
    run = {"trajectory": [{"action": "ls", "observation": "greet.py", "response": "…", "thought": "look"}]}
    assert story(read_recording(json.dumps(run).encode())) == [
        'answer: look bash[call_1]({"command":"ls"})',
        "result call_1: greet.py",
    ]


def test_real_calls_of_swe_agent_keep_their_ids() -> None:
    history = [
        {"role": "user", "content": "go", "agent": "main"},
        {"role": "assistant", "content": "look", "action": "ls", "tool_calls": [chat_call("c9", "bash", "{}")]},
        {"role": "tool", "content": "greet.py", "tool_call_ids": ["c9"]},
    ]
    recording = read_recording(json.dumps({"history": history}).encode())
    assert story(recording)[1:] == ["answer: look bash[c9]({})", "result c9: greet.py"]


def test_the_block_of_mini_swe_agent_becomes_a_call() -> None:
    assert story(read_recording(MINI_SWE_AGENT)) == [
        "user: fix greet",
        'answer: THOUGHT: look bash[call_1]({"command":"ls -la"})',
        "result call_1: <returncode>0</returncode>\n<output>\ngreet.py\n</output>",
        "answer: I am done.",
    ]


def test_later_runs_of_mini_swe_agent_keep_the_response_and_its_usage() -> None:
    response = {
        "model": "m-1",
        "choices": [{"finish_reason": "stop", "message": {"content": "…"}}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 5, "prompt_tokens_details": {"cached_tokens": 60}},
    }
    run = {
        "trajectory_format": "mini-swe-agent-1.1",
        "info": {"config": {"model": {"model_name": "m-0"}}},
        "messages": [
            {"role": "user", "content": "go"},
            {
                "role": "assistant",
                "content": "```bash\nls\n```\nthen wait",
                "extra": {"response": response, "timestamp": 5.0},
            },
            {"role": "user", "content": "greet.py"},
        ],
    }
    recording = read_recording(json.dumps(run).encode())
    (answer,) = _answers(recording)
    assert answer.message.usage == Usage(input=40, output=5, cache_read=60)
    assert (recording.model, answer.time, answer.message.text) == ("m-1", 5.0, "then wait")


def test_ids_that_repeat_in_a_chat_are_told_apart_on_both_sides() -> None:
    assert story(read_recording(OPENAI)) == [
        "user: fix greet",
        'answer:  read[o1]({"path": "greet.py"})',
        "result o1: def greet(): pass",
        'answer: half read[o1_2]({"path": "b.py"})',
        "result o1_2: b",
        "answer: done",
    ]


def test_a_chat_as_lines_is_the_same_chat() -> None:
    assert read_recording(lines(*CHAT)) == read_recording(OPENAI)


def test_calls_and_results_without_ids_find_each_other() -> None:
    messages = [
        {"role": "assistant", "content": "", "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ]
    assert story(read_recording(json.dumps(messages).encode())) == ["answer:  f[call_1]({})", "result call_1: 1"]


def test_arguments_that_are_no_object_stay_as_they_streamed() -> None:
    messages = [{"role": "assistant", "content": None, "tool_calls": [chat_call("a", "f", '{"x": ')]}]
    (answer,) = _answers(read_recording(json.dumps(messages).encode()))
    assert [(c.arguments, c.raw) for c in answer.message.tool_calls] == [(None, '{"x": ')]


def test_a_request_with_its_response_ends_in_the_answer_and_its_usage() -> None:
    usage = {"prompt_tokens": 4812, "completion_tokens": 9, "cache_creation_input_tokens": 4000}
    message = {"role": "assistant", "content": "hello"}
    response = {"model": "m-1", "id": "r1", "choices": [{"finish_reason": "stop", "message": message}], "usage": usage}
    request = {"messages": CHAT[:2], "context_window": 200_000, "tools": [], "response": response}
    recording = read_recording(json.dumps(request).encode())
    assert story(recording) == ["user: fix greet", "answer: hello"]
    assert (recording.window, recording.model, recording.system) == (200_000, "m-1", "You help.")
    assert _answers(recording)[0].message.usage == Usage(input=812, output=9, cache_write=4000)


def test_runs_of_a_benchmark_are_a_recording_each() -> None:
    runs = [{"task_id": 3, "trial": n, "reward": 1.0, "info": {}, "traj": CHAT} for n in range(2)]
    recordings = read_recordings(json.dumps(runs).encode())
    assert [recording.id for recording in recordings] == ["task_id 3, trial 0", "task_id 3, trial 1"]
    assert recordings[0].events == recordings[1].events == read_recording(OPENAI).events


def test_anthropic_messages_split_results_from_what_is_said_beside_them() -> None:
    recording = read_recording(ANTHROPIC)
    assert story(recording) == [
        "user: fix greet",
        'answer: look read[t1]({"path":"greet.py"})',
        "result t1: def greet(): pass",
        "user: hurry",
        "answer: done",
    ]
    assert (recording.format, recording.system, recording.model) == ("anthropic", "You help.", "claude-x")
