"""A small session in each format, as its agent would have written it. All of them tell the same story as far as their format can."""

import gzip
import json
from typing import Any

from trimtab.sessions.recorded import Answered, Came, Compacted, Recording
from trimtab.types.messages import Assistant, ToolResult, User


def lines(*records: Any) -> bytes:
    """JSON lines."""
    return b"".join(json.dumps(record, ensure_ascii=False).encode() + b"\n" for record in records)


def cc(kind: str, uuid: str, parent: str | None, message: Any = None, **more: Any) -> dict[str, Any]:
    """A line of Claude Code."""
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s1", "cwd": "/p", "isSidechain": False}
    return {**base, "timestamp": "2026-04-01T10:00:00.000Z", **({"message": message} if message else {}), **more}


def cc_piece(
    uuid: str, parent: str, message_id: str, block: Any, *, stop: str | None = "tool_use", output: int = 40
) -> Any:
    """One content block of an API message of Claude Code."""
    usage = {
        "input_tokens": 10,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 200,
        "cache_creation": {"ephemeral_1h_input_tokens": 200},
        "output_tokens": output,
    }
    message = {"id": message_id, "role": "assistant", "model": "claude-x", "content": [block], "usage": usage}
    return cc("assistant", uuid, parent, {**message, "stop_reason": stop})


def cc_result(uuid: str, parent: str, call: str, content: Any, **more: Any) -> Any:
    """A result in Claude Code."""
    block = {"type": "tool_result", "tool_use_id": call, "content": content, **more}
    return cc("user", uuid, parent, {"role": "user", "content": [block]}, toolUseResult={"stdout": "x" * 50})


def call(name: str, call_id: str, **arguments: Any) -> dict[str, Any]:
    """A call as an Anthropic block."""
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


CLAUDE_CODE = lines(
    {"type": "summary", "summary": "About greetings", "leafUuid": "u9"},
    cc("user", "u1", None, {"role": "user", "content": "fix greet"}),
    cc_piece("a1", "u1", "m1", {"type": "thinking", "thinking": "", "signature": "sig"}),
    cc_piece("a2", "a1", "m1", call("Read", "t1", file_path="greet.py")),
    cc_result("r1", "a2", "t1", "def greet(): pass"),
    cc_piece("a3", "a2", "m1", call("Grep", "t2", pattern="greet"), output=55),
    cc_result("r2", "a3", "t2", [{"type": "text", "text": "none"}], is_error=True),
    cc("attachment", "x1", "r2", attachment={"type": "edited_text_file", "filename": "greet.py", "snippet": "1 a"}),
    cc_piece("a4", "x1", "m2", {"type": "text", "text": "done"}, stop="end_turn"),
    cc(
        "system",
        "c1",
        None,
        subtype="compact_boundary",
        logicalParentUuid="a4",
        compactMetadata={"trigger": "auto", "preTokens": 170000},
    ),
    cc("user", "c2", "c1", {"role": "user", "content": "We fixed greet."}, isCompactSummary=True),
    cc("user", "u2", "c2", {"role": "user", "content": [{"type": "text", "text": "thanks"}]}),
    cc_piece("a5", "u2", "m3", {"type": "text", "text": "welcome"}, stop=None, output=1),
)


def rollout(kind: str, second: int = 0, **payload: Any) -> dict[str, Any]:
    """A line of a Codex rollout."""
    return {"timestamp": f"2026-04-01T10:00:{second:02d}.000Z", "type": kind, "payload": payload}


def counted(prompt: int, total: int, **more: int) -> dict[str, Any]:
    """What Codex says about usage."""
    last = {"input_tokens": prompt, "cached_input_tokens": 100, "output_tokens": 20, **more}
    info = {"last_token_usage": last, "total_token_usage": {"total_tokens": total}, "model_context_window": 258_400}
    return rollout("event_msg", type="token_count", info=info)


def said(role: str, text: str) -> dict[str, Any]:
    """A message item of Codex."""
    block = {"type": "output_text" if role == "assistant" else "input_text", "text": text}
    return {"type": "message", "role": role, "content": [block]}


CODEX = lines(
    rollout("session_meta", id="c1", cwd="/p", model_provider="openai", base_instructions={"text": "You code."}),
    rollout("response_item", **said("developer", "<permissions instructions> none")),
    rollout("turn_context", model="gpt-x"),
    rollout("response_item", **said("user", "fix greet")),
    rollout("event_msg", type="user_message", message="fix greet"),
    rollout("event_msg", type="token_count", info=None),
    rollout("response_item", 1, type="reasoning", summary=[], content=None, encrypted_content="secret"),
    rollout("response_item", 1, **said("assistant", "looking")),
    rollout("response_item", 1, type="function_call", name="exec_command", arguments='{"cmd":"ls"}', call_id="k1"),
    rollout("response_item", 2, type="function_call_output", call_id="k1", output="greet.py"),
    rollout("response_item", 2, type="custom_tool_call", name="apply_patch", input="*** Begin\n", call_id="k2"),
    counted(900, 920, reasoning_output_tokens=5),
    rollout(
        "response_item", 3, type="custom_tool_call_output", call_id="k2", output=[{"type": "input_text", "text": "ok"}]
    ),
    rollout("response_item", 4, **said("assistant", "done")),
    counted(1000, 1940),
    rollout(
        "compacted", 5, message="", replacement_history=[said("user", "fix greet"), said("assistant", "greet is fixed")]
    ),
    counted(1000, 1940),
    rollout("response_item", 6, **said("user", "thanks")),
    rollout("response_item", 7, **said("assistant", "welcome")),
    counted(300, 2260),
)

