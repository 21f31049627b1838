"""Facts about programs: the table `programs.toml`, read once."""

import functools
import tomllib
from importlib import resources

import msgspec


class Carrier(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """How a program that runs another one is called before the other's words begin."""

    values: tuple[str, ...] = ()
    operands: int = 0


class Offer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Which rules are fit to be offered: see the table."""

    alone: frozenset[str]
    modules: frozenset[str]
    never: frozenset[str]
    subcommands: dict[str, frozenset[str]]


class Programs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole table. `values` are options with a value that may stand before a program's subcommand."""

    values: dict[str, tuple[str, ...]]
    carriers: dict[str, Carrier]
    offer: Offer


@functools.cache
def programs() -> Programs:
    """Return the table."""
    text = resources.files(__package__).joinpath("programs.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), Programs)
