"""Gemini CLI sessions: one JSON document, later JSON lines with the same messages.

    {sessionId, messages: [{type: user | gemini, …}]}      results stand inside the calls
    {sessionId, …} \n {id, type, …} \n {"$set": …}          a message that comes again under its id replaces the earlier one
    {history: [{role, parts}]}                             contents as the API has them

`tokens.input` includes what was cached; thoughts are counted beside the output. What is shown of the thoughts is a summary of them.
"""

from typing import Any

from trimtab.sessions.importers.gathering import Answer, Gathering, opaque
from trimtab.sessions.importers.values import (
    count_of,
    list_of,
    mapping_of,
    moment_of,
    parts_of,
    text_of,
    usage_of,
)
from trimtab.sessions.lenient import json_text
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Part, Text, Thinking
from trimtab.types.usage import Usage

NAME = "gemini"

_MODEL = frozenset({"gemini", "model"})


def fits(record: Any) -> bool:
    """Say whether a document, or a line, is one of these."""
    record = mapping_of(record)
    if "sessionId" in record and ("projectHash" in record or _all_typed(record.get("messages"))):
        return True
    history = list_of(record.get("history"))
    return bool(history) and all("parts" in mapping_of(message) for message in history)


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    head: dict[str, Any] = {}
    messages: list[dict[str, Any]] = []
    places: dict[str, int] = {}
    for value in map(mapping_of, source.values()):
        inside = list_of(value.get("messages")) or list_of(value.get("history"))
        if "type" not in value and "role" not in value:
            head = {**value, **head}
            _rewind(value, messages, places)
            inside = inside or list_of(mapping_of(value.get("$set")).get("messages"))
        for message in map(mapping_of, inside or [value]):
            _place(message, messages, places)
    gathering = Gathering()
    for message in messages:
        _take(gathering, message)
    model = text_of(mapping_of(head.get("meta")).get("model"))
    return [gathering.recording(source, NAME, id=text_of(head.get("sessionId")), model=model)]


def _all_typed(messages: Any) -> bool:
    found = list_of(messages)
    return bool(found) and all(mapping_of(m).get("type") in ("user", "gemini", "info", "error") for m in found)


def _rewind(value: dict[str, Any], messages: list[dict[str, Any]], places: dict[str, int]) -> None:
    """A person went back to before a message: it and what follows never happened."""
    place = places.get(text_of(value.get("$rewindTo")))
    if place is not None:
        del messages[place:]
        for key in [key for key, at in places.items() if at >= place]:
            del places[key]


def _place(message: dict[str, Any], messages: list[dict[str, Any]], places: dict[str, int]) -> None:
    if "type" not in message and "role" not in message:
        return
    key = text_of(message.get("id"))
    if key and key in places:
        messages[places[key]] = message
        return
    if key:
        places[key] = len(messages)
    messages.append(message)


def _take(gathering: Gathering, message: dict[str, Any]) -> None:
    kind = text_of(message.get("type")) or text_of(message.get("role"))
    time = moment_of(message.get("timestamp")) or moment_of(message.get("ts"))
    content = message.get("content") if "content" in message else message.get("parts")
    if kind in _MODEL:
        _answer(gathering, message, content, time)
    elif kind == "user":
        _user(gathering, content, time)
    else:
        gathering.leave_out(f"{kind} messages" if kind else "messages without a type")


def _user(gathering: Gathering, content: Any, time: float | None) -> None:
    said: list[Part] = []
    for part in [content] if isinstance(content, str) else list_of(content):
        reply = mapping_of(mapping_of(part).get("functionResponse"))
        if reply:
            _respond(gathering, reply, time, failed=False)
        else:
            said.extend(parts_of([part]))
    gathering.came(said, time=time)


def _answer(gathering: Gathering, message: dict[str, Any], content: Any, time: float | None) -> None:
    tokens = mapping_of(message.get("tokens"))
    answer = Answer(model=text_of(message.get("model")), provider="google", time=time, id=text_of(message.get("id")))
    answer.usage = _usage(tokens)
    answer.hidden = count_of(tokens.get("thoughts")) > 0
    for thought in map(mapping_of, list_of(message.get("thoughts"))):
        if text := "\n".join(t for k in ("subject", "description") if (t := text_of(thought.get(k)))):
            answer.parts.append(Thinking(text))
    for part in [content] if isinstance(content, str) else list_of(content):
        _add(gathering, answer, part)
    calls = [mapping_of(call) for call in list_of(message.get("toolCalls"))]
    for call in calls:
        answer.parts.append(gathering.call(text_of(call.get("id")), text_of(call.get("name")), call.get("args")))
    gathering.answered(answer)
    for call in calls:
        _results(gathering, call, time)


def _add(gathering: Gathering, answer: Answer, part: Any) -> None:
    data = mapping_of(part)
    call = mapping_of(data.get("functionCall"))
    if call:
        answer.parts.append(gathering.call(text_of(call.get("id")), text_of(call.get("name")), call.get("args")))
    elif data.get("thought") is True:
        answer.parts.append(Thinking(text_of(data.get("text")), text_of(data.get("thoughtSignature")) or None))
    elif data.keys() & {"executableCode", "codeExecutionResult"}:
        answer.parts.append(opaque("google", data))
    else:
        answer.parts.extend(parts_of([part]))


def _results(gathering: Gathering, call: dict[str, Any], time: float | None) -> None:
    """Hand on the result of a call; one that was never finished has none."""
    failed = call.get("status") in ("error", "cancelled")
    result = call.get("result")
    time = moment_of(call.get("timestamp")) or time
    replies = [mapping_of(mapping_of(part).get("functionResponse")) for part in list_of(result)]
    reply = next((reply for reply in replies if reply), None)
    recorded, name = text_of(call.get("id")), text_of(call.get("name"))
    if reply is not None:
        _respond(gathering, {**reply, "id": recorded, "name": name}, time, failed=failed)
    elif result is not None:
        gathering.result(recorded, parts_of(result), name=name, is_error=failed, time=time)
    elif shown := text_of(call.get("resultDisplay")):
        gathering.result(recorded, [Text(shown)], name=name, is_error=failed, time=time)


def _respond(gathering: Gathering, reply: dict[str, Any], time: float | None, *, failed: bool) -> None:
    response = mapping_of(reply.get("response"))
    words = response.get("output", response.get("error", response))
    parts = parts_of(words) if isinstance(words, str) else parts_of(json_text(words))
    failed = failed or ("error" in response and "output" not in response)
    gathering.result(text_of(reply.get("id")), parts, name=text_of(reply.get("name")), is_error=failed, time=time)


def _usage(tokens: dict[str, Any]) -> Usage | None:
    prompt, cached = count_of(tokens.get("input")) + count_of(tokens.get("tool")), count_of(tokens.get("cached"))
    thoughts = count_of(tokens.get("thoughts"))
    return usage_of(
        max(0, prompt - cached),
        count_of(tokens.get("output")) + thoughts,
        cache_read=min(prompt, cached),
        reasoning=thoughts,
    )
