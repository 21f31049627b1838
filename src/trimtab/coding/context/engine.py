"""The engine of a session, made from its settings, its log and its model."""

import re
from collections.abc import Callable
from pathlib import Path

from trimtab.coding.project import Project
from trimtab.config.settings import ContextSettings
from trimtab.context.budget import Thresholds
from trimtab.context.compacting import Compactor
from trimtab.context.engine import Engine
from trimtab.context.planning import name_of
from trimtab.context.policies.registry import find_policy
from trimtab.context.settings import EngineSettings
from trimtab.context.stores.log import SessionLog
from trimtab.context.summary.summarise import Summariser
from trimtab.types.models import ModelInfo

_HANDLE = re.compile(rb'"handle":"r(\d{1,9})"')
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")


def build_engine(
    project: Project, log: SessionLog, model: ModelInfo, *, archive: Path, now: Callable[[], float]
) -> Engine:
    """Return the engine for a session. `archive` is the folder of hidden bodies for a model without `recall`.

    Raises `UsageError` for a policy that there is not.
    """
    settings = context_settings(project, model)
    return Engine(
        model,
        session_id=log.header.id,
        policy=find_policy(settings.policy),
        settings=engine_settings(settings),
        now=now,
        next_handle=next_handle(log),
        way_back=(lambda slot: str(archive / file_name(name_of(slot)))) if settings.tools == "off" else None,
        compactor=Compactor(summariser=summariser_of(model)),
    )


def context_settings(project: Project, model: ModelInfo) -> ContextSettings:
    """The settings for `model`: its own table over `[context]`, key by key."""
    override = project.settings.models.get(model.ref)
    own = override.context if override else None
    if own is None:
        return project.settings.context
    default = ContextSettings()
    merged = {
        name: getattr(own, name)
        if getattr(own, name) != getattr(default, name)
        else getattr(project.settings.context, name)
        for name in ContextSettings.__struct_fields__
    }
    return ContextSettings(**merged)


def engine_settings(settings: ContextSettings) -> EngineSettings:
    """The same in the engine's terms."""
    thresholds = Thresholds(
        soft=settings.soft,
        target=settings.target,
        hard=settings.hard,
        soft_tokens=settings.soft_tokens,
        target_tokens=settings.target_tokens,
        hard_tokens=settings.hard_tokens,
        reserve_tokens=settings.reserve_tokens,
    )
    return EngineSettings(thresholds=thresholds, tools=settings.tools)


def summariser_of(model: ModelInfo) -> Summariser:
    """The model that writes summaries, with its own window and limit."""
    return Summariser(model.ref, model.context_window, model.max_output, thinks=bool(model.thinking))


def next_handle(log: SessionLog) -> int:
    """The first number that no result of the session has, on whatever branch."""
    return 1 + max((int(n) for entry in log.archive for n in _HANDLE.findall(entry.raw)), default=0)


def file_name(name: str) -> str:
    """A file name for the body of the item that a model knows by `name`."""
    return f"{_UNSAFE.sub('_', name)[:80]}.txt"
