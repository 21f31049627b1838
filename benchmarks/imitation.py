"""Do markers get imitated? Counts what a model writes after conversations in which markers stand for earlier texts, in three wordings.

Run: python -m benchmarks.imitation [--model P/M] … [--seeds 1] [--answers FILE]. Without `--model`, the small real model is served on this machine; with
it, any model that Trimtab can be configured for is asked (keys and addresses as always; 48 requests of about 2,000 tokens a seed).

    talk (wording × hidden × seed) ─▶ each of its requests ─▶ one answer ─▶ `judge` ─▶ a row per wording and number of markers

Requests are sent one after another and no tool runs: what is judged is the first answer. It differs from a session in this: the history is
made up, the tools are three, and one question before shows how recall is used. A model that samples gives another table each time; the
small one is greedy.
"""

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, TextIO

import anyio

from benchmarks.imitation_talks import CASES, Request, Talk, make_talk
from trimtab.agent.ports import Provider
from trimtab.coding.local_model import MODEL, WINDOW, local_model
from trimtab.coding.models import open_model
from trimtab.coding.project import open_project
from trimtab.context.markers import live_markers, refuse_markers
from trimtab.context.tools.recall import recall_spec
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, ToolCall
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler
from trimtab.types.tools import ToolSpec

ANSWER = 96
"""Tokens that an answer may have: room for a call with a marker in it."""
SMALL = f"small/{MODEL}"
LOOK_ALIKE = re.compile(r"\[(?:archived|not the content|folded|[re]\d+(?:#\d+)?~)|to read it: recall|~[a-z2-7]{8}\b")
"""Whatever has the looks of a marker of any of the wordings."""
COLUMNS = ("copied", "look-alike", "as content", "refused", "recalled", "right", "no answer")


def _spec(name: str, about: str, *fields: str) -> ToolSpec:
    properties = {field: {"type": "string"} for field in fields}
    return ToolSpec(name, about, {"type": "object", "properties": properties, "required": list(fields)})


TOOLS = (_spec("read", "Read a file.", "path"), _spec("write", "Write a file.", "path", "content"), recall_spec())


def judge(answer: Assistant, request: Request, known: dict[str, str]) -> Counter[str]:
    """Return which of `COLUMNS` (and `wanted`: recall was called for) hold for an answer, each 0 or 1."""
    if answer.error is not None:
        return Counter({"no answer": 1})
    written = [call for call in answer.tool_calls if call.name != "recall"]
    said = "\n".join((answer.text, *(call.raw for call in written)))
    live = bool(live_markers(said, known.__contains__))
    content = [text for call in written if call.name == "write" and (text := _text(call, "content"))]
    recalled = any(_text(call, "id").strip("[]").partition("~")[0] == request.source for call in answer.tool_calls)
    again = any(call.name == "read" and _text(call, "path") == request.again for call in answer.tool_calls)
    found = {
        "copied": live,
        "look-alike": not live and LOOK_ALIKE.search(said) is not None,
        "as content": any(LOOK_ALIKE.search(text) for text in content),
        "refused": any(refuse_markers(call.arguments or call.raw, known) for call in written if call.name == "write"),
        "wanted": bool(request.source),
        "recalled": bool(request.source) and recalled,
        "right": _is_right(answer, request) or (bool(request.source) and (recalled or again)),
    }
    return Counter({name: 1 for name, holds in found.items() if holds})


def _is_right(answer: Assistant, request: Request) -> bool:
    """Whether the answer does what was asked, with the text itself. What is hidden can be read again first: no part of this."""
    match request.task:
        case "note" | "write" | "copy":
            calls = [call for call in answer.tool_calls if call.name == "write"]
            return any(_text(c, "path") == request.path and request.fact in _text(c, "content") for c in calls)
        case "ask":
            return request.fact in answer.text


def _text(call: ToolCall, field: str) -> str:
    value: Any = (call.arguments or {}).get(field)
    return value if isinstance(value, str) else ""


