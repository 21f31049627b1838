"""mini-swe-agent runs: a bare list of `{role, content}`, later `{info, messages, trajectory_format}`.

A command stands in the text as a fenced block; the next message is its result. Here the block becomes a call of `bash`, and the text
around it stays text. Later runs keep the whole response in `extra`, with usage, and may use real calls.
"""

import re
from typing import Any

from trimtab.sessions.importers.chat_messages import completion, fill, is_message, split_system, take_message
from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import list_of, mapping_of, moment_of, parts_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Text

NAME = "mini-swe-agent"

_TOOL = "bash"
_ACTION = re.compile(r"```(?:mswea_bash_command|bash)\s*\n(.*?)\n```", re.S)
_RESULT = ("<returncode>", "Observation:")


def fits(value: Any) -> bool:
    """Say whether a document is one of these."""
    data = mapping_of(value)
    if text_of(data.get("trajectory_format")).startswith("mini-swe"):
        return True
    messages = value if isinstance(value, list) else list_of(data.get("messages"))
    if len(messages) < 2 or not all(is_message(m) and isinstance(m["content"], str) for m in messages if _has_text(m)):
        return False
    return any(
        "```mswea_bash_command" in m["content"] or m["content"].startswith(_RESULT) for m in messages if _has_text(m)
    )


def read(source: Source) -> list[Recording]:
    """Return the run in a file."""
    value = next(iter(source.values()), None)
    run = mapping_of(value)
    system, messages = split_system(value if isinstance(value, list) else list_of(run.get("messages")))
    config = mapping_of(mapping_of(mapping_of(run.get("info")).get("config")).get("model"))
    model = text_of(config.get("model_name"))
    gathering = Gathering()
    for message in messages:
        _take(gathering, message, model)
    return [gathering.recording(source, NAME, system=system, model=model)]


def _has_text(message: Any) -> bool:
    return isinstance(mapping_of(message).get("content"), str)


def _take(gathering: Gathering, message: dict[str, Any], model: str) -> None:
    extra = mapping_of(message.get("extra"))
    time = moment_of(extra.get("timestamp"))
    if message.get("role") == "assistant":
        answer, _ = completion(mapping_of(extra.get("response")))
        answer.time, answer.model = answer.time or time, answer.model or model
        if message.get("tool_calls"):
            fill(answer, message, gathering)
        else:
            _act(answer, message, gathering)
        gathering.answered(answer)
    elif message.get("role") == "user" and gathering.open_calls:
        gathering.result("", parts_of(message.get("content")), time=time)
    else:
        take_message(gathering, message, Answer(time=time))


def _act(answer: Answer, message: dict[str, Any], gathering: Gathering) -> None:
    content = text_of(message.get("content"))
    action = _ACTION.search(content)
    if action is None:
        answer.parts.extend(parts_of(message.get("content")))
        return
    answer.parts.extend(Text(text) for text in (content[: action.start()].rstrip(),) if text)
    answer.parts.append(gathering.call("", _TOOL, {"command": action[1]}))
    answer.parts.extend(Text(text) for text in (content[action.end() :].strip(),) if text)
