"""The conversation: an append-only tree of entries, and the messages that a model sees of it.

What a program that embeds the engine needs is named here and loaded when it is asked for; everything else is imported from its own module.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trimtab.context.embed.manager import ContextManager
    from trimtab.context.embed.plain_context import Context

__all__ = ["Context", "ContextManager"]

_HOMES = {"Context": "trimtab.context.embed.plain_context", "ContextManager": "trimtab.context.embed.manager"}


def __getattr__(name: str) -> object:
    """Load what is named above on first use, so that importing one module of the package loads no other."""
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return what is named above, loaded or not, and the rest."""
    return sorted({*globals(), *__all__})
