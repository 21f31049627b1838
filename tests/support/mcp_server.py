"""A server of the Model Context Protocol that does as it is told, good or bad: raw JSON-RPC over stdio, started as a program.

    python mcp_server.py MODE [ARGUMENT]

It needs nothing but the standard library, so it starts at once; what it was asked goes to the file in MCP_HEARD, a line each.
"""

import json
import os
import sys
import time
from typing import Any

MODE = sys.argv[1] if len(sys.argv) > 1 else "good"
HEARD = os.environ.get("MCP_HEARD")
OBJECT = {"type": "object", "properties": {}}
ANSI = "\x1b[31mred\x1b]0;title\x07 \u202eback\U000e0041\U000e0042"


def send(message: dict[str, Any]) -> None:
    """Write a message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def tool(name: str, description: str = "a tool", schema: Any = None, **more: Any) -> dict[str, Any]:
    """A tool as it is listed."""
    return {"name": name, "description": description, "inputSchema": OBJECT if schema is None else schema, **more}


ECHO = tool(
    "echo",
    "says it again",
    {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    annotations={"readOnlyHint": True},
)


def tools() -> list[dict[str, Any]]:
    """What is listed in this mode."""
    match MODE:
        case "many":
            return [tool(f"tool_{n}", f"does thing number {n} " + "and more " * 20) for n in range(500)]
        case "tricks":
            bad = {"type": "object", "properties": {"x": {"description": ANSI, "type": "string"}}}
            return [tool("plain", ANSI, bad), tool("with space", ""), tool("with.dot"), tool("with_space")]
        case "schemas":
            deep: dict[str, Any] = {}
            inner = deep
            for _ in range(30):
                inner["properties"] = {"x": {}}
                inner = inner["properties"]["x"]
            return [
                tool("sound"),
                tool("no_object", "", {"type": "string"}),
                tool("bad_type", "", {"type": "object", "properties": {"x": {"type": "elephant"}}}),
                tool("bad_key", "", {"type": "object", "properties": {"a b": {}}}),
                tool("too_deep", "", deep),
                tool("too_large", "", {"type": "object", "properties": {"x": {"description": "y" * 100_000}}}),
                tool("union", "", {"type": "object", "anyOf": [{"required": ["x"]}], "properties": {"x": {}}}),
                tool("sound", "again"),
            ]
        case "invalid":
            return [tool("no_schema", "", "nonsense"), {"description": "nameless"}, ECHO]
        case "collide":
            return [tool("a.b"), tool("a b"), tool("a_b"), tool("x" * 100), tool("x" * 99 + "y")]
        case "changing" | "storm":
            return [ECHO, *[tool(f"new_{n}") for n in range(LISTED[0] - 1)]]
        case "says":
            with open(os.environ["MCP_SAYS"], encoding="utf-8") as file:
                return [tool(**entry) for entry in json.load(file)]
        case "odd":
            return [tool(name) for name in ("echo", *ODD, "parts", "nosy")]
        case "other":
            return [tool("other")]
    more = (
        "die",
        "hang",
        "large",
        "picture",
        "error",
        "structured",
        "progress",
        "ask",
        "link",
        "slow",
        "bytes",
        "roots",
    )
    return [ECHO, *map(tool, more)]


ODD = {
    "half": '"result": {"content": [{"type": "text", "text": "half \\ud83d of it"}]}',
    "number": '"result": 7',
    "nothing": '"result": null',
    "words": '"error": "words"',
    "deep": '"result": {"content": [], "structuredContent": ' + '{"a":' * 20_000 + "1" + "}" * 20_000 + "}",
    "busy": '"error": {"code": -32000, "message": "too busy"}',
}
"""Answers that break a rule of JSON or of the protocol, or look like something else."""
LISTED = [0]
PENDING: dict[str, Any] = {}


def called(request: dict[str, Any]) -> None:
    """Answer a call."""
    ident, name = request["id"], request["params"]["name"]
    arguments = request["params"].get("arguments") or {}
    if name == "die":
        sys.stderr.write("goodbye, cruel world\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang":
        return
    if name in ("ask", "roots"):
        PENDING["call"] = ident
        send({"id": "r1", "method": "roots/list"} if name == "roots" else FORM)
        return
    if name in ODD:
        sys.stdout.write(f'{{"jsonrpc": "2.0", "id": {ident}, {ODD[name]}}}\n')
        sys.stdout.flush()
        return
    if name == "parts":
        send({"id": ident, "result": {"content": [words(str(n)) for n in range(6_000)]}})
        return
    if name == "nosy":
        for n in range(2_000):
            send({"id": f"r{n}", "method": "roots/list"})
    if name == "progress":
        token = request["params"].get("_meta", {}).get("progressToken")
        for n in (1, 2):
            params = {"progressToken": token, "progress": n, "total": 2, "message": f"step {n}\x1b[2J"}
            send({"method": "notifications/progress", "params": params})
    if name == "large":
        send({"id": ident, "result": {"content": [words("0123456789abcdef" * (50_000_000 // 16))]}})
        return
    if name == "echo":
        send({"id": ident, "result": {"content": [words(arguments.get("text", ""))]}})
        return
    text = words(f"{name} {json.dumps(arguments, sort_keys=True)}")
    send({"id": ident, "result": RESULTS.get(name, {"content": [text]})})


def words(text: str) -> dict[str, Any]:
    """A part of a result."""
    return {"type": "text", "text": text}


PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


RESULTS: dict[str, dict[str, Any]] = {
    "picture": {"content": [{"type": "image", "data": PIXEL, "mimeType": "image/png"}]},
    "error": {"content": [words("it can't be done")], "isError": True},
    "structured": {"content": [], "structuredContent": {"answer": 42}},
    "bytes": {"content": [{"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}]},
    "link": {"content": [{"type": "resource", "resource": {"uri": "x://y", "text": "inner"}}]},
}
FORM = {
    "id": "e1",
    "method": "elicitation/create",
    "params": {
        "message": "who?",
        "requestedSchema": {
            "type": "object",
            "properties": {
                "name": {"type": "string", "title": "Your name"},
                "age": {"type": "integer", "minimum": 1},
                "colour": {"type": "string", "enum": ["red", "green"]},
            },
            "required": ["name", "colour"],
        },
    },
}


def begun(request: dict[str, Any]) -> None:
    """Answer the first request."""
    if MODE == "hang-at-start":
        return
    has: dict[str, Any] = {"tools": {"listChanged": True}}
    if MODE in ("good", "prompts", "no-prompts", "odd-prompts", "dies-at-prompts"):
        has |= {"prompts": {}, "resources": {}}
    about = {} if MODE == "no-name" else {"name": "fake", "version": "1"}
    said = "Use echo." + (ANSI if MODE == "tricks" else "")
    result = {"protocolVersion": "2025-06-18", "capabilities": has, "serverInfo": about, "instructions": said}
    send({"id": request["id"], "result": result})


def listed_prompts(request: dict[str, Any]) -> None:
    """Answer what prompts there are."""
    arguments = [{"name": "what", "required": True}, {"name": "how"}]
    match MODE:
        case "no-prompts":
            send({"id": request["id"], "error": {"code": -32601, "message": f"no prompts {ANSI}"}})
        case "odd-prompts":
            send({"id": request["id"], "result": {"prompts": 7}})
        case "dies-at-prompts":
            sys.stderr.write("no such luck\n")
            sys.exit(1)
        case _:
            send({"id": request["id"], "result": {"prompts": [{"name": "plan", "arguments": arguments}]}})


def answered(request: dict[str, Any]) -> None:
    """Answer a request."""
    match request["method"]:
        case "initialize":
            begun(request)
        case "tools/list":
            LISTED[0] += 1
            send({"id": request["id"], "result": {"tools": tools()}})
            if MODE == "deaf":
                time.sleep(3_600)
        case "tools/call":
            called(request)
            if MODE == "nags":
                send(FORM)
            # Only then, so that who waits for the change is there by the time it comes.
            for _ in range({"storm": 5_000, "changing": 1, "says": 1}.get(MODE, 0) if LISTED[0] == 1 else 0):
                send({"method": "notifications/tools/list_changed"})
        case "prompts/list":
            listed_prompts(request)
        case "prompts/get":
            said = f"plan {json.dumps(request['params'].get('arguments'), sort_keys=True)}"
            message = {"role": "user", "content": {"type": "text", "text": said}}
            send({"id": request["id"], "result": {"messages": [message]}})
        case "resources/list":
            send({"id": request["id"], "result": {"resources": [{"uri": "note://1", "name": "a note"}]}})
        case "resources/read":
            send({"id": request["id"], "result": {"contents": [{"uri": "note://1", "text": "the note"}]}})
        case method:
            send({"id": request["id"], "error": {"code": -32601, "message": f"no method {method}"}})


def start() -> None:
    """Print something first, or end."""
    match MODE:
        case "dead-at-start":
            sys.stderr.write("no such luck\n")
            sys.exit(1)
        case "silent":
            sys.exit(7)
        case "wordy":
            sys.stderr.write("Traceback:\n  somewhere\nKeyError: " + "x" * 500 + " is not set\n")
            sys.exit(1)
        case "noise":
            while True:
                sys.stdout.write("this is no protocol\n" * 1_000)
        case "one-line":
            while True:
                sys.stdout.write("x" * 1_000_000)
        case "chatty":
            sys.stdout.write("Welcome to the server!\n\x00\xff\n")
            sys.stderr.write("loading…\n" * 50_000)


def main() -> None:
    """Serve until the input ends."""
    start()
    for line in sys.stdin:
        message = json.loads(line)
        if HEARD:
            with open(HEARD, "a", encoding="utf-8") as file:
                file.write(line)
        if "method" in message and "id" in message:
            answered(message)
        elif "method" not in message and PENDING:
            text = json.dumps(message.get("result", message.get("error")), sort_keys=True)
            send({"id": PENDING.pop("call"), "result": {"content": [{"type": "text", "text": text}]}})
    if MODE == "stays":
        time.sleep(3_600)


if __name__ == "__main__":
    main()
