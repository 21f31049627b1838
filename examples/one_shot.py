"""One prompt, its events, its reply: what a script does with Trimtab. Run: python examples/one_shot.py "List the files." [--model PROVIDER/ID]

Without a model a script of two answers plays it, so that the example needs no key. Nothing is kept, and nothing is changed without a rule that allows it.
"""

import argparse
import sys

import anyio

from trimtab.coding import MessageDelta, OpenOptions, ScriptedProvider, Session, ToolStarted, TrimtabError

SCRIPT = [{"tool_calls": [{"name": "ls", "arguments": {"path": "."}}]}, {"text": "These are the files."}]


async def ask(prompt: str, model: str | None) -> int:
    """Ask once; print what happens as it happens, and what it came to at the end."""
    options: OpenOptions = {"ephemeral": True, "max_steps": 20}
    if model:
        options["model"] = model
    else:
        options |= {"model": "scripted/none", "provider": ScriptedProvider(SCRIPT)}
    async with Session.open(".", **options) as session:
        events = session.stream(prompt)
        async for event in events:
            match event:
                case MessageDelta(kind="text"):
                    print(event.text, end="", flush=True)
                case ToolStarted():
                    print(f"[{event.name} {event.arguments}]")
                case _:
                    pass
    reply = events.reply
    cost = "unknown" if reply.cost_usd is None else f"${reply.cost_usd:.4f}"
    print(f"\n{reply.reason} after {reply.steps} steps, {reply.usage.total} tokens, cost {cost}")
    return 0 if reply.ok else 1


def main() -> int:
    """Read the arguments; an error of Trimtab says what to do next."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("prompt", nargs="?", default="Which files are here?")
    options.add_argument("--model")
    chosen = options.parse_args()
    try:
        return anyio.run(ask, chosen.prompt, chosen.model)
    except TrimtabError as error:
        print(error, file=sys.stderr)
        return error.exit_code


if __name__ == "__main__":
    raise SystemExit(main())
