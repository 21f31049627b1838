"""Tune every rule of the lab on the training tasks, and say how the tuned ones do on the validation tasks.

    GRIDS ──train──▶ tuned.json ──validation──▶ arm × {reward, above keeping everything, success, cost, tokens, edits, milliseconds}

Run: python -m benchmarks.arms tune|compare [--folder FOLDER] [--each N] [--most N]. The folder gets `trials.jsonl`, so that a run that was broken off goes on, and
`tuned.json`. Tier T0: generated tasks. The part `test` isn't opened here.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.policies import render
from trimtab.lab.arms.chance import matched
from trimtab.lab.arms.playing import Table
from trimtab.lab.arms.registry import BASELINES, PEER_ARMS, find_arm
from trimtab.lab.arms.tuning import (
    EACH,
    MOST,
    Best,
    Ledger,
    Standing,
    play,
    read_tuned,
    standings,
    tune,
    write_tuned,
)
from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.suite import suite


def best_row(best: Best) -> tuple[str, ...]:
    """What tuning found for one kind."""
    figures = (f"{best.untuned:+.3f}", f"{best.reward:+.3f}", f"{best.success:.3f}", f"{best.cost:.3f}")
    return best.kind, best.spec, *figures, f"{best.tried}"


def standing_row(one: Standing) -> tuple[str, ...]:
    """How one arm does."""
    return (
        one.spec,
        find_arm(one.spec).kind,
        _with_ends(one.reward),
        _with_ends(one.above),
        f"{one.success:.3f}",
        f"{one.cost:.3f}",
        f"{one.prompt:,.0f}",
        f"{one.edits:.1f}",
        f"{one.policy_ms:.0f}",
    )


def matched_to(spec: str) -> str:
    """The random arm with as many batches as another, of as many items, on a training task of each family."""
    arm = find_arm(spec)
    return matched(Table(one.conditions).play(one.story, arm) for one in suite("train", 1))


def compare(folder: Path, each: int, ledger: Ledger) -> str:
    """Play the tuned arms, the baselines as they come and the peers on the validation tasks."""
    found = read_tuned(folder / "tuned.json").best
    random = matched_to(max(found, key=lambda best: best.reward).spec)
    bounds = ("clairvoyant", "clairvoyant(drop=True)")
    specs = tuple(dict.fromkeys((*BASELINES, *(best.spec for best in found), random, *PEER_ARMS, *bounds)))
    trials = play(specs, "validation", each=each, ledger=ledger, tell=tell)
    head = ("arm", "kind", "reward", "above keep-all", "success", "cost", "tokens", "edits", "ms")
    return render([head, *map(standing_row, standings(trials))])


def tell(what: str) -> None:
    """Progress, beside what is printed."""
    print(what, file=sys.stderr, flush=True)


def _with_ends(one: Interval) -> str:
    return f"{one.value:+.3f} [{one.low:+.3f}, {one.high:+.3f}]"


def main(arguments: Sequence[str] | None = None) -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("tune", "compare"))
    parser.add_argument("--folder", type=Path, default=Path("build/arms"))
    parser.add_argument("--each", type=int, default=EACH, help="tasks of each family")
    parser.add_argument("--most", type=int, default=MOST, help="combinations of each kind")
    given = parser.parse_args(arguments)
    ledger = Ledger(given.folder / "trials.jsonl")
    if given.what == "compare":
        print(compare(given.folder, given.each, ledger))
        return
    found = tune(each=given.each, most=given.most, ledger=ledger, tell=tell)
    write_tuned(given.folder / "tuned.json", found)
    head = ("kind", "best", "untuned", "reward", "success", "cost", "tried")
    print(render([head, *map(best_row, found.best)]))


if __name__ == "__main__":
    main()
