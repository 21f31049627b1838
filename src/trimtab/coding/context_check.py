"""Whether the context can be managed as the settings say: what a session refuses at its start, and the doctor lists.

policy, tools, summary model, reserve ──each looked up as a run would──▶ the errors of a run
"""

from collections.abc import Callable, Iterator
from functools import partial

from trimtab.coding.context.advice import adviser_for
from trimtab.coding.context.engine import checked_policy, context_settings, engine_settings
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.coding.role_models import require_members
from trimtab.coding.toolset import require_tools
from trimtab.context.budget import budget_for
from trimtab.types.errors import ConfigError, TrimtabError
from trimtab.types.models import ModelInfo


def refusals(project: Project, model: ModelInfo | None) -> Iterator[tuple[str, TrimtabError]]:
    """Yield what a run with `model` would stop at, with the setting that it is about. None: no model is known, so the common settings are looked at."""
    settings = project.settings.context if model is None else context_settings(project, model)

    def policy() -> None:
        checked_policy(settings.policy)
        adviser_for(project, settings)

    checks: dict[str, Callable[[], object]] = {
        "policy": policy,
        "tools": partial(require_tools, project.settings.tools),
    }
    if settings.summary_model:
        checks["summary model"] = partial(resolve_model, project, settings.summary_model)
    checks["roles"] = partial(require_members, project)
    if model is not None:
        checks["window"] = partial(require_room, project, model)
    for name, check in checks.items():
        try:
            check()
        except TrimtabError as error:
            yield name, error


def require_manageable(project: Project, model: ModelInfo) -> None:
    """Raise the first of the errors that a run with `model` would stop at."""
    for _, error in refusals(project, model):
        raise error


def require_room(project: Project, model: ModelInfo) -> None:
    """Raise `ConfigError` when the reserve that somebody set leaves no request any room."""
    settings = context_settings(project, model)
    room = budget_for(model, engine_settings(settings, profile="off").thresholds).room
    if settings.reserve_tokens is not None and room <= 0:
        raise ConfigError(
            f"context.reserve_tokens ({settings.reserve_tokens:,}) leaves nothing of the window of {model.ref} ({model.context_window:,})",
            hint="Lower it, or leave it out: then the longest answer is kept free, at most a quarter of the window.",
        )
