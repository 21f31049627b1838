"""The first stage as a run: what is needed again, learned once, and kept in a folder like all that is trained.

    seed, tasks, sessions, code ──sha256──▶ OUT/needed-KEY/weights.json ──▶ a teacher of the clone, and inputs of it
    each task, each session, code ──sha256──▶ OUT/labels-CODE/KEY.labels, as they come

What comes of it is a policy already: acting by the break-even rule with these chances.
"""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from trimtab.lab.train.from_labels import RECORDINGS, Sources, train_needed
from trimtab.lab.train.labels_on_disk import keeping_labels
from trimtab.lab.train.runs import RunFolder, key_of
from trimtab.lab.train.supervised import Config as Fit
from trimtab.lab.train.train import Place, Trained
from trimtab.sessions.source import Source
from trimtab.types.errors import UsageError

INDEX = "index.jsonl"
"""What a corpus has: a line for each session, with its split, project and family."""
EACH = 24
"""Tasks of every family where nobody says otherwise."""
_FEWEST = 3
"""Recordings of a corpus, where few tasks are asked for."""


class First(msgspec.Struct, frozen=True, kw_only=True):
    """`each`: tasks of every family. `sessions`: files of recorded sessions, of any agent. `corpus`: a folder with `index.jsonl`, of which only what may be learned from is taken; empty for none."""

    seed: int = 0
    each: int = EACH
    sessions: tuple[str, ...] = ()
    corpus: str = ""


def first(config: First, place: Place) -> Trained:
    """Learn what is needed again, or take it from where it was learned before; labels that are there aren't made again. Raises `ImportFailed` for a file that holds no session."""
    paths = [Path(name) for name in config.sessions]
    corpus = Path(config.corpus) if config.corpus else None
    recordings = max(_FEWEST, RECORDINGS * config.each // EACH)
    sources = Sources(each=config.each, sessions=tuple(paths), corpus=corpus, recordings=recordings)
    given = [*([corpus / INDEX] if corpus else []), *sources.files]
    key = key_of("needed", config.seed, config.each, *(Source(path).data() for path in given))
    folder = RunFolder(place.folder / f"needed-{key}")
    if folder.finished("weights.json") and (known := folder.weights()) is not None:
        place.say(f"done before: {folder.path}")
        return Trained(folder.path, known, "budget")
    begun = place.clock()
    place.say("needed: tasks and sessions are played, and labelled in hindsight")
    executor = keeping_labels(place.executor, place.folder, say=place.say)
    fitted = train_needed(sources, Fit(seed=config.seed), executor=executor)
    folder.write("config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))
    # Weights hold the record without the time: the same labels give the same weights.
    timed = {"stage": "needed", **fitted.record, "seconds": round(place.clock() - begun, 1)}
    folder.finish(timed, fitted.weights)
    place.say(area_told(fitted.record["validation"]["auc"]))
    return Trained(folder.path, folder.weights(), "budget")


def area_told(area: float) -> str:
    """Say how well what is needed again is told, as an area under the curve. What is below a half ranks the wrong way round."""
    hint = (
        "; below .5 is worse than chance: learn from more, with a larger --each or --from-sessions"
        if area < 0.5
        else ""
    )
    return f"needed: area under the curve {area} on other families (1 is perfect, .5 is chance){hint}"


def first_of(folder: Path | None, *, seed: int, each: int) -> First:
    """Return what is learned from a folder of sessions: from its part `train` where it is a corpus with an index, else from all files. Raises `UsageError` for a folder without any."""
    if folder is None:
        return First(seed=seed, each=each)
    if (folder / INDEX).is_file():
        return First(seed=seed, each=each, corpus=str(folder))
    return First(seed=seed, each=each, sessions=session_files(folder))


def session_files(folder: Path) -> tuple[str, ...]:
    """Return the files below a folder, in order. Raises `UsageError` for a folder without any."""
    found: Sequence[Path] = sorted(path for path in folder.rglob("*") if path.is_file())
    if not found:
        raise UsageError(f"no files in {str(folder)!r}", hint="Name a folder with recorded sessions.")
    return tuple(map(str, found))
