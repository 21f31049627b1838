"""Answers of the Responses API as lists of events, for several tests."""

from typing import Any

Events = list[dict[str, Any]]


def added(index: int, item: dict[str, Any]) -> dict[str, Any]:
    """An item begins."""
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(index: int, item: dict[str, Any]) -> dict[str, Any]:
    """An item is complete."""
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def delta(kind: str, index: int, item_id: str, text: Any, **fields: Any) -> dict[str, Any]:
    """A piece of an item."""
    return {"type": f"response.{kind}.delta", "output_index": index, "item_id": item_id, "delta": text, **fields}


def completed(*output: dict[str, Any], usage: dict[str, Any] | None = None) -> dict[str, Any]:
    """The answer is over."""
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": list(output), "usage": usage}
    return {"type": "response.completed", "response": response}


def message(text: str, **fields: Any) -> dict[str, Any]:
    """A message item with one text."""
    content = [{"type": "output_text", "text": text, "annotations": []}]
    return {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content, **fields}


def call(item_id: str, call_id: str, arguments: str, *, name: str = "read") -> dict[str, Any]:
    """A function call item."""
    return {"type": "function_call", "id": item_id, "call_id": call_id, "name": name, "arguments": arguments}


USAGE = {
    "input_tokens": 100,
    "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 10},
    "output_tokens": 20,
    "output_tokens_details": {"reasoning_tokens": 5},
    "total_tokens": 120,
}
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "First"}, {"type": "summary_text", "text": "Second"}],
    "encrypted_content": "gAAA",
}
FULL: Events = [
    {"type": "response.created", "response": {"id": "resp_1", "status": "in_progress"}},
    {"type": "response.in_progress", "response": {"id": "resp_1", "status": "in_progress"}},
    added(0, {"type": "reasoning", "id": "rs_1", "summary": []}),
    delta("reasoning_summary_text", 0, "rs_1", "Fir", summary_index=0),
    delta("reasoning_summary_text", 0, "rs_1", "st", summary_index=0),
    delta("reasoning_summary_text", 0, "rs_1", "Second", summary_index=1),
    done(0, REASONING),
    added(1, {"type": "message", "id": "msg_1", "role": "assistant", "content": [], "status": "in_progress"}),
    {"type": "response.content_part.added", "output_index": 1, "item_id": "msg_1", "content_index": 0, "part": {}},
    delta("output_text", 1, "msg_1", "I lo", content_index=0),
    delta("output_text", 1, "msg_1", "ok é", content_index=0),
    done(1, message("I look é", phase="commentary")),
    added(2, call("fc_1", "call_1", "")),
    delta("function_call_arguments", 2, "fc_1", '{"path"'),
    delta("function_call_arguments", 2, "fc_1", ':"a"}'),
    {
        "type": "response.function_call_arguments.done",
        "output_index": 2,
        "item_id": "fc_1",
        "arguments": '{"path":"a"}',
    },
    done(2, call("fc_1", "call_1", '{"path":"a"}')),
    completed(REASONING, message("I look é", phase="commentary"), call("fc_1", "call_1", '{"path":"a"}'), usage=USAGE),
]
