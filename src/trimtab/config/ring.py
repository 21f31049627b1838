"""The system's keyring, asked with patience: it is another program, which may be locked, ask the person for a password, die, or never answer.

    ask(call) ──in a thread of its own──▶ the library `keyring`, an extra ──▶ its answer
                                          raises ─▶ ConfigError that names the kind, never the words, which may hold a secret
                                          nothing in PATIENCE_S ─▶ ConfigError, and nobody waits for it a second time

Foreign code runs here, so this is a door (docs/adr/0006): backends raise what they like. The one rule: a keyring that hangs holds nobody up for good.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from threading import Thread
from types import ModuleType
from typing import Any, Generic, TypeVar

from trimtab.types.errors import ConfigError
from trimtab.types.extras import install_hint

T = TypeVar("T")
PATIENCE_S = 60.0
"""Seconds: a person may be typing the password that unlocks it."""
_LEAST = 1
"""The library's priority from which on it recommends a backend; one below keeps secrets in plain text, or nothing."""
_FILE = "keep keys in the file: trimtab config set auth.store file."


@dataclass(slots=True)
class _Asked(Generic[T]):
    """One call, its thread, and what came of it."""

    call: Callable[[ModuleType], T]
    ring: ModuleType
    answers: list[T] = field(default_factory=list)
    failure: str = ""
    thread: Thread | None = None

    def run(self) -> None:
        """Ask."""
        try:
            self.answers.append(self.call(self.ring))
        except Exception as error:  # noqa: BLE001 - foreign code: whatever a backend raises is told by its kind
            self.failure = type(error).__name__


_hanging: list[_Asked[Any]] = []
"""Calls that never came back."""


def ask(call: Callable[[ModuleType], T]) -> T:
    """What `call` gets from the library. Raises `ConfigError`."""
    ring = library()
    if any(asked.thread is not None and asked.thread.is_alive() for asked in _hanging):
        raise _refused("it doesn't answer")
    asked = _Asked(call, ring)
    asked.thread = Thread(target=asked.run, name="keyring", daemon=True)
    asked.thread.start()
    asked.thread.join(PATIENCE_S)
    if asked.thread.is_alive():
        _hanging[:] = [asked]
        raise _refused(f"no answer within {PATIENCE_S:g} seconds")
    if not asked.answers:
        raise _refused(asked.failure)
    return asked.answers[0]


def require_keyring() -> str:
    """Return the name of the system's keyring. Raises `ConfigError` when there is none that is safe."""
    backend = ask(lambda ring: ring.get_keyring())
    name = str(getattr(backend, "name", type(backend).__name__))
    priority = getattr(backend, "priority", _LEAST)
    if priority < _LEAST:
        what = f"the only one is {name}, which keeps keys no safer than a file" if priority > 0 else "there is none"
        raise ConfigError(
            f"this system has no keyring that can be used: {what}", hint=f"{_FILE[:1].upper()}{_FILE[1:]}"
        )
    return name


def library() -> ModuleType:
    """The library. Raises `ConfigError` where the extra is missing."""
    try:
        return import_module("keyring")  # an extra, and slow to load
    except ImportError:
        raise ConfigError(
            "the system's keyring needs the package `keyring`, which isn't installed",
            hint=f"{install_hint('keyring')} Or {_FILE}",
        ) from None


def _refused(why: str) -> ConfigError:
    return ConfigError(f"the system's keyring can't be used: {why}", hint=f"Unlock or restart it, or {_FILE}")
