"""A tool of your own, a person who is asked, and an answer as data. Run: python examples/custom_tool.py [--model PROVIDER/ID]

The tools are plain typed functions. One only looks, so it runs unasked; the other orders things, so each call is asked about.
"""

import argparse
from dataclasses import dataclass
from typing import Annotated

import anyio

from trimtab.coding import OpenOptions, Question, ScriptedProvider, Session, tool

STOCK = {"lamp": 3, "chair": 40}
ORDERED: dict[str, int] = {}


@tool(changes=False)
def stock(product: Annotated[str, "its name, as in the catalogue"]) -> str:
    """Say how many of a product are left."""
    return f"{STOCK[product]} left"  # what a tool raises, a KeyError here, the model reads


@tool(ask=True)
async def order(product: str, number: Annotated[int, "how many"] = 10) -> str:
    """Order more of a product."""
    ORDERED[product] = ORDERED.get(product, 0) + number
    return f"ordered {number}"


@dataclass
class Answer:
    """What the model has to answer."""

    product: str
    ordered: int


async def person(question: Question) -> str:
    """Stands for you: sees what is asked, and says yes this time. `no` would be one, `tell` a no with a reason."""
    print("asked:", question.text, *question.details, sep="\n  ")
    return "once"


SCRIPT = [
    {"tool_calls": [{"name": "stock", "arguments": {"product": "lamp"}}]},
    {"tool_calls": [{"name": "order", "arguments": {"product": "lamp", "number": 20}}], "expect": {"contains": ["3 left"]}},
    {"text": '{"product": "lamp", "ordered": 20}', "expect": {"contains": ["ordered 20"]}},
]  # fmt: skip


async def main(model: str | None) -> None:
    """Let the model look, order and answer."""
    options: OpenOptions = {
        "ephemeral": True,
        "tools": [stock, order],
        "builtin_tools": (),
        "person": person,
        "output": Answer,
    }
    options |= {"model": model} if model else {"model": "scripted/none", "provider": ScriptedProvider(SCRIPT)}
    async with Session.open(".", **options) as session:
        reply = (await session.prompt("Order lamps if fewer than 10 are left.")).raise_for_error()
    print(reply.output, ORDERED)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--model")
    anyio.run(main, arguments.parse_args().model)
