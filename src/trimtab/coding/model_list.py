"""The models that one can choose from, as every frontend lists them: favourites first, with sizes, prices, roles, and whether they can be asked now.

known models, favourites, roles, the model in use ──▶ ModelRow ──▶ /models, completion, pickers, `trimtab models`
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trimtab.coding.models import known_models, resolve_model
from trimtab.coding.project import Project
from trimtab.coding.role_models import find_members
from trimtab.coding.roles import ROLES, Role, members_of
from trimtab.types.errors import UsageError
from trimtab.types.models import ModelInfo

if TYPE_CHECKING:  # it loads the HTTP client
    from trimtab.coding.live_models import Live


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One model. `ref` is how it is chosen, with its level of thinking where a favourite names one; `roles` are those that it has, as the first or as one that stands by; `live`: its server alone lists it."""

    ref: str
    info: ModelInfo
    usable: bool
    here: bool = False
    favourite: bool = False
    roles: tuple[Role, ...] = ()
    live: bool = False

    @property
    def price(self) -> str:
        """USD per million tokens in and out, of the lowest tier; `?` where nobody knows."""
        tier = min(self.info.prices, key=lambda price: price.above, default=None)
        return "?" if tier is None else f"${tier.input:g}/{tier.output:g}"


def model_rows(
    project: Project,
    *,
    favourites: Sequence[str] | None = None,
    here: str | None = None,
    usable: bool = True,
    live: "Live | None" = None,
) -> tuple[ModelRow, ...]:
    """The rows, favourites first and in their order. `favourites`: other ones than the settings say; `here`: the model in use; `usable`: only those that need no more configuration; `live`: what servers said of these."""
    infos = known_models(project, usable=usable) if live is None else live.models
    asked = {info.ref for info in (infos if usable else known_models(project, usable=True))}
    roles: dict[str, list[Role]] = {}
    for role in ROLES:
        for found in find_members(project, members_of(project.settings, role)):
            roles.setdefault(found.info.ref, []).append(role)
    starred = _resolved(project, project.settings.favourites if favourites is None else favourites)
    rows = [
        ModelRow(
            starred.get(info.ref, info.ref),
            info,
            info.ref in asked,
            here=info.ref == here,
            favourite=info.ref in starred,
            roles=tuple(roles.get(info.ref, ())),
            live=live is not None and info.ref in live.found,
        )
        for info in infos
    ]
    order = list(starred)
    return tuple(sorted(rows, key=lambda row: order.index(row.info.ref) if row.favourite else len(order)))


def matching(rows: Sequence[ModelRow], typed: str) -> tuple[ModelRow, ...]:
    """The rows that hold every word of `typed` in their reference or name, whatever its case."""
    words = typed.casefold().split()
    return tuple(row for row in rows if all(word in f"{row.ref} {row.info.name}".casefold() for word in words))


def next_favourite(project: Project, favourites: Sequence[str], here: str, *, step: int = 1) -> str:
    """The favourite after the model `here`, round and round; the first, or with a negative step the last, when that is none. Raises `UsageError` where there are none."""
    starred = _resolved(project, favourites)
    if not starred:
        raise UsageError("there are no favourites", hint="/models star P/M makes one; favourites = […] in config.toml.")
    order = list(starred)
    at = order.index(here) + step if here in starred else (0 if step > 0 else -1)
    return starred[order[at % len(order)]]


def _resolved(project: Project, favourites: Sequence[str]) -> dict[str, str]:
    """From `PROVIDER/ID` to how the favourite is written; what names no model is left out."""
    found: dict[str, str] = {}
    for written in favourites:
        with suppress(UsageError):
            found.setdefault(resolve_model(project, written).model.ref, written)
    return found
