"""Tools made of functions: what the model is told of them, what they get, what comes back."""

import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
import pytest

from sdk.conftest import Answers
from trimtab.coding import FunctionTool, Session, ToolOutput, ToolRun, UsageError, tool
from trimtab.types.messages import ToolResult

pytestmark = pytest.mark.anyio


@dataclass(slots=True)
class Point:
    """A place."""

    x: int
    y: int = 0


@dataclass
class Node:
    """Holds itself."""

    below: list["Node"] = field(default_factory=list)


@tool(changes=False)
async def near(
    where: Point,
    kind: Literal["shop", "park"],
    names: list[str] = [],  # noqa: B006 - shared by calls of the function, not of the tool
    most: Annotated[int, "how many"] = 3,
) -> dict[str, Any]:
    """Say what is near."""
    names.append("seen")
    return {"where": where, "kind": kind, "names": names, "most": most}


async def called(made: FunctionTool, arguments: dict[str, Any]) -> ToolOutput:
    async def update(_: str) -> None: ...

    return await made.run(arguments, ToolRun("c", update))


def text(output: ToolOutput) -> str:
    return "".join(part.text for part in output.parts if hasattr(part, "text"))


def test_the_model_is_told_the_docstring_and_a_schema_without_references() -> None:
    assert (near.spec.name, near.spec.description) == ("near", "Say what is near.")
    place = {"title": "Point", "description": "A place.", "type": "object", "required": ["x"]}
    place["properties"] = {"x": {"type": "integer"}, "y": {"type": "integer", "default": 0}}
    assert near.spec.parameters == {
        "type": "object",
        "properties": {
            "where": place,
            "kind": {"enum": ["park", "shop"]},
            "names": {"type": "array", "items": {"type": "string"}},
            "most": {"type": "integer", "description": "how many", "default": 3},
        },
        "required": ["where", "kind"],
        "additionalProperties": False,
    }


async def test_arguments_become_values_of_the_hints_and_defaults_are_never_shared() -> None:
    for _ in range(2):
        output = await called(near, {"where": {"x": "1"}, "kind": "shop"})
        assert msgspec.json.decode(text(output)) == {
            "where": {"x": 1, "y": 0},
            "kind": "shop",
            "names": ["seen"],
            "most": 3,
        }


async def test_what_does_not_fit_is_for_the_model_to_read() -> None:
    output = await called(near, {"where": {"x": 1}, "kind": "shop", "most": [1]})
    assert output.is_error
    assert "$.most" in text(output)


@pytest.mark.parametrize(
    ("value", "shown"),
    [("as it is\ud800", "as it is\ufffd"), (None, "done"), (3, "3"), ([Point(1)], '[{"x":1,"y":0}]'), (Path("/x"), '"/x"'), (ToolOutput.text("own", is_error=True), "own")],
)  # fmt: skip
async def test_what_a_function_returns_becomes_text(value: object, shown: str) -> None:
    @tool
    def give() -> object:
        """Give."""
        return value

    assert text(await called(give, {})) == shown


async def test_a_plain_function_runs_in_a_thread_and_an_async_one_does_not() -> None:
    @tool
    def plain() -> bool:
        """Say where it runs."""
        return threading.current_thread() is threading.main_thread()

    @tool
    async def other(run: ToolRun) -> str:
        """Say which call it is."""
        return run.call_id

    assert text(await called(plain, {})) == "false"
    assert text(await called(other, {})) == "c"
    assert other.spec.parameters["properties"] == {}


def no_words(x: int) -> int:
    return x


def no_hint(x) -> int:  # type: ignore[no-untyped-def]
    """Words."""
    return int(x)


def many(*x: int) -> int:
    """Words."""
    return len(x)


def of_no_type(x: "Nowhere") -> int:  # type: ignore[name-defined]  # noqa: F821
    """Words."""
    return 1


def endless(x: Node) -> int:
    """Words."""
    return 1


def odd(x: complex) -> int:
    """Words."""
    return 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_words, "says nothing about itself"),
        (no_hint, "has no hint"),
        (many, "has no hint, or isn't given by name"),
        (of_no_type, "can't be read"),
        (endless, "Node, which holds itself"),
        (odd, "can't be written as a JSON schema"),
        (lambda: 1, "can't be the name of a tool"),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_function_of_which_no_tool_can_be_made_is_refused_at_once(function: Any, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        tool(function)
    assert said in str(refused.value)
    assert refused.value.hint


def test_it_may_be_called_and_described_otherwise_and_is_still_a_function() -> None:
    @tool(name="add-up", description="Adds.")
    def add(a: int, b: int = 1) -> int:
        return a + b

    assert (add.spec.name, add.spec.description, add(1, b=2)) == ("add-up", "Adds.", 3)


@pytest.mark.parametrize(("name", "said"), [("bash", "is one of ours"), ("memo", "is one of ours"), ("mine", "is there twice")])  # fmt: skip
async def test_a_name_that_is_taken_is_refused(folder: Path, answering: Answers, name: str, said: str) -> None:
    made = tool(name=name, description="x")(lambda: 1)
    with pytest.raises(UsageError, match=said):
        async with Session.open(folder, **answering(tools=[made] if name != "mine" else [made, made])):
            pass


async def results(folder: Path, answering: Answers, **options: Any) -> list[str]:
    calls = {"tool_calls": [{"name": "look", "arguments": {}}, {"name": "act", "arguments": {}}]}

    @tool(changes=False)
    def look() -> str:
        """Look."""
        return "looked"

    @tool(ask=bool(options.pop("ask", False)))
    def act() -> str:
        """Act."""
        return "acted"

    async with Session.open(folder, **answering(calls, {"text": "x"}, tools=[look, act], **options)) as session:
        await session.prompt("Go.")
        return [m.text if not m.is_error else "refused" for m in session.messages if isinstance(m, ToolResult)]


@pytest.mark.parametrize(
    ("options", "came"),
    [
        ({}, ["looked", "acted"]),
        ({"mode": "ask"}, ["looked", "acted"]),
        ({"mode": "plan"}, ["looked", "refused"]),
        ({"ask": True}, ["looked", "refused"]),
        ({"ask": True, "allow": ["act"]}, ["looked", "acted"]),
        ({"ask": True, "person": lambda _question: "once"}, ["looked", "acted"]),
        ({"deny": ["act", "look"]}, ["refused", "refused"]),
    ],
    ids=str,
)
async def test_tools_of_a_program_run_unasked_unless_they_or_a_rule_say_otherwise(
    folder: Path, answering: Answers, options: dict[str, Any], came: list[str]
) -> None:
    assert await results(folder, answering, **options) == came
