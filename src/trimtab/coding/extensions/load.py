"""From an extension that may run to what it registers.

    Found + judged bytes ──import, in a thread──▶ a module ──API?──▶ extend(Api) ──▶ Loaded
                                            └─ crashes, hangs, another version, a name that is taken ──▶ LeftOut, in words

All or nothing: of one that fails nothing is registered.
"""

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.coding.extensions.api import API_VERSION, Api, Taken
from trimtab.coding.extensions.find import Found, LeftOut
from trimtab.coding.extensions.foreign import HookFailed, call_foreign
from trimtab.coding.extensions.modules import Modules
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_path
from trimtab.providers.open import lent
from trimtab.types.errors import TrimtabError

LIMIT_S = 10.0
"""Seconds that importing an extension, and its `extend`, may take each."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """An extension, and what it registered."""

    found: Found
    api: Api
    modules: Modules | None = None

    @property
    def name(self) -> str:
        """Its name."""
        return self.found.name

    @property
    def registered(self) -> tuple[str, ...]:
        """What it registered, in words."""
        api = self.api
        tools = (tool.spec.name for tool in api.tools)
        hooks: dict[str, int] = {}
        for hook in api.hooks:
            hooks[hook.point] = hooks.get(hook.point, 0) + 1
        return (
            *(f"tool {name}" for name in tools),
            *(f"command /{command.name}" for command in api.commands),
            *(f"policy {name}" for name in api.policies),
            *(f"provider {provider.name}" for provider in api.providers),
            *(f"section {section.name}" for section in api.sections),
            *(f"renderer of {renderer.tool}" for renderer in api.renderers),
            *(f"hook {point}" + (f" ×{count}" if count > 1 else "") for point, count in hooks.items()),
        )


async def load_extension(found: Found, files: Mapping[str, bytes], project: Project, taken: Taken) -> Loaded | LeftOut:
    """Load one; `files` are the bytes that may run. What it registers is added to `taken`. Touches the disk in threads."""
    modules = None if found.entry is not None else Modules(found.name, found.folder, files)
    names = taken.copy()
    settings = project.settings.extensions.settings.get(found.name, {})
    try:
        module: Any = await call_foreign(modules.load if modules else found.entry.load, limit_s=LIMIT_S)  # type: ignore[union-attr]
        _require_version(module)
        folder = found.folder if modules else Path(getattr(module, "__file__", None) or ".").parent
        if not isinstance(settings, dict):
            raise HookFailed(f"extensions.settings.{found.name} is no table")
        api = Api(found.name, folder=folder, cwd=project.cwd, settings=settings, taken=names)
        await call_foreign(module.extend, api, limit_s=LIMIT_S)
        api.close()
    except HookFailed as problem:
        if modules:
            modules.close()
        return LeftOut(
            found.name, found.whose, found.where, _words(problem, found.folder if found.entry is None else None)
        )
    taken.commands, taken.policies, taken.providers = names.commands, names.policies, names.providers
    return Loaded(found, api, modules)


def taken_names(project: Project) -> Taken:
    """The names of ours, and of what the person has declared."""
    from trimtab.coding.commands.registry import COMMANDS  # noqa: PLC0415 - commands know sessions
    from trimtab.context.policies.registry import own_policies  # noqa: PLC0415 - loads all policies
    from trimtab.providers.catalogue import Catalogue  # noqa: PLC0415 - as above

    own = (
        project.settings.providers.keys() - lent()
    )  # what a parent session's extension lends is no name of the person's
    providers = {*own, *(p.name for p in Catalogue.load().providers())}
    return Taken(
        commands=set(COMMANDS),
        policies=set(own_policies()),
        providers={*providers, "scripted", "recorded", "bridge"},
    )


def _require_version(module: Any) -> None:
    version = getattr(module, "API", None)
    if version is None or not callable(getattr(module, "extend", None)):
        missing = "extend(api)" if version is not None else "API"
        raise HookFailed(f"it has no {missing}: an extension has API = {API_VERSION} and def extend(api)")
    if version != API_VERSION or isinstance(version, bool):
        older = isinstance(version, int) and version < API_VERSION
        todo = "look for a newer version of it" if older else "update Trimtab"
        raise HookFailed(f"it was written for API {version!r}, and this Trimtab has {API_VERSION}: {todo}")


def _words(problem: HookFailed, folder: Path | None) -> str:
    """Why, without the kind of an error of ours; an author needs to know what is wrong with a name."""
    cause = problem.__cause__
    if isinstance(cause, TrimtabError):
        return f"{cause.message}. {cause.hint}".strip()
    return f"{problem}{_place(cause, folder)}"


def _place(cause: BaseException | None, folder: Path | None) -> str:
    """Where in the extension's own files it failed; a mistake of syntax says so itself."""
    if cause is None or folder is None or isinstance(cause, SyntaxError):
        return ""
    frames = traceback.extract_tb(cause.__traceback__)
    last = next((one for one in reversed(frames) if Path(one.filename).is_relative_to(folder)), None)
    return f" ({one_path(Path(last.filename).relative_to(folder))}, line {last.lineno})" if last else ""
