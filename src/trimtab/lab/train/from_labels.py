"""One run of supervised training, from where rows come from to weights: what `trimtab train` calls for the first of its steps.

suite train (+ recordings of a corpus, + a person's own sessions) ──labels──▶ rows ──supervised──▶ Weights
suite validation (+ families of the corpus that were set aside)   ──labels──▶ when to stop
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trimtab.lab.executor import Executor
from trimtab.lab.labels.collected import recorded_places, rows_from_sessions, rows_from_suite
from trimtab.lab.labels.hindsight import Labelled
from trimtab.lab.train.supervised import Config, Fitted, fit_needed

RECORDINGS = 60
"""Of a corpus, where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Sources:
    """Where rows come from. `each`: tasks of every family, a third of that for validation. `corpus`: a folder with `index.jsonl`; `recordings` of it at most, a third of that for validation.

    `sessions`: files of a person's own.
    """

    each: int = 24
    corpus: Path | None = None
    recordings: int = RECORDINGS
    sessions: tuple[Path, ...] = ()

    @property
    def files(self) -> list[Path]:
        """All files that rows come from."""
        if self.corpus is None:
            return list(self.sessions)
        fit = recorded_places(self.corpus, "fit", self.recordings)
        checked = recorded_places(self.corpus, "validation", _third(self.recordings))
        return [*(self.corpus / place.name for place in (*fit, *checked)), *self.sessions]

    @property
    def about(self) -> str:
        """What the record says of them."""
        told = [f"{self.each} generated tasks of every family that is trained on"]
        if self.corpus is not None:
            told.append(f"up to {self.recordings} recorded sessions of a corpus, one of each family")
        if self.sessions:
            told.append(f"{len(self.sessions)} sessions of a person's own")
        return ", ".join(told)


def train_needed(sources: Sources, config: Config | None = None, *, executor: Executor | None = None) -> Fitted:
    """Label, fit, and return the weights with their record. The same sources, seed and versions give the same bytes, wherever the labelling runs."""
    rows = rows_from_suite("train", sources.each, executor=executor)
    checked = rows_from_suite("validation", _third(sources.each), executor=executor)
    if sources.corpus is not None:
        rows += _recorded(sources.corpus, "fit", sources.recordings, executor)
        checked += _recorded(sources.corpus, "validation", _third(sources.recordings), executor)
    if sources.sessions:
        rows += rows_from_sessions(sources.sessions, executor=executor)
    return fit_needed(rows, checked, config, about=sources.about)


def _recorded(folder: Path, part: Literal["fit", "validation"], most: int, executor: Executor | None) -> list[Labelled]:
    places = recorded_places(folder, part, most)
    paths = [folder / place.name for place in places]
    return rows_from_sessions(paths, groups=[place.project for place in places], executor=executor)


def _third(number: int) -> int:
    return max(1, number // 3)
