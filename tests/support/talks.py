"""A conversation of an agent that reads files, in the two shapes that programs keep."""

import json
from typing import Any

Dict = dict[str, Any]


def opening(text: str = "Find out why the build fails.") -> Dict:
    """What the user says first; the same in both formats."""
    return {"role": "user", "content": text}


def reading(name: str, number: int, lines: int = 100) -> list[Dict]:
    """A call and its result, of about 14 tokens a line."""
    call_id, path = f"call_{number}", f"src/file_{number}.py"
    body = "\n".join(f"line {n} of file {number}: value = {number * 1000 + n}" for n in range(lines))
    if name == "anthropic":
        call = {"type": "tool_use", "id": call_id, "name": "read", "input": {"path": path}}
        result = {"type": "tool_result", "tool_use_id": call_id, "content": body}
        return [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    call = {"id": call_id, "type": "function", "function": {"name": "read", "arguments": json.dumps({"path": path})}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": call_id, "content": body},
    ]


def answer(name: str, text: str = "The header is missing.") -> Dict:
    """What the model says in the end."""
    return {"role": "assistant", "content": text if name == "openai" else [{"type": "text", "text": text}]}


def talk(name: str, readings: int, lines: int = 100) -> list[Dict]:
    """A task and so many files."""
    return [opening(), *(message for number in range(readings) for message in reading(name, number, lines))]


def said(messages: list[Dict]) -> str:
    """All that stands in messages, as one text."""
    return json.dumps(messages, ensure_ascii=False)
