"""The whole lab, from nothing to the page: stage by stage, each a command that anybody can run by itself.

    size ──stages──▶ commands in order ──run in FOLDER, timed──▶ tuned rules, weights, rows, tables ──trimtab report──▶ FOLDER/report.html

Run: python -m benchmarks.lab [--size full|quick] [--folder FOLDER] [--workers N]; `make lab` and `make lab-quick` do. A stage whose command, code and data are
those of its last run isn't run again; one that is, goes on where it stopped, for the commands do. Recorded sessions come from TRIMTAB_DATA (`sessions/index.jsonl`), and so
do the files of published benchmarks; without them the stages that need them are skipped, and that is said. The part `test` is opened by nobody here: see `docs/lab.md`.

`quick` makes every table there is, of few tasks: it shows that everything runs, and its figures say little; each table says of how many tasks it is.
"""

import argparse
import hashlib
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import msgspec

from trimtab.lab.arms.tuning import read_tuned
from trimtab.lab.corpora.cache import code_version
from trimtab.lab.tasks.real.registry import files_of, real_families

Size = Literal["full", "quick"]
ARMS = (
    *("keep-all", "truncate", "mask(batch=1, always=True)", "mask", "clear", "summary", "hybrid", "dedupe"),
    *("lru", "break-even", "occupancy", "random", "ladder", "rules", "claude-code(scaled=True)", "codex(scaled=True)"),
)
"""What is played beside what was trained here, and the best of the tuned rules: in T0 the best of each kind, elsewhere of all."""
RECORDED_ARMS = (
    *("keep-all", "truncate", "mask", "summary", "dedupe", "lru", "break-even", "ladder", "rules"),
    *("claude-code(scaled=True)", "codex(scaled=True)"),
)
"""Long recordings are what takes longest here."""
REAL_ARMS = (
    *("keep-all", "truncate", "mask", "summary", "lru", "break-even", "rules", "claude-code(scaled=True)"),
    "clairvoyant",
)
"""Tables of keys and values are dense with what a summary has to keep, so their stories take several times as long as others."""
LIVE_ARMS = ("none", "truncate", "mask", "summary", "rules", "claude-code(scaled=True)")
PRICES = "uncached,tenth-written"
"""The two at which a candidate has to win."""


@dataclass(frozen=True, slots=True)
class Arms:
    """What is played beside what was trained here: in `tasks`, on `real` material, in `recorded` sessions and in `live` work."""

    tasks: tuple[str, ...]
    real: tuple[str, ...]
    recorded: tuple[str, ...]
    live: tuple[str, ...]


FEW = Arms(
    ("keep-all", "truncate", "mask", "summary", "rules"),
    ("keep-all", "truncate", "rules", "clairvoyant"),
    ("keep-all", "truncate", "rules"),
    ("none", "truncate", "rules"),
)
"""A line of each kind that the tables and plots tell apart."""


@dataclass(frozen=True, slots=True)
class Scale:
    """How much of everything. `tune`: tasks of a family and combinations of a kind; `train`: tasks of a family, minutes of a run, seeds of the ablation and minutes of each;
    `bench`: tasks of a family and seeds; `real`: the same of real material; `live`: assignments of a family and seeds; `recorded`: sessions of a project, 0 for all; `arms`: what plays.
    """

    tune: tuple[int, int]
    train: tuple[int, float]
    ablation: tuple[int, float]
    bench: tuple[int, int]
    real: tuple[int, int]
    live: tuple[int, int]
    recorded: int
    arms: Arms


SCALES: dict[Size, Scale] = {
    "full": Scale(
        (6, 18), (16, 10.0), (5, 0.6), (5, 5), (4, 5), (2, 5), 20, Arms(ARMS, REAL_ARMS, RECORDED_ARMS, LIVE_ARMS)
    ),
    "quick": Scale((1, 2), (1, 0.05), (1, 0.02), (1, 1), (1, 1), (1, 1), 1, FEW),
}


class Ran(msgspec.Struct, frozen=True):
    """What a stage came to: `key` of what it depends on, `seconds` that it took, the `said` last line of its output."""

    key: str
    command: str
    seconds: float
    said: str


