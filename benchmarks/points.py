"""Which results are worth their room? Rank those of recorded sessions at decision points, and print what each ranker keeps of what was needed.

    index ──train──▶ points ──fit──▶ logistic
          └─eval───▶ points ──every ranker──▶ AUC, recall at 10 / 25 / 50 % of the characters, difference to a base with a paired interval

Run: TRIMTAB_DATA=FOLDER python -m benchmarks.points [--split eval] [--cache FOLDER] [--audit N] [--by-project]. TRIMTAB_DATA holds `sessions/index.jsonl` and
the files that it names. Without it nothing is measured, and that is said. Tier T1: recorded sessions, in which later calls are what they were.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from benchmarks.policies import render
from trimtab.lab.corpora.cache import TrajectoryCache
from trimtab.lab.corpora.facts import EVERY, leaks
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.corpora.points import Point, points_of
from trimtab.lab.corpora.rankers import Score, baselines, scores_of
from trimtab.lab.corpora.splits import by_split, leave_one_project_out, read_index
from trimtab.lab.corpora.trajectory import Place
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.recorded import Answered

BASE = "logistic/root"
"""What the others are compared with."""


def points_in(places: Iterable[Place], folder: Path, cache: TrajectoryCache) -> list[Point]:
    """The decision points of some sessions."""
    return [
        point
        for place in places
        for trajectory in cache.trajectories(folder / place.name, place)
        for point in points_of(trajectory)
    ]


def sizes_row(part: str, sessions: int, points: Sequence[Point]) -> tuple[str, ...]:
    """How much there is to choose from in a part, and how much of it is needed."""
    candidates = sum(len(point.facts) for point in points)
    needed = sum(sum(point.needed) for point in points)
    characters = sum(one.size for p in points for one, yes in zip(p.facts, p.needed, strict=True) if yes)
    all_characters = sum(point.size for point in points)
    shares = f"{needed / candidates:.3f} / {characters / all_characters:.3f}" if candidates else "-"
    return part, f"{sessions:,}", f"{len(points):,}", f"{candidates:,}", shares


def score_row(score: Score) -> tuple[str, ...]:
    """What one ranker came to."""
    return score.ranker, f"{score.auc:.3f}", *map(_with_ends, score.recalls), _signed(score.gain)


def _with_ends(one: Interval) -> str:
    return f"{one.value:.3f} [{one.low:.2f}, {one.high:.2f}]"


def _signed(one: Interval) -> str:
    return f"{one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def table(points: Sequence[Point], train: Sequence[Point]) -> str:
    """What every ranker keeps at `points`, those that learn having learned on `train`."""
    if not points or not train:
        return f"SKIPPED: {len(train)} points to learn on, {len(points)} to judge by"
    head = ("ranker", "AUC", "10 %", "25 %", "50 %", f"25 %, above {BASE}")
    rows = [score_row(score) for score in scores_of(points, baselines(train), base=BASE)]
    return render([head, *rows])


def audit(places: Iterable[Place], folder: Path, most: int) -> tuple[int, int]:
    """Look at the facts of `most` decisions again on recordings that end there. Returns how many were looked at, and at how many of them facts used the future."""
    looked = wrong = 0
    for place in places:
        for recording in read_recordings(folder / place.name):
            answers = sum(isinstance(event, Answered) for event in recording.events)
            steps = list(range(EVERY, answers + 1, EVERY))[: max(0, most - looked)]
            looked += len(steps)
            wrong += sum(1 for _ in leaks(recording, steps))
        if looked >= most:
            break
    return looked, wrong


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--split", choices=("train", "eval"), default="eval", help="on what rankers are judged")
    parser.add_argument("--cache", type=Path, default=None, help="a folder for what is read of the sessions")
    parser.add_argument("--audit", type=int, default=0, help="decisions at which to look for a use of the future")
    parser.add_argument("--by-project", action="store_true", help="also judge on each project what learned on others")
    given = parser.parse_args()
    data = os.environ.get("TRIMTAB_DATA")
    if not data:
        print("SKIPPED: TRIMTAB_DATA names no folder of recorded sessions", file=sys.stderr)
        return 0
    folder, started = Path(data) / "sessions", time.perf_counter()
    places = read_index(folder / "index.jsonl")
    parts = by_split(places)
    with tempfile.TemporaryDirectory() as scratch:
        cache = TrajectoryCache(given.cache or Path(scratch))
        points = {split: points_in(part, folder, cache) for split, part in parts.items()}
        for note in cache.notes:
            print(note, file=sys.stderr)
    counts = [sizes_row(split, len(parts[split]), points[split]) for split in sorted(points)]
    print(render([("part", "sessions", "points", "candidates", "needed: results / characters"), *counts]))
    judged, train = points.get(given.split, []), points.get("train", [])
    print(f"\nT1, fitted on train, judged on {given.split}:\n\n{table(judged, train)}")
    for fold in leave_one_project_out(places) if given.by_project else ():
        held = [point for point in judged if point.project == fold.project]
        rest = [point for point in train if point.project != fold.project]
        print(f"\nT1, fitted on train without {fold.project}, judged on {given.split} of it:\n\n{table(held, rest)}")
    if given.audit:
        looked, wrong = audit(places, folder, given.audit)
        print(
            f"\n{looked:,} decisions looked at again on recordings that end there; facts used the future at {wrong:,}"
        )
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