async def ask(provider: Provider, model: ModelInfo, talk: Talk, request: Request) -> Assistant:
    """Return the first answer to a request at the end of a talk."""
    assembler = Assembler(provider=model.provider, model=model.id)
    sent = ModelRequest(model, (*talk.messages, *request.messages), system=talk.system, tools=TOOLS, max_output=ANSWER)
    async for event in provider.stream(sent):
        assembler.feed(event)
    return assembler.message()


@asynccontextmanager
async def opened(ref: str | None) -> AsyncIterator[tuple[Provider, ModelInfo]]:
    """The model that `ref` names, or the small one. Raises `UsageError`."""
    async with AsyncExitStack() as stack:
        overrides: dict[str, object] = {}
        if ref is None:
            url = await stack.enter_async_context(local_model())
            overrides["providers"] = {"small": {"base_url": url, "context_window": WINDOW, "max_output": ANSWER}}
        found = await open_model(open_project(Path.cwd(), overrides=overrides), ref or SMALL)
        if close := getattr(found.provider, "aclose", None):
            stack.push_async_callback(close)
        yield found.provider, found.info


async def measure(ref: str | None, seeds: int, answers: TextIO | None) -> dict[tuple[str, int], Counter[str]]:
    """Ask one model everything; print a line for each talk to standard error. Raises `UsageError` when it can't be opened."""
    rows: dict[tuple[str, int], Counter[str]] = {}
    async with opened(ref) as (provider, model):
        for seed in range(seeds):
            for wording, hidden in CASES:
                talk = make_talk(wording, hidden, seed)
                row = rows.setdefault((wording.name, hidden), Counter())
                for request in talk.requests:
                    answer = await ask(provider, model, talk, request)
                    verdict = judge(answer, request, talk.known)
                    row.update({**verdict, "asked": 1})
                    if answers is not None:
                        where = {"model": model.ref, "wording": wording.name, "markers": hidden, "seed": seed}
                        print(json.dumps(where | _told(request, answer, verdict)), file=answers, flush=True)
                print(f"  {model.ref} seed {seed} {wording.name} {hidden}: {dict(row)}", file=sys.stderr, flush=True)
    return rows


def _told(request: Request, answer: Assistant, verdict: Counter[str]) -> dict[str, object]:
    calls = [f"{call.name} {call.raw}" for call in answer.tool_calls]
    error = answer.error.message if answer.error else None
    return {"task": request.task, "text": answer.text, "calls": calls, "found": sorted(verdict), "error": error}


def render(rows: dict[tuple[str, int], Counter[str]]) -> Iterator[str]:
    """Yield the lines of a Markdown table: counts of answers."""
    yield f"| wording | markers | answers | {' | '.join(COLUMNS)} |"
    yield "| --- " * (len(COLUMNS) + 3) + "|"
    for (wording, hidden), row in rows.items():
        cells = [f"{row[name]} of {row['wanted']}" if name == "recalled" else str(row[name]) for name in COLUMNS]
        yield f"| {wording} | {hidden} | {row['asked']} | {' | '.join(cells)} |"


def main(argv: list[str] | None = None) -> int:
    """Print a table for each model; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.imitation", description=__doc__)
    parser.add_argument("--model", action="append", metavar="P/M", help="a model to ask; may be given several times")
    parser.add_argument("--seeds", type=int, default=1, help="conversations of each kind")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="append every answer to FILE, as JSON Lines")
    flags = parser.parse_args(argv)
    out = flags.answers.open("a", encoding="utf-8") if flags.answers else None
    try:
        for ref in flags.model or [None]:
            rows = anyio.run(measure, ref, flags.seeds, out)
            print(f"\n{ref or SMALL}, conversations of each kind: {flags.seeds}\n", *render(rows), sep="\n", flush=True)
    except UsageError as problem:
        print(f"NOT MEASURED: {problem.message}\n  {problem.hint}", file=sys.stderr)
        return 1
    finally:
        if out is not None:
            out.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