GEMINI = json.dumps(
    {
        "sessionId": "g1",
        "projectHash": "00",
        "messages": [
            {"id": "1", "type": "user", "content": "fix greet", "timestamp": "2026-04-01T10:00:00.000Z"},
            {
                "id": "2",
                "type": "gemini",
                "content": "",
                "model": "gemini-x",
                "thoughts": [{"subject": "Look", "description": "first"}],
                "tokens": {"input": 1000, "cached": 600, "output": 10, "thoughts": 7, "tool": 3, "total": 1020},
                "toolCalls": [
                    {
                        "id": "read-1",
                        "name": "read_file",
                        "args": {"path": "greet.py"},
                        "status": "success",
                        "result": [{"functionResponse": {"id": "read-1", "response": {"output": "def greet(): pass"}}}],
                    },
                    {
                        "id": "sh-1",
                        "name": "shell",
                        "args": {"command": "false"},
                        "status": "error",
                        "result": [{"functionResponse": {"id": "sh-1", "response": {"error": "exit 1"}}}],
                    },
                ],
            },
            {"id": "3", "type": "info", "content": "for people"},
            {"id": "4", "type": "gemini", "content": "done", "model": "gemini-x", "tokens": {"input": 5, "output": 1}},
        ],
    },
    indent=2,
).encode()


def _pi_answer(*content: Any, stop: str = "stop", usage: Any = None) -> dict[str, Any]:
    usage = (
        {"input": 5, "output": 2, "cacheRead": 50, "cacheWrite": 9, "cost": {"total": 0}} if usage is None else usage
    )
    return {
        "role": "assistant",
        "content": list(content),
        "provider": "anthropic",
        "model": "claude-x",
        "usage": usage,
        "stopReason": stop,
    }


_NOTHING = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}
_PI_CALL = {"type": "toolCall", "id": "p1", "name": "read", "arguments": {"path": "greet.py"}}
_PI_RESULT = {
    "role": "toolResult",
    "toolCallId": "p1",
    "toolName": "read",
    "content": [{"type": "text", "text": "def greet(): pass"}],
    "isError": False,
}
_PI_STORY: tuple[dict[str, Any], ...] = (
    {"type": "message", "message": {"role": "user", "content": [{"type": "text", "text": "fix greet"}]}},
    {"type": "message", "message": _pi_answer({"type": "thinking", "thinking": "hm"}, _PI_CALL, stop="toolUse")},
    {"type": "message", "message": _PI_RESULT},
    {"type": "message", "message": _pi_answer(stop="aborted", usage=_NOTHING)},
    {
        "type": "message",
        "message": {"role": "bashExecution", "command": "ls", "output": "greet.py\n", "exitCode": 1},
    },
    {"type": "compaction", "summary": "We fixed greet.", "tokensBefore": 175_004},
    {"type": "message", "message": {"role": "user", "content": "thanks"}},
    {"type": "message", "message": _pi_answer({"type": "text", "text": "welcome"})},
)
_PI_TIME = {"timestamp": "2026-04-01T10:00:00.000Z"}

PI = lines(
    {"type": "session", "id": "p", "cwd": "/p", "provider": "anthropic", "modelId": "claude-x", **_PI_TIME},
    *({**entry, **_PI_TIME} for entry in _PI_STORY),
)

PI_TREE = lines(
    {"type": "session", "version": 3, "id": "p", "cwd": "/p", **_PI_TIME},
    *(
        {"id": f"e{n}", "parentId": f"e{n - 1}" if n else None, **entry, **_PI_TIME}
        for n, entry in enumerate(_PI_STORY)
    ),
)

TAU = lines(
    {"type": "session_info", "id": "i", "parent_id": None, "timestamp": 1775037600.0, "cwd": "/p", "title": "t"},
    *(
        {
            "id": f"e{n}",
            "parent_id": f"e{n - 1}" if n else "i",
            "timestamp": 1775037601.5,
            **{("tokens_before" if key == "tokensBefore" else key): value for key, value in entry.items()},
        }
        for n, entry in enumerate(_PI_STORY)
    ),
)

