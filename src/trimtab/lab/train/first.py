"""The first stage as a run: what is needed again, learned once, and kept in a folder like all that is trained.

    seed, tasks, sessions, code ──sha256──▶ OUT/needed-KEY/weights.json ──▶ a teacher of the clone, and inputs of it

What comes of it is a policy already: acting by the break-even rule with these chances.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trimtab.lab.train.from_labels import Sources, train_needed
from trimtab.lab.train.runs import RunFolder, key_of
from trimtab.lab.train.supervised import Config as Fit
from trimtab.lab.train.train import Place, Trained
from trimtab.types.errors import UsageError

EACH = 24
"""Tasks of every family where nobody says otherwise."""


class First(msgspec.Struct, frozen=True, kw_only=True):
    """`each`: tasks of every family. `sessions`: files of recorded sessions, of any agent."""

    seed: int = 0
    each: int = EACH
    sessions: tuple[str, ...] = ()


def first(config: First, place: Place) -> Trained:
    """Learn what is needed again, or take it from where it was learned before. Raises `ImportFailed` for a file that holds no session."""
    paths = [Path(name) for name in config.sessions]
    key = key_of("needed", config.seed, config.each, *(path.read_bytes() for path in paths))
    folder = RunFolder(place.folder / f"needed-{key}")
    if (known := folder.weights()) is not None:
        place.say(f"done before: {folder.path}")
        return Trained(folder.path, known, "budget")
    place.say("needed: tasks and sessions are played, and labelled in hindsight")
    sources = Sources(each=config.each, sessions=tuple(paths))
    fitted = train_needed(sources, Fit(seed=config.seed), executor=place.executor)
    folder.write("config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))
    folder.finish(fitted.record, fitted.weights)
    place.say(f"needed: area under the curve {fitted.record['validation']['auc']} on other families")
    return Trained(folder.path, folder.weights(), "budget")


def session_files(folder: Path) -> tuple[str, ...]:
    """Return the files below a folder, in order. Raises `UsageError` for a folder without any."""
    found: Sequence[Path] = sorted(path for path in folder.rglob("*") if path.is_file())
    if not found:
        raise UsageError(f"no files in {str(folder)!r}", hint="Name a folder with recorded sessions.")
    return tuple(map(str, found))
