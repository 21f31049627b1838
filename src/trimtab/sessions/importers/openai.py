"""OpenAI-shaped messages as JSON, and what wraps them.

    [message, …]                          a conversation, also as JSON lines
    {messages, tools, response?, …}       a request, with the response behind it where there is one (usage is its)
    [{traj: [message, …], …}, …]          runs of a benchmark: a recording each

Several conversations may stand in one file.
"""

from typing import Any

from trimtab.sessions.importers.chat_messages import completion, is_message, split_system, take_message
from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import count_of, is_number, list_of, mapping_of, parts_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Text

NAME = "openai"

_RUN = ("traj", "messages")
_OWN_ROLES = frozenset({"system", "developer", "tool", "function"})


def fits(value: Any) -> bool:
    """Say whether this is a conversation, a message of one, or a list of runs."""
    if isinstance(value, list):
        return bool(value) and all(is_message(item) or _is_run(item) for item in value[:8])
    return is_message(value) or _is_run(value)


def certain(value: Any) -> bool:
    """Say whether a message here has what only this API has: a role of its own, or calls beside the content."""
    data = mapping_of(value)
    messages = (
        value if isinstance(value, list) else list_of(data.get("messages")) or list_of(data.get("traj")) or [data]
    )
    return any(
        text_of(mapping_of(message).get("role")) in _OWN_ROLES or "tool_calls" in mapping_of(message)
        for message in messages
    )


def read(source: Source) -> list[Recording]:
    """Return the conversations in a file."""
    values = source.values()
    items = values[0] if len(values) == 1 and isinstance(values[0], list) else values
    runs = [mapping_of(item) for item in items if _is_run(item)]
    if runs:
        return [_run(source, run, number if len(runs) > 1 else None) for number, run in enumerate(runs)]
    return [_run(source, {"messages": items}, None)]


def _is_run(value: Any) -> bool:
    data = mapping_of(value)
    if "traj" in data or {"task_id", "reward"} <= data.keys():
        return True
    messages = list_of(data.get("messages"))
    return bool(messages) and is_message(messages[0])


def _run(source: Source, run: dict[str, Any], number: int | None) -> Recording:
    gathering = Gathering()
    messages = next((found for key in _RUN if (found := list_of(run.get(key)))), [])
    system, messages = split_system(messages)
    model = text_of(run.get("model"))
    for message in messages:
        take_message(gathering, message, Answer(model=text_of(message.get("model")) or model))
    answer, last = completion(mapping_of(run.get("response")))
    if last:
        take_message(gathering, {**last, "role": "assistant"}, answer)
    top = "\n\n".join(part.text for part in parts_of(run.get("system")) if isinstance(part, Text))
    return gathering.recording(
        source,
        NAME,
        window=count_of(run.get("context_window")) or None,
        system=system or top,
        id=_name(run, number),
        cwd=text_of(run.get("cwd")),
        model=model,
    )


def _name(run: dict[str, Any], number: int | None) -> str:
    """A run's own name, or its place in the file."""
    named = text_of(run.get("session_id")) or text_of(run.get("id"))
    told = [
        f"{key} {run[key]}" for key in ("task_id", "trial") if isinstance(run.get(key), str) or is_number(run.get(key))
    ]
    return named or ", ".join(told) or ("" if number is None else f"run {number}")
