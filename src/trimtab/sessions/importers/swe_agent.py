"""SWE-agent trajectories: one JSON document `{environment, trajectory, history, info}`.

    history      messages as the model saw them; an assistant's `action` is a call, what follows is its result
    trajectory   steps of thought, action and observation: read where there is no history

Calls of the older files have no ids and no names: each action is a call of `bash`, and the next message is its result. Demonstrations are
injected. Token counts are known for the whole run only, so they are a note.
"""

from typing import Any

from trimtab.sessions.importers.chat_messages import fill, split_system, take_message
from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import count_of, list_of, mapping_of, parts_of, text_of
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source

NAME = "swe-agent"

_TOOL = "bash"


def fits(value: Any) -> bool:
    """Say whether a document is one of these."""
    data = mapping_of(value)
    history = [mapping_of(message) for message in list_of(data.get("history"))]
    steps = list_of(data.get("trajectory"))
    if any(mapping_of(step).keys() & {"observation", "action"} for step in steps):
        return True
    return any("role" in m and m.keys() & {"agent", "message_type", "action"} for m in history)


def read(source: Source) -> list[Recording]:
    """Return the run in a file."""
    run = mapping_of(next(iter(source.values()), None))
    gathering = Gathering()
    system, messages = split_system(list_of(run.get("history")))
    for message in messages or _steps(run):
        _take(gathering, message)
    info = mapping_of(run.get("info"))
    stats = mapping_of(info.get("model_stats"))
    sent, received = count_of(stats.get("tokens_sent")), count_of(stats.get("tokens_received"))
    notes = [f"the run sent {sent} tokens and received {received}"] if sent or received else []
    if status := text_of(info.get("exit_status")):
        notes.append(f"the run ended: {status}")
    return [gathering.recording(source, NAME, system=system, notes=notes)]


def _steps(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The steps of a run as the messages that they were."""
    messages: list[dict[str, Any]] = []
    for step in map(mapping_of, list_of(run.get("trajectory"))):
        messages.append({**step, "role": "assistant", "content": step.get("response")})
        messages.append({"role": "user", "content": step.get("observation")})
    return messages


def _take(gathering: Gathering, message: dict[str, Any]) -> None:
    role = message.get("role")
    if role == "assistant" and not message.get("tool_calls"):
        _act(gathering, message)
    elif role == "assistant":
        answer = Answer()
        fill(answer, message, gathering)
        gathering.answered(answer)
    elif role == "tool":
        named = [text_of(call) for call in list_of(message.get("tool_call_ids"))]
        recorded = text_of(message.get("tool_call_id")) or next(iter(named), "")
        gathering.result(recorded, parts_of(message.get("content")))
    elif role == "user" and message.get("is_demo") is True:
        gathering.came(parts_of(message.get("content")), injected=True)
    elif role == "user" and gathering.open_calls:
        gathering.result("", parts_of(message.get("content")))
    else:
        take_message(gathering, message, Answer())


def _act(gathering: Gathering, message: dict[str, Any]) -> None:
    action = text_of(message.get("action")).strip("\n")
    said = text_of(message.get("thought")) if action else ""
    answer = Answer(parts_of(said or ("" if action else message.get("content"))))
    if action:
        answer.parts.append(gathering.call("", _TOOL, {"command": action}))
    gathering.answered(answer)
