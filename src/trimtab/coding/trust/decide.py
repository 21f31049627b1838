"""Whether a project's own inputs may act.

a flag or a variable ──▶ that, and stored if it is meant to last
a stored answer (known.py, lookup.py) ──▶ that
neither ──▶ no; a notice says what is ignored, and who can be asked is (question.py)
"""

from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.answers import STORED, TrustAnswer
from trimtab.coding.trust.inputs import Input, project_inputs
from trimtab.coding.trust.known import read_known, remember
from trimtab.coding.trust.lookup import look_up
from trimtab.coding.trust.place import Place, place_of, project_root


@dataclass(frozen=True, slots=True)
class TrustDecision:
    """Whether the project's own inputs may act, and what to tell the person.

    `root` is what was decided about, `place` that folder as it was when a flag or a variable answered. `open`: nobody has answered yet although there are `inputs`; `reason` says why an earlier answer doesn't count.
    """

    trusted: bool
    notice: str = ""
    root: Path = Path()
    open: bool = False
    reason: str = ""
    inputs: tuple[Input, ...] = ()
    place: Place | None = None


def decide(cwd: Path, store: Path, *, answer: TrustAnswer | None, home: str | None = None) -> TrustDecision:
    """Decide about the project of `cwd`, storing `answer` in `store` when it is meant to last. `home` is the person's home folder.

    Raises `ConfigError` when the store is damaged or can't be written.
    """
    root = project_root(cwd, home=home)
    known = read_known(store)
    if answer is not None:
        place = place_of(root)
        keep_answer(store, place, answer)
        return TrustDecision(trusted=answer != "never", root=root, place=place)
    found = look_up(root, known)
    if found.trusted is not None:
        return TrustDecision(trusted=found.trusted, root=root)
    inputs = project_inputs(root, Path(cwd).resolve())
    if not inputs:
        return TrustDecision(trusted=False, root=root)
    notice = _notice(root, inputs, found.reason)
    return TrustDecision(trusted=False, notice=notice, root=root, open=True, reason=found.reason, inputs=inputs)


def keep_answer(store: Path, place: Place, answer: TrustAnswer) -> None:
    """Store an answer about the project at `place`; nothing for `once`. Raises `ConfigError`."""
    if answer == "once":
        return
    about = place_of(Path(place.path).parent) if answer == "parent" else place
    remember(store, about, STORED[answer])


def stored_answer(cwd: Path, store: Path, *, home: str | None = None) -> bool | None:
    """Whether a stored answer trusts the project of `cwd`; None when there is none. Raises `ConfigError` when the store is damaged."""
    return look_up(project_root(cwd, home=home), read_known(store)).trusted


def _notice(root: Path, inputs: tuple[Input, ...], reason: str) -> str:
    names = ", ".join(one_path(one.name) for one in inputs)
    are = "is" if len(inputs) == 1 else "are"
    why = f" ({reason})" if reason else ""
    return (
        f"{names} in {one_path(root)} {are} ignored: this folder isn't trusted{why}; "
        "a talk there asks whether it is, --trust folder, said there, trusts it from now on, --trust once for one run, and trimtab trust shows what there is"
    )
