"""A tool made of a typed function: its name, its docstring and its hints are what the model is told.

    @tool
    async def weather(city: str, days: Annotated[int, "from 1 to 7"] = 1) -> str:
        \"\"\"Say what the weather will be.\"\"\"

    arguments ──the hints──▶ values ──▶ the function (a plain one in a thread) ──▶ text as it is │ anything else as JSON │ a ToolOutput

What doesn't fit the hints, and what the function raises, the model reads.
"""

import copy
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, overload

import anyio
import msgspec

from trimtab.agent.ports import Access, ToolOutput, ToolRun
from trimtab.coding.sdk.schema import schema_of
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

Function = Callable[..., Any]
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_DONE = "done"


@dataclass(frozen=True, slots=True)
class FunctionTool:
    """A function as a tool; `tool` makes one. `asks`: a person, or a rule, has to allow each call. `changes` is False for one that only looks."""

    spec: ToolSpec
    function: Function
    arguments: type[msgspec.Struct]
    run_parameter: str = ""
    """The parameter that gets the `ToolRun`; empty: none does."""
    asks: bool = False
    changes: bool = True
    snippet: str = ""
    guidelines: tuple[str, ...] = ()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function itself, as before it was a tool."""
        return self.function(*args, **kwargs)

    def access(self, arguments: Mapping[str, Any]) -> Access:
        """One that changes things runs by itself; others side by side."""
        return Access(writes="*") if self.changes else Access()

    async def run(self, arguments: Mapping[str, Any], run: ToolRun) -> ToolOutput:
        """Call the function."""
        try:
            values = msgspec.convert(dict(arguments), type=self.arguments, strict=False)
        except msgspec.ValidationError as problem:
            return ToolOutput.text(f"{self.spec.name}: {problem}", is_error=True)
        given = {name: getattr(values, name) for name in values.__struct_fields__}
        if self.run_parameter:
            given[self.run_parameter] = run
        if inspect.iscoroutinefunction(self.function):
            return _output(await self.function(**given))
        made = await anyio.to_thread.run_sync(partial(self.function, **given))
        return _output(await made if inspect.isawaitable(made) else made)


def _output(value: object) -> ToolOutput:
    if isinstance(value, ToolOutput):
        return value
    if value is None:
        return ToolOutput.text(_DONE)
    text = value if isinstance(value, str) else msgspec.json.encode(value, enc_hook=str).decode()
    return ToolOutput.text(scrub(text))


@overload
def tool(function: Function, /) -> FunctionTool:
    """As `@tool`."""


@overload
def tool(
    *, name: str | None = None, description: str | None = None, ask: bool = False, changes: bool = True
) -> Callable[[Function], FunctionTool]:
    """As `@tool(…)`."""


def tool(
    function: Function | None = None,
    /,
    *,
    name: str | None = None,
    description: str | None = None,
    ask: bool = False,
    changes: bool = True,
) -> FunctionTool | Callable[[Function], FunctionTool]:
    """Make a tool of a function, as a decorator. By default it is called as the function is, and described by its docstring.

    A program's own tools run unasked; with `ask`, a person or a rule has to allow each call. `changes=False`: it only looks, so it runs beside others and in mode
    `plan` too. A parameter with a type hint of `ToolRun` gets what a running tool may use. Raises `UsageError` for a function of which no tool can be made.
    """
    if function is None:
        return partial(_made, name=name, description=description, ask=ask, changes=changes)
    return _made(function, name=name, description=description, ask=ask, changes=changes)


def _made(function: Function, *, name: str | None, description: str | None, ask: bool, changes: bool) -> FunctionTool:
    called = name or str(getattr(function, "__name__", ""))
    if not _NAME.fullmatch(called):
        raise UsageError(
            f"{called!r} can't be the name of a tool", hint="Use up to 64 letters, digits, _ and -: tool(name=…)."
        )
    told = (description if description is not None else inspect.getdoc(function)) or ""
    if not told.strip():
        raise UsageError(
            f"the tool {called} says nothing about itself", hint="Give it a docstring: the model reads it."
        )
    arguments, run_parameter = _arguments_of(function, called)
    parameters = schema_of(arguments, what=f"the tool {called}")
    parameters.pop("title", None)
    spec = ToolSpec(called, told.strip(), {"type": "object", "properties": {}, **parameters})
    return FunctionTool(spec, function, arguments, run_parameter, asks=ask, changes=changes)


def _arguments_of(function: Function, called: str) -> tuple[type[msgspec.Struct], str]:
    """A struct with the function's parameters, and the one that gets the `ToolRun`."""
    try:
        hints = typing.get_type_hints(function, include_extras=True)
    except (NameError, TypeError) as problem:
        raise UsageError(
            f"the hints of the tool {called} can't be read: {problem}", hint="Define their types outside of functions."
        ) from None
    members: list[tuple[str, Any] | tuple[str, Any, Any]] = []
    run_parameter = ""
    for parameter in inspect.signature(function).parameters.values():
        hint = hints.get(parameter.name)
        if hint is ToolRun:
            run_parameter = parameter.name
            continue
        if hint is None or parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
            raise UsageError(
                f"the tool {called}: {parameter} has no hint, or isn't given by name", hint="As in city: str."
            )
        members.append(_member(parameter, _described(hint)))
    try:
        return msgspec.defstruct(called.replace("-", "_"), members, kw_only=True, forbid_unknown_fields=True), run_parameter  # fmt: skip
    except (TypeError, ValueError) as problem:
        raise UsageError(f"no tool can be made of {called}: {problem}", hint="Rename that parameter.") from None


def _member(parameter: inspect.Parameter, hint: Any) -> tuple[str, Any] | tuple[str, Any, Any]:
    default = parameter.default
    if default is parameter.empty:
        return (parameter.name, hint)
    if isinstance(default, list | dict | set):
        return (parameter.name, hint, msgspec.field(default_factory=lambda: copy.copy(default)))
    return (parameter.name, hint, default)


def _described(hint: Any) -> Any:
    """`Annotated[int, "words"]` with its words as a description."""
    if typing.get_origin(hint) is not Annotated:
        return hint
    kind, *more = typing.get_args(hint)
    metas = tuple(msgspec.Meta(description=one) if isinstance(one, str) else one for one in more)
    return Annotated[(kind, *metas)]
