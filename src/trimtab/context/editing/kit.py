"""What planning works with: how texts are made, what is wanted of which item, and what comes of it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trimtab.context import markers
from trimtab.context.actions import Action
from trimtab.context.shorten.compress import Compressor
from trimtab.context.window.overlays import Address
from trimtab.context.window.slots import Slot
from trimtab.types.edits import Edit

Count: TypeAlias = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class Kit:
    """What texts of edits are made with. `salt` is the session's id; `count` gives tokens; `way_back` names the tool or file that reads a slot.

    `min_arguments`: tokens from which on an argument is worth a pointer. `whole_tokens`: the most that a reload brings back whole. `page_tokens`: a page of
    anything larger, as `recall` counts them.
    """

    salt: str
    count: Count
    way_back: Callable[[Slot], str] = field(default=lambda _slot: markers.RECALL)
    compressor: Compressor | None = None
    min_arguments: int = 200
    whole_tokens: int = 20_000
    page_tokens: int = 4_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits that do what was wanted, and for each target that can't be done a sentence."""

    edits: tuple[Edit, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """One item that an action names, and where it is."""

    name: str
    address: Address
    slot: Slot

    @property
    def id(self) -> str:
        """What an edit calls it."""
        return self.slot.id if self.address.part is None else f"{self.slot.id}#{self.address.part}"


def params_of(action: Action) -> dict[str, Any]:
    """What an edit keeps of what was asked for: all but the texts that it shows itself."""
    return {name: value for name, value in action.params.items() if name not in ("summary", "text")}


def words_in(value: object) -> tuple[str, ...]:
    """The words that a parameter holds: a text, or a list of them."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(word) for word in value) if isinstance(value, list | tuple) else ()


def number_in(params: Mapping[str, Any], name: str, default: int) -> int:
    """A parameter that counts something; `default` where there is none, or none that makes sense."""
    value = params.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
