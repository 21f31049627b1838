"""Opening a session for a program.

cwd, options ──▶ settings, trust ──▶ Project ──open_session──▶ Session ──the block ends──▶ a turn that runs is stopped, all is closed
"""

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import msgspec

from trimtab.agent.ports import Tool
from trimtab.coding.context.chosen import CONTEXT_TOOLS
from trimtab.coding.context.own_policy import require_policy
from trimtab.coding.opening import open_session
from trimtab.coding.output_schema import check_schema
from trimtab.coding.project import open_project
from trimtab.coding.sdk.asking import person_of
from trimtab.coding.sdk.options import OpenOptions, choice_of, overrides_of, require_known
from trimtab.coding.sdk.schema import schema_of
from trimtab.coding.toolset import TOOLS
from trimtab.types.errors import UsageError

if TYPE_CHECKING:
    from trimtab.coding.session import Session


@asynccontextmanager
async def opened(cwd: str | PathLike[str], options: OpenOptions) -> "AsyncIterator[Session]":
    """A session in `cwd`, as `options` say. Raises as `open_session` does, and `UsageError` for options that make no sense."""
    require_known(options)
    tools = _tools_of(options)
    choice, person = choice_of(options), person_of(options.get("person"))
    policy = options.get("policy")
    if policy is not None and not isinstance(policy, str):
        require_policy(policy)
    schema, parse = _output_of(options.get("output"))
    unasked = [tool.spec.name for tool in tools if not getattr(tool, "asks", False)]
    project = await anyio.to_thread.run_sync(
        partial(
            open_project,
            Path(fspath(cwd)),
            overrides=overrides_of(options, unasked=unasked),
            trust=options.get("trust"),
            env=options.get("env"),
            safe=options.get("safe", False),
            cwd_given=fspath(cwd) != ".",
        )
    )
    async with open_session(
        project,
        choice,
        takeover=options.get("takeover", False),
        provider=options.get("provider"),
        extra_tools=tools,
        person=person,
        output_schema=schema,
        parse_output=parse,
        hooks=options.get("hooks"),
        policy=None if isinstance(policy, str) else policy,
    ) as session:
        try:
            yield session
        finally:
            session.cancel()


def _tools_of(options: OpenOptions) -> tuple[Tool, ...]:
    """The program's tools. Raises `UsageError` for what is none, and for a name that is taken."""
    given: Sequence[Any] = options.get("tools", ())
    ours = {*TOOLS, *CONTEXT_TOOLS["pilot"]}
    seen: set[str] = set()
    for one in given:
        name = getattr(getattr(one, "spec", None), "name", None)
        if not isinstance(name, str):
            raise UsageError(f"{one!r} is no tool", hint="Make one of a function with @tool.")
        if name in ours or name in seen:
            why = "is one of ours" if name in ours else "is there twice"
            raise UsageError(f"the tool {name!r} {why}", hint="Give it another name: tool(name=…).")
        seen.add(name)
    return tuple(given)


def _output_of(output: Any) -> tuple[Mapping[str, Any] | None, Callable[[Any], Any] | None]:
    """The schema of the last answer, and what makes a value of it."""
    if output is None:
        return None, None
    if isinstance(output, Mapping):
        return check_schema(dict(output), what="output"), None
    schema = check_schema(schema_of(output, what="output"), what="output")
    return schema, partial(msgspec.convert, type=output)
