"""The context tools for a program that runs its own model: their definitions in the model's format, and the way to execute a call.

    definitions() ──▶ into the request          the model's call ──▶ call(name, arguments) ──▶ text for its result

Memos and memories stay in this process; `data` and `load` carry them elsewhere. There is no clock here, so they bear no time.
"""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import msgspec

from trimtab.context.engine import Engine
from trimtab.context.settings import Profile
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.memory_log import Memorize, Memory
from trimtab.context.stores.note_files import Memo
from trimtab.context.stores.notes import MemoDict
from trimtab.context.summary.redact import redact
from trimtab.context.tools.engine_host import Drive, EngineHost
from trimtab.context.tools.profiles import context_tools
from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.plain import plain_object
from trimtab.context.window.view import View
from trimtab.types.errors import UsageError
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec

_NO_TIME = datetime(1970, 1, 1, tzinfo=UTC)


class _Notes(msgspec.Struct, frozen=True):
    memos: tuple[Memo, ...]
    memories: tuple[Memory, ...]


class Toolbox:
    """The tools of one conversation."""

    def __init__(
        self, engine: Engine, *, view: Callable[[], View], request: Callable[[], ModelRequest], drive: Drive
    ) -> None:
        self.memos = MemoDict(now=_now)
        self.memories = Memories(None, now=_now, redact=redact)
        page = engine.page_tokens
        self.host = EngineHost(engine, view, request, drive, memos=self.memos, memories=self.memories, page_tokens=page)
        engine.memos = self.memos.infos
        self._tools = {tool.spec.name: tool for tool in context_tools("pilot", self.host, refuse=self.host.refuse)}

    def specs(self, profile: Profile) -> tuple[ToolSpec, ...]:
        """The tools of a profile. Raises `UsageError` when there is no such profile."""
        if profile not in ("off", "archive", "pilot"):
            raise UsageError(f"there is no profile {profile!r}", hint="Use off, archive or pilot.")
        return tuple(tool.spec for tool in context_tools(profile, self.host, refuse=self.host.refuse))

    def call(self, name: str, arguments: object) -> str:
        """Do what a model called and return what it is to read. Never raises for what the model sent."""
        tool = self._tools.get(name) if isinstance(name, str) else None
        if tool is None:
            return f"there is no context tool {name!r}; there are: {', '.join(self._tools)}"
        given = _arguments(arguments)
        if isinstance(given, str):
            return given
        try:
            return tool.handle(given).text
        except RecursionError:
            return "the arguments are nested too deeply; nothing was done: correct the call and repeat it"

    def text(self, handle: str) -> str | None:
        """The recorded text behind a handle, whole."""
        found = self.host.resolve(handle) if isinstance(handle, str) else None
        return None if found is None else self.host.text_of(found)

    def data(self) -> dict[str, Any]:
        """Memos, every version of them, and memories."""
        data: dict[str, Any] = msgspec.to_builtins(_Notes(self.memos.history(), self.memories.all()))
        return data

    def load(self, data: object) -> None:
        """Take over what `data` gave. Raises `msgspec.ValidationError` for anything else."""
        notes = msgspec.convert(data, _Notes)
        for memo in notes.memos:
            if memo.info.deleted:
                self.memos.delete(memo.info.key)
            else:
                self.memos.write(memo.info.key, memo.content, summary=memo.info.summary)
        for memory in notes.memories:
            fields = {name: getattr(memory, name) for name in Memorize.__struct_fields__ if name != "time"}
            self.memories.keep(Memorize(**fields))


def definition(spec: ToolSpec, format_name: str) -> dict[str, Any]:
    """Return a tool as the API of that format takes it."""
    if format_name == "anthropic":
        return {"name": spec.name, "description": spec.description, "input_schema": spec.parameters}
    fields = {"name": spec.name, "description": spec.description, "parameters": spec.parameters}
    return {"type": "function", "function": fields}


def spec_of(given: object, number: int) -> ToolSpec:
    """Return the tool in a definition of either format; one that the API runs itself counts by its fields. Raises `UsageError`."""
    if isinstance(given, ToolSpec):
        return given
    try:
        fields = plain_object(given, number)
    except VendorMessageError as problem:
        raise UsageError(f"tool {number}: {problem.message}", hint="Give the definition as the API takes it.") from None
    inner = fields.get("function")
    told: Mapping[str, Any] = inner if isinstance(inner, dict) else fields
    schema = told.get("parameters", told.get("input_schema"))
    name = told.get("name", told.get("type"))
    return ToolSpec(
        str(name or ""), str(told.get("description") or ""), schema if isinstance(schema, dict) else dict(told)
    )


def _arguments(given: object) -> dict[str, Any] | str:
    if isinstance(given, str):
        try:
            given = json.loads(given or "{}")
        except (ValueError, RecursionError) as problem:
            return f"the arguments are no JSON ({problem}); nothing was done: correct the call and repeat it"
    try:
        return plain_object({} if given is None else given, 0)
    except VendorMessageError as problem:
        return f"the arguments can't be read ({problem.message}); nothing was done: correct the call and repeat it"


def _now() -> datetime:
    return _NO_TIME
