"""The folder one works in, and everything that is decided about it before a session opens: settings, trust, notices.

Frozen once built. Nothing of the project's own is read before its folder is trusted.
"""

import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TypeVar

from trimtab.coding.settings.layers import PROJECT_FILE, read_layers, settle
from trimtab.coding.trust import ANSWERS, TrustAnswer, TrustDecision, decide, own_path, project_root, stored_answer
from trimtab.coding.trust.place import place_of
from trimtab.config.home import Home, environment, find_home
from trimtab.config.load import Loaded
from trimtab.config.reach import Withheld
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError, UsageError

T = TypeVar("T")
_THIS_RUN = ("a flag", "--set", "environment")
"""Names of the layers whose word is for this run."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What the person asked for by flags; kept so that another folder can be opened the same way."""

    overrides: Mapping[str, object] = field(default_factory=dict)
    sets: tuple[str, ...] = ()
    trust: TrustAnswer | None = None
    cwd_given: bool = False
    safe: bool = False


@dataclass(frozen=True, slots=True)
class Project:
    """Where one works and by which rules. `cwd` is a real path; `env` is the whole environment, keys included.

    `trust.root` is the project that was decided about: the repository of `cwd`, or `cwd` itself.
    """

    cwd: Path
    home: Home
    loaded: Loaded
    env: Mapping[str, str] = field(repr=False)
    trusted: bool = False
    notices: tuple[str, ...] = ()
    asked: Asked = Asked()
    withheld: tuple[Withheld, ...] = ()
    """What the project's own settings say in vain."""
    trust: TrustDecision = field(default_factory=lambda: TrustDecision(trusted=False))
    code_once: frozenset[tuple[str, str]] = frozenset()
    """Name and hash of the code of the project's that a person let run for this run alone."""

    @property
    def platform(self) -> str:
        """Operating system and machine, in words for the model."""
        return f"{platform.system()} {platform.release()} {platform.machine()}"

    def moved_to(self, cwd: Path) -> "Project":
        """The same wishes in another folder, with that folder's own settings and trust. Raises as `open_project` does.

        An answer for one run was about the folder in which it was given: what a session file names isn't trusted by it. It holds in that very folder until one is stored.
        """
        asked, home, cwd = self.asked, self.env.get("HOME"), _folder(cwd)
        here = self.trust.place == place_of(project_root(cwd, home=home))
        once = asked.trust == "once" and here and stored_answer(cwd, self.home.trust_file, home=home) is None
        moved = open_project(
            cwd,
            overrides=asked.overrides,
            sets=asked.sets,
            trust="once" if once else None,
            env=self.env,
            safe=asked.safe or (asked.trust == "never" and not here),
        )
        return replace(moved, code_once=self.code_once) if moved.trust.root == self.trust.root else moved

    def named_now(self, key: str) -> bool:
        """Whether the person named the setting `key` (`a.b`) for this run: by a flag, --set or a variable, and not in a file."""
        return self.loaded.origins.get(key, "").startswith(_THIS_RUN)

    @property
    def settings(self) -> Settings:
        """The merged settings."""
        return self.loaded.settings


def open_project(
    cwd: Path,
    *,
    overrides: Mapping[str, object] | None = None,
    sets: Sequence[str] = (),
    trust: TrustAnswer | None = None,
    env: Mapping[str, str] | None = None,
    cwd_given: bool = False,
    safe: bool = False,
) -> Project:
    """Read what is configured for `cwd`. `overrides` are flags as a tree of settings; `sets` are `a.b=VALUE` texts;
    `cwd_given` says that the person named the folder; `safe`: nothing of the folder's own acts, whatever was trusted before.

    Raises `UsageError` when `cwd` is no folder one can enter, `ConfigError` for a bad setting.
    """
    project, mistakes = open_anyway(
        cwd, overrides=overrides, sets=sets, trust=trust, env=env, cwd_given=cwd_given, safe=safe
    )
    if mistakes:
        raise mistakes[0]
    return project


def open_anyway(
    cwd: Path,
    *,
    overrides: Mapping[str, object] | None = None,
    sets: Sequence[str] = (),
    trust: TrustAnswer | None = None,
    env: Mapping[str, str] | None = None,
    cwd_given: bool = False,
    safe: bool = False,
) -> tuple[Project, tuple[ConfigError, ...]]:
    """As `open_project`, but what is wrong is left out, so that defaults hold, and is returned. Raises `UsageError` as it does."""
    env = environment() if env is None else env
    real = _folder(cwd)
    home = find_home(env)
    mistakes: list[ConfigError] = []

    def attempt(read: Callable[[], T], otherwise: T) -> T:
        try:
            return read()
        except ConfigError as e:
            mistakes.append(e)
            return otherwise

    answer = trust or attempt(lambda: _trust_variable(env), None)
    none = TrustDecision(trusted=False, root=real)
    ask = partial(decide, real, home.trust_file, answer=answer, home=env.get("HOME"))
    decision = none if safe else attempt(ask, none)
    nothing: tuple[Path | None, str] = (None, "")
    own, refusal = attempt(lambda: settings_of(real, home, decision), nothing)
    layers, unread = read_layers(real, home, env, sets=sets, overrides=overrides or {}, own=own)
    settled = settle(layers)
    loaded = settled.loaded
    told = (text for text in (decision.notice, refusal) if text)
    asked = Asked(dict(overrides or {}), tuple(sets), trust, cwd_given, safe)
    notices = (*told, *loaded.notices)
    project = Project(real, home, loaded, env, decision.trusted, notices, asked, settled.withheld, decision)
    return project, (*mistakes, *unread, *settled.mistakes)


def settings_of(cwd: Path, home: Home, decision: TrustDecision) -> tuple[Path | None, str]:
    """The file of a trusted project's own settings, and a notice; None where there is none, or it may not act. Raises `ConfigError` when the store of decisions is damaged."""
    return own_path(decision.root, cwd / PROJECT_FILE, home.trust_file) if decision.trusted else (None, "")


def _folder(cwd: Path) -> Path:
    try:
        real = Path(os.path.realpath(cwd, strict=True))
        os.listdir(real)
    except (FileNotFoundError, ValueError):  # the latter for a NUL in it
        raise UsageError(f"there is no folder {str(cwd)!r}", hint="Check --cwd, or create the folder.") from None
    except NotADirectoryError:
        raise UsageError(f"{str(cwd)!r} is no folder", hint="Give a folder to --cwd; name files with @FILE.") from None
    except OSError as e:
        raise UsageError(
            f"{str(cwd)!r} can't be entered: {e.strerror}", hint="Check the folder's permissions."
        ) from None
    return real


def _trust_variable(env: Mapping[str, str]) -> TrustAnswer | None:
    value = env.get("TRIMTAB_TRUST")
    if not value:
        return None
    for answer in ANSWERS:
        if value == answer:
            return answer
    raise ConfigError(f"TRIMTAB_TRUST is {value!r}", hint=f"Use one of {', '.join(ANSWERS)}.")