@dataclass(frozen=True, slots=True)
class Stage:
    """One command. `line` gets what earlier stages said, by name, and gives the arguments behind `python`; `sessions`: it needs recorded sessions; `real`: files of published benchmarks."""

    name: str
    line: Callable[[dict[str, str]], Sequence[str]]
    sessions: bool = False
    real: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """What the data folder has: `index` of recorded sessions, and `real`: files of published benchmarks."""

    index: Path | None
    real: tuple[Path, ...]

    @classmethod
    def of(cls, named: str) -> "Data":
        """What a folder has, if any was named."""
        folder = Path(named)
        index = folder / "sessions" / "index.jsonl"
        families = real_families(folder) if named else ()
        real = dict.fromkeys(path for family in families for path in files_of(folder, family))
        return cls(index if named and index.is_file() else None, tuple(real))

    def lacking(self, stage: Stage) -> str:
        """What a stage needs and the folder doesn't have; empty where it has all."""
        if stage.sessions and self.index is None:
            return "sessions/index.jsonl"
        return "files of published benchmarks (docs/bench.md lists them)" if stage.real and not self.real else ""

    def basis(self, stage: Stage) -> str:
        """Return a name for the data that a stage may depend on: sessions are learned from, so what comes of them is everywhere; real material isn't."""
        sessions = _digest([self.index]) if self.index else ""
        return sessions + (_digest(self.real) if stage.real else "")


def trimtab(*arguments: str) -> tuple[str, ...]:
    """A command of Trimtab, as arguments of Python."""
    return ("-m", "trimtab", *arguments)


def learned(weights: str) -> str:
    """The arm that a file of weights is."""
    return f"learned(weights={weights!r})"


def tuned(folder: Path, most: int | None = None) -> tuple[str, ...]:
    """Return the best setting of each kind of rule on the training tasks, the best first, `most` of them; none before they were tuned."""
    path = folder / "arms" / "tuned.json"
    found = read_tuned(path).best if path.is_file() else ()
    return tuple(best.spec for best in sorted(found, key=lambda best: -best.reward))[:most]


def stages(scale: Scale, folder: Path, workers: int, corpus: Path | None = None) -> tuple[Stage, ...]:
    """Return everything that is done, in order. `corpus`: recorded sessions with an index, of which those of its part `train` are learned from too."""
    many = ("--workers", str(workers))
    tune_each, tune_most = map(str, scale.tune)
    each, minutes = scale.train
    seeds, short = scale.ablation
    bench_each, bench_seeds = map(str, scale.bench)
    live_each, live_seeds = map(str, scale.live)
    real_each, real_seeds = map(str, scale.real)
    runs = ("--out", str(folder / "runs"))
    tuning = ("--folder", str(folder / "arms"), "--each", tune_each, *many)

    def train(stage: str, *more: str) -> tuple[str, ...]:
        return trimtab("train", "--stage", stage, "--each", str(each), *many, *runs, *more)

    def budget(for_minutes: float) -> tuple[str, ...]:
        return "--minutes", str(for_minutes)

    def steps(said: dict[str, str]) -> tuple[str, ...]:
        named = (("supervised", "needed"), ("rl", "reinforced"))
        return tuple(word for step, by in named for word in ("--step", f"{step}={learned(said[by])}"))

    def bench(
        where: str, *more: str, arms: Sequence[str] = scale.arms.tasks, rules: int | None = 1
    ) -> Callable[[dict[str, str]], Sequence[str]]:
        out = ("--out", str(folder / where), *many, *more)

        def line(said: dict[str, str]) -> Sequence[str]:
            played = dict.fromkeys((*arms, *tuned(folder, rules)))
            return trimtab("bench", *played, learned(said["cloned"]), *steps(said), *out)

        return line

    real = ("--part", "real", "--each", real_each, "--seeds", real_seeds)
    recorded = ("--each", str(scale.recorded)) if scale.recorded else ()
    return (
        Stage("points", lambda _: ("-m", "benchmarks.points", "--cache", str(folder / "points")), sessions=True),
        Stage("tuned", lambda _: ("-m", "benchmarks.arms", "tune", *tuning, "--most", tune_most)),
        Stage("needed", lambda _: train("needed", *(("--from-sessions", str(corpus)) if corpus else ()))),
        Stage("cloned", lambda said: train("clone", "--needed", said["needed"])),
        Stage("reinforced", lambda said: train("rl", *budget(minutes), "--needed", said["needed"])),
        Stage(
            "ablation",
            lambda said: train("ablation", *budget(short), "--needed", said["needed"], "--seeds", str(seeds)),
        ),
        Stage("compared", lambda _: ("-m", "benchmarks.arms", "compare", *tuning)),
        Stage("T0", bench("T0", "clairvoyant", "--each", bench_each, "--seeds", bench_seeds, rules=None)),
        Stage("T0 at two prices", bench("T0-prices", "--prices", PRICES, "--each", bench_each, "--seeds", bench_seeds)),
        Stage("T0 on real material", bench("T0-real", *real, arms=scale.arms.real), real=True),
        Stage(
            "T1",
            bench("T1", "--split", "eval", "--window", "100k", "--by-project", *recorded, arms=scale.arms.recorded),
            sessions=True,
        ),
        Stage("T2", bench("T2", "--live", "--each", live_each, "--seeds", live_seeds, arms=scale.arms.live)),
        Stage(
            "report",
            lambda said: trimtab("report", str(folder), *steps(said), "--out", str(folder / "report.html")),
        ),
    )