SWE_AGENT = json.dumps(
    {
        "environment": "swe_main",
        "trajectory": [{"action": "ls\n", "observation": "greet.py", "response": "…", "thought": "look"}],
        "history": [
            {"role": "system", "content": "You fix issues.", "agent": "main"},
            {"role": "user", "content": "a demonstration", "is_demo": True, "agent": "main"},
            {"role": "user", "content": "fix greet", "agent": "main"},
            {
                "role": "assistant",
                "content": "look\n```\nls\n```",
                "thought": "look",
                "action": "ls\n",
                "agent": "main",
            },
            {"role": "user", "content": "greet.py", "agent": "main"},
            {"role": "assistant", "content": "done", "thought": "done", "action": "submit", "agent": "main"},
        ],
        "info": {"exit_status": "submitted", "model_stats": {"tokens_sent": 900, "tokens_received": 30}},
    }
).encode()

MINI_SWE_AGENT = json.dumps(
    [
        {"role": "system", "content": "Reply with one block."},
        {"role": "user", "content": "fix greet"},
        {"role": "assistant", "content": "THOUGHT: look\n\n```mswea_bash_command\nls -la\n```"},
        {"role": "user", "content": "<returncode>0</returncode>\n<output>\ngreet.py\n</output>"},
        {"role": "assistant", "content": "I am done."},
    ]
).encode()


def chat_call(call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """A call in a chat message."""
    return {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}


CHAT: list[dict[str, Any]] = [
    {"role": "system", "content": "You help."},
    {"role": "user", "content": "fix greet"},
    {"role": "assistant", "content": None, "tool_calls": [chat_call("o1", "read", '{"path": "greet.py"}')]},
    {"role": "tool", "tool_call_id": "o1", "name": "read", "content": "def greet(): pass"},
    {"role": "assistant", "content": "half", "tool_calls": [chat_call("o1", "read", '{"path": "b.py"}')]},
    {"role": "tool", "tool_call_id": "o1", "name": "read", "content": "b"},
    {"role": "assistant", "content": "done"},
]

OPENAI = json.dumps(CHAT).encode()

ANTHROPIC = json.dumps(
    {
        "model": "claude-x",
        "system": [{"type": "text", "text": "You help."}],
        "messages": [
            {"role": "user", "content": "fix greet"},
            {"role": "assistant", "content": [{"type": "text", "text": "look"}, call("read", "t1", path="greet.py")]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "t1", "content": "def greet(): pass"},
                    {"type": "text", "text": "hurry"},
                ],
            },
            {"role": "assistant", "content": "done"},
        ],
    }
).encode()

TRIMTAB = lines(
    {"type": "session", "format": 1, "id": "t", "cwd": "/p", "created": "2026-04-01T10:00:00.000Z"},
    *(
        {"type": "message", "id": f"m{n}", "parent": f"m{n - 1}" if n else None, "time": "2026-04-01T10:00:01.000Z"}
        | {"message": message}
        for n, message in enumerate(
            (
                {"role": "user", "parts": [{"type": "text", "text": "fix greet"}]},
                {
                    "role": "assistant",
                    "stop_reason": "tool_use",
                    "model": "claude-x",
                    "provider": "anthropic",
                    "usage": {"input": 5, "output": 3},
                    "parts": [
                        {
                            "type": "tool_call",
                            "id": "c1",
                            "name": "read",
                            "arguments": {"path": "a"},
                            "raw": '{"path":"a"}',
                        }
                    ],
                },
                {
                    "role": "tool",
                    "call_id": "c1",
                    "tool_name": "read",
                    "is_error": False,
                    "parts": [{"type": "text", "text": "def greet(): pass"}],
                },
            )
        )
    ),
)

SESSIONS: dict[str, tuple[str, bytes]] = {
    "trimtab": ("trimtab", TRIMTAB),
    "claude-code": ("claude-code", CLAUDE_CODE),
    "codex": ("codex", CODEX),
    "gemini": ("gemini", GEMINI),
    "pi, a list": ("pi", PI),
    "pi, a tree": ("pi", PI_TREE),
    "tau": ("tau", TAU),
    "swe-agent": ("swe-agent", SWE_AGENT),
    "mini-swe-agent": ("mini-swe-agent", MINI_SWE_AGENT),
    "openai": ("openai", OPENAI),
    "openai, lines": ("openai", lines(*CHAT)),
    "anthropic": ("anthropic", ANTHROPIC),
}
"""What it is, to the name of its format and its bytes."""


def packed(data: bytes) -> bytes:
    """The same as gzip, the same on every day."""
    return gzip.compress(data, mtime=0)


def story(recording: Recording) -> list[str]:
    """A recording in words, an event each."""
    return [_told(event) for event in recording.events]


def _told(event: Came | Answered | Compacted) -> str:
    match event:
        case Compacted(summary=summary, replacement=replacement):
            return f"compacted: {summary or replacement}"
        case Came(message=User() as message, injected=injected):
            text = "".join(getattr(part, "text", "[image]") for part in message.parts)
            return f"{'injected' if injected else 'user'}: {text}"
        case Came(message=ToolResult() as message):
            return f"{'error' if message.is_error else 'result'} {message.call_id}: {message.text}"
        case Answered(message=Assistant() as message):
            return f"answer: {message.text}" + "".join(f" {c.name}[{c.id}]({c.raw})" for c in message.tool_calls)
        case _:
            raise AssertionError(event)
