"""The engine of a session, made from its settings, its log and its model."""

import hashlib
import re
from collections.abc import Callable, Collection
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, assert_never

import msgspec

from trimtab.coding.context.chosen import WayBack, chosen_tools
from trimtab.coding.context.learned import Experience, experience_of
from trimtab.coding.project import Project
from trimtab.config.settings import ContextSettings
from trimtab.context.budget import Thresholds
from trimtab.context.engine import Engine
from trimtab.context.naming import handle_number, name_of
from trimtab.context.settings import EngineSettings, Profile
from trimtab.context.stores.log import SessionLog
from trimtab.context.window.slots import Slot
from trimtab.types.codec import Entry
from trimtab.types.models import ModelInfo

if TYPE_CHECKING:
    from trimtab.context.counting.counter import Counter, Tokenize
    from trimtab.context.editing.compacting import Compactor
    from trimtab.context.policies.base import Policy
    from trimtab.context.summary.cache import SummaryCache
    from trimtab.context.summary.job import Summariser
    from trimtab.context.window.view import View

Reattached: TypeAlias = "Callable[[View, Collection[int]], str]"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST = 80
"""Characters of a name that a file's name shows."""
_DIGEST = 10
"""Hex digits that keep apart the files of names that look alike in a file's name."""


def build_engine(
    project: Project,
    log: SessionLog,
    model: ModelInfo,
    *,
    archive: Path,
    now: Callable[[], float],
    compactor: "Callable[[], Compactor] | None" = None,
    experience: Experience | None = None,
    tokenizers: "Callable[[ModelInfo], Tokenize | None]" = lambda _model: None,
    policy: "Policy | None" = None,
) -> Engine:
    """Return the engine for a session. `policy` decides in place of the one that settings name. `experience` is what earlier ones taught, of this project unless told otherwise; `tokenizers` gives a server's own for a model. `archive` is the folder of hidden bodies for a model without `recall` that can open files.

    Raises `UsageError` for a policy that there is not.
    """
    settings = context_settings(project, model)
    chosen = chosen_tools(settings, project.settings.tools)
    experience = experience or experience_of(project, log)

    def counter(model: ModelInfo) -> "Counter":
        from trimtab.context.counting.counter import Counter  # noqa: PLC0415 - a small first request needs no count

        return Counter(model, tokenize=tokenizers(model), learned=lambda: experience.calibration(model))

    return Engine(
        model,
        session_id=log.header.id,
        policy=policy or checked_policy(settings.policy),
        settings=engine_settings(settings, profile=chosen.profile),
        now=now,
        next_handle=next_handle(log),
        way_back=_way_back(chosen.way_back, archive),
        compactor=compactor or (lambda: make_compactor(model)),
        counter=counter,
        regret=experience.regret,
    )


def context_settings(project: Project, model: ModelInfo) -> ContextSettings:
    """The settings for `model`: its own table over `[context]`, key by key. What was named for this run, as by `--policy`, beats both."""
    override = project.settings.models.get(model.ref)
    own = override.context if override else None
    if own is None:
        return project.settings.context
    named = {
        name: getattr(own, name) for name in ContextSettings.__struct_fields__ if is_for_model(project, model, name)
    }
    return msgspec.structs.replace(project.settings.context, **named)


def is_for_model(project: Project, model: ModelInfo, name: str) -> bool:
    """Whether the setting `name` of the context is the one of the model's own table, be it equal to the default."""
    key = f"models.{model.ref}.context.{name}"
    return key in project.loaded.origins and (project.named_now(key) or not project.named_now(f"context.{name}"))


def engine_settings(settings: ContextSettings, *, profile: Profile) -> EngineSettings:
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
    return EngineSettings(thresholds=thresholds, tools=profile, ahead=settings.prepare_summaries)


def checked_policy(name: str) -> str:
    """Return the name of a policy that there is, with all that it decides by; the default isn't looked up before it is needed. Raises `UsageError`."""
    if name != ContextSettings().policy:
        from trimtab.context.policies.base import require_ready  # noqa: PLC0415 - see above
        from trimtab.context.policies.registry import find_policy  # noqa: PLC0415 - see above

        require_ready(find_policy(name))
    return name


def make_compactor(
    model: ModelInfo,
    *,
    reattached: "Reattached" = lambda _view, _gone: "",
    cache: "SummaryCache | None" = None,
    asks_first: Callable[[], bool] = lambda: False,
) -> "Compactor":
    """What writes summaries for a session. `model` is asked for them; `reattached` gives what is put behind each from state; `asks_first`: whether hooks want to be asked before."""
    from trimtab.context.editing.compacting import Compactor  # noqa: PLC0415 - not needed while there is room

    return Compactor(
        summariser=summariser_of(model), in_place=True, reattached=reattached, cache=cache, asks_first=asks_first
    )


def summariser_of(model: ModelInfo) -> "Summariser":
    """What the engine must know of a model that writes summaries: its own window, limit and prices."""
    from trimtab.context.summary.job import Summariser  # noqa: PLC0415 - as above

    thinks = bool(model.thinking)
    return Summariser(model.ref, model.context_window, model.max_output, thinks=thinks, prices=model.prices)


def next_handle(log: SessionLog) -> int:
    """The first number that no result of the session has, on whatever branch."""
    found = (_handle_in(entry) for entry in log.archive if entry.type == "message" and b'"handle":"r' in entry.raw)
    return 1 + max((handle_number(handle) or 0 for handle in found), default=0)


def file_name(name: str) -> str:
    """A file name for the body of the item that a model knows by `name`; no two names share one."""
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST]
    return f"{_UNSAFE.sub('_', name)[:_LONGEST]}-{digest}.txt"


class _Handled(msgspec.Struct):
    """Of an entry, what numbers are counted by: other fields are not even decoded."""

    message: "_Numbered"


class _Numbered(msgspec.Struct):
    role: str = ""
    handle: str | None = None


def _handle_in(entry: Entry) -> str:
    """The handle of the result in that entry. What a call's arguments or a text say is none."""
    try:
        message = msgspec.json.decode(entry.raw, type=_Handled).message
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        value = entry.value
        message = _Numbered("tool", getattr(getattr(value, "message", None), "handle", None))
    return message.handle or "" if message.role == "tool" else ""


def _way_back(kind: WayBack, archive: Path) -> Callable[[Slot], str] | None:
    match kind:
        case "recall":
            return None
        case "files":
            return lambda slot: str(archive / file_name(name_of(slot)))
        case "none":
            return lambda _slot: ""
        case _:
            assert_never(kind)
