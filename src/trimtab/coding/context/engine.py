"""The engine of a session, made from its settings, its log and its model."""

import re
from collections.abc import Callable, Iterator, Sequence
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
from trimtab.context.view import View
from trimtab.types.codec import Entry
from trimtab.types.edits import Restore
from trimtab.types.entries import EditEntry, MessageEntry, RevertEntry
from trimtab.types.messages import Assistant
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


def recently_restored(view: View, path: Sequence[Entry], steps: int) -> dict[str, int]:
    """Items that somebody brought back within the last `steps` answers of a path, with the step at which: a policy leaves them alone for a while.

    The log knows it, so that what a person brings back between two runs is as safe as what is brought back in one.
    """
    found: dict[str, int] = {}
    step = view.step
    for entry in reversed(path):
        if step <= view.step - steps:
            break
        value = entry.value if entry.type in ("message", "edit", "revert") else None
        match value:
            case MessageEntry(message=Assistant(superseded=False)):
                step -= 1
            case EditEntry(edit=Restore(targets=targets)) if entry.id not in view.reverted:
                found.update({slot_id: step for slot_id in _ids(view, targets) if slot_id not in found})
            case RevertEntry() if entry.id not in view.reverted:
                applied = view.edit(view.edit_behind(entry.id))
                places = applied.slots if applied is not None and applied.id in view.reverted else ()
                found.update({view.slots[i].id: step for i in places if view.slots[i].id not in found})
            case _:
                pass
    return found


def _ids(view: View, targets: Sequence[str]) -> Iterator[str]:
    addresses = (view.find(target) for target in targets)
    return (view.slots[address.index].id for address in addresses if address is not None)


def file_name(name: str) -> str:
    """A file name for the body of the item that a model knows by `name`."""
    return f"{_UNSAFE.sub('_', name)[:80]}.txt"