def code_basis() -> str:
    """Return a name for all code that a stage runs: the package and these benchmarks."""
    here = sorted(Path(__file__).parent.glob("*.py"))
    return code_version((".",)) + _digest(here)


def _digest(paths: Sequence[Path]) -> str:
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


class Ledger:
    """What was run, in FOLDER/stages.json, and for the page in FOLDER/timings.jsonl."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.path = folder / "stages.json"
        self.ran = msgspec.json.decode(self.path.read_bytes(), type=dict[str, Ran]) if self.path.is_file() else {}

    def keep(self, name: str, ran: Ran) -> None:
        """Write down what a stage came to."""
        self.ran[name] = ran
        self.path.write_bytes(msgspec.json.format(msgspec.json.encode(self.ran)))
        machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
        lines = [
            msgspec.json.encode({"command": one.command, "seconds": round(one.seconds, 1), "machine": machine})
            for one in self.ran.values()
            if not one.command.startswith("python -m trimtab ")  # those write their own line, in their own folder
        ]
        (self.folder / "timings.jsonl").write_bytes(b"\n".join(lines) + b"\n")


def run(stage: Stage, said: dict[str, str], ledger: Ledger, basis: str) -> Ran | None:
    """Run a stage, or take what it came to before. None: it failed."""
    line = stage.line(said)
    command = shlex.join(("python", *line))
    key = hashlib.sha256("\0".join((basis, *line)).encode()).hexdigest()[:16]
    before = ledger.ran.get(stage.name)
    if before is not None and before.key == key:
        print(f"== {stage.name}: as before ({before.seconds:.0f} s)", flush=True)
        return before
    print(f"== {stage.name}: {command}", flush=True)
    begun = time.monotonic()
    made = subprocess.run([sys.executable, *line], stdout=subprocess.PIPE, text=True, check=False)
    print(made.stdout, end="", flush=True)
    if made.returncode:
        print(f"== {stage.name}: failed with {made.returncode}; the same command goes on here", flush=True)
        return None
    last = made.stdout.rstrip().rpartition("\n")[2]
    ran = Ran(key, command, time.monotonic() - begun, last)
    ledger.keep(stage.name, ran)
    print(f"== {stage.name}: {ran.seconds:.0f} s", flush=True)
    return ran


def main(arguments: Sequence[str] | None = None) -> int:
    """Run all stages; return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lab", description=__doc__.partition("\n")[0])
    parser.add_argument("--size", choices=tuple(SCALES), default="full")
    parser.add_argument("--folder", type=Path, default=None, help="default: build/lab-SIZE")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="processes that play")
    given = parser.parse_args(arguments)
    folder: Path = given.folder or Path("build") / f"lab-{given.size}"
    folder.mkdir(parents=True, exist_ok=True)
    data, basis = Data.of(os.environ.get("TRIMTAB_DATA", "")), code_basis()
    ledger, said = Ledger(folder), dict[str, str]()
    begun = time.monotonic()
    for stage in stages(SCALES[given.size], folder, given.workers, data.index and data.index.parent):
        if lacks := data.lacking(stage):
            print(f"== {stage.name}: SKIPPED: TRIMTAB_DATA names no folder that has {lacks}", flush=True)
            continue
        ran = run(stage, said, ledger, basis + data.basis(stage))
        if ran is None:
            return 1
        said[stage.name] = ran.said
    print(f"== all: {time.monotonic() - begun:.0f} s; the page: {folder / 'report.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
