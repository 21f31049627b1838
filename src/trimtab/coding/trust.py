"""Trust: nothing of a project's acts before its folder is trusted.

A decision belongs to a real path (symlinks resolved), so a renamed or swapped folder asks again. `folder` trusts exactly that folder, `parent` also
everything below its parent; `once` lasts for this process; `never` is stored too. Without a person the default is no, with a notice.
"""

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trimtab.types.errors import ConfigError

TrustAnswer = Literal["once", "folder", "parent", "never"]
ANSWERS: tuple[TrustAnswer, ...] = ("once", "folder", "parent", "never")
INPUTS = (".trimtab", ".agents")


@dataclass(frozen=True, slots=True)
class TrustDecision:
    """Whether the folder's own inputs may act, and what to tell the person."""

    trusted: bool
    notice: str = ""


def project_inputs(cwd: Path) -> tuple[Path, ...]:
    """What in `cwd` would act if it were trusted."""
    return tuple(cwd / name for name in INPUTS if (cwd / name).is_dir())


def decide(cwd: Path, store: Path, *, answer: TrustAnswer | None) -> TrustDecision:
    """Decide about `cwd`, storing `answer` in `store` when it is meant to last.

    Raises `ConfigError` when the store is damaged or can't be written.
    """
    real = os.path.realpath(cwd)
    known = _read(store)
    if answer is not None:
        if answer in ("folder", "parent", "never"):
            target = os.path.dirname(real) if answer == "parent" else real
            known[target] = {"folder": "folder", "parent": "below", "never": "never"}[answer]
            _store(store, known)
        return TrustDecision(trusted=answer != "never")
    stored = _lookup(real, known)
    if stored is not None:
        return TrustDecision(trusted=stored)
    inputs = project_inputs(Path(real))
    if not inputs:
        return TrustDecision(trusted=False)
    names = ", ".join(p.name for p in inputs)
    return TrustDecision(
        trusted=False, notice=f"{names} in {real} is ignored: this folder isn't trusted (--trust folder trusts it)"
    )


def stored_answer(cwd: Path, store: Path) -> bool | None:
    """Whether a stored answer trusts `cwd`; None when there is none. Raises `ConfigError` when the store is damaged."""
    return _lookup(os.path.realpath(cwd), _read(store))


def _lookup(real: str, known: dict[str, str]) -> bool | None:
    if real in known:
        return known[real] != "never"
    parent = os.path.dirname(real)
    while parent:
        if known.get(parent) == "below":
            # A repository inside a trusted parent decides for itself: its author is another one.
            return None if (Path(real) / ".git").exists() else True
        if parent == os.path.dirname(parent):
            break
        parent = os.path.dirname(parent)
    return None


def _read(store: Path) -> dict[str, str]:
    try:
        data = json.loads(store.read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError) as e:
        raise ConfigError(
            f"{store} can't be read: {e}", hint="Move the file away; folders will be asked about again."
        ) from None
    folders = data.get("folders") if isinstance(data, dict) else None
    return {str(k): str(v) for k, v in folders.items()} if isinstance(folders, dict) else {}


def _store(store: Path, known: dict[str, str]) -> None:
    temp = store.with_suffix(f".{os.getpid()}.tmp")
    try:
        store.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temp.write_text(json.dumps({"folders": known}, indent=2, sort_keys=True) + "\n", "utf-8")
        temp.replace(store)
    except OSError as e:
        raise ConfigError(
            f"the decision to trust can't be kept in {store}: {e.strerror or e}",
            hint="Use --trust once, or set TRIMTAB_HOME to a folder you may write.",
        ) from None
