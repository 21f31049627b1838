"""A policy of your own decides what the model still sees. Run: python examples/own_policy.py [--model PROVIDER/ID]

It is a function of the context as plain data: here only the newest result of `read` stays in view, and older ones are hidden behind a line that says how to get
them back. Nothing is lost: the session has all of it, and the model reads it again with `recall`.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

import anyio

from trimtab.coding import ContextEdited, OpenOptions, ScriptedProvider, Session

SCRIPT: list[dict[str, Any]] = [
    *({"tool_calls": [{"name": "read", "arguments": {"path": f"part{n}.txt"}}]} for n in (1, 2, 3)),
    {"text": "Three parts.", "expect": {"contains": ["text of part3"], "absent": ["text of part1"]}},
]


def newest_only(seen: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the actions that are wanted now: hide all results but the newest."""
    results = [item for item in seen["active_context"] if item["kind"] == "result" and item["state"] == "full"]
    old = [item["id"] for item in results[:-1]]
    return [{"action": "elide", "target": item, "reason": "only the newest part counts"} for item in old]


async def main(model: str | None, folder: Path) -> None:
    """Read three files, one after the other, and say what became of the context."""
    for number in (1, 2, 3):
        (folder / f"part{number}.txt").write_text(f"text of part{number}\n" * 200)
    options: OpenOptions = {"ephemeral": True, "policy": newest_only}
    options |= {"model": model} if model else {"model": "scripted/none", "provider": ScriptedProvider(SCRIPT)}
    async with Session.open(folder, **options) as session:
        events = session.stream("Read part1.txt, part2.txt and part3.txt, one after the other. How many are there?")
        async for event in events:
            if isinstance(event, ContextEdited):
                print(f"{event.kind} by {event.author}: {event.before_tokens:,} -> {event.after_tokens:,} tokens")
    print(events.reply.raise_for_error().text)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model")
    with tempfile.TemporaryDirectory() as made:
        anyio.run(main, arguments.parse_args().model, Path(made))
