"""Compare context policies on recorded sessions, and print one table for each price of cached reads.

    sessions of a split ──keep-all peak over 100k──▶ replayed in a window of 100k under every policy ──▶ policy × {cost, tokens, needs, edits, peak}
                                                     once for each price where a policy weighs prices, else once and priced afterwards

Run: TRIMTAB_DATA=FOLDER python -m benchmarks.policies [--split eval] [--policies none,rules,…] [--jobs N]. The folder holds `sessions/index.jsonl` and the
files that it names. Without it nothing is measured, and that is said.
"""

import argparse
import dataclasses
import gc
import json
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import msgspec
from msgspec.structs import replace

from trimtab.context.counting.counter import Counter
from trimtab.context.policies.base import Policy, manners_of
from trimtab.context.policies.peer import Peer
from trimtab.context.policies.registry import find_policy
from trimtab.sessions.detect import read_recordings
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.sessions.replay.report import Figures, figures_of, total_of
from trimtab.sessions.replay.run import Plan, Run, prepare, replay
from trimtab.types.models import ModelInfo

WINDOW = 100_000
LEAST_PEAK = 100_000
REGIMES = (0.1, 0.5)
OURS = ("none", "truncate", "mask", "summary", "rules")
PEERS = (
    "claude-code", "claude-code-micro", "codex", "opencode", "opencode-dcp", "pi", "tau", "swe-agent", "swe-agent-10",
    "clear-tool-uses", "clear-tool-uses-example",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """One file and what to do with it."""

    file: str
    policies: tuple[str, ...]
    regimes: tuple[float, ...]
    window: int


def priced(model: ModelInfo, share: float) -> ModelInfo:
    """The model with cached reads at `share` of its price of fresh input."""
    return replace(model, prices=tuple(replace(p, cache_read=p.input * share) for p in model.prices))


def measure(task: Task) -> dict[tuple[float, str], Figures]:
    """Replay one file under every policy and price; nothing when its keep-all peak is small."""
    gc.collect()
    gc.disable()  # a replay leaves hardly anything in cycles, and looking for them takes a tenth of its time
    (recording,) = read_recordings(Path(task.file))
    prepared = prepare(recording)
    model = model_of(recording, Terms(task.window))
    counter = Counter(model)
    found: dict[tuple[float, str], Figures] = {}
    runs: dict[tuple[float | None, Policy], Run] = {}
    for name in task.policies:
        policy = find_policy(name)
        for regime in task.regimes:
            terms = priced(model, regime)
            key = (regime if weighs_prices(policy) else None, nameless(policy))
            if key not in runs:
                runs[key] = replay(prepared, Plan(policy, terms, counter=counter))
            found[regime, name] = figures_of(runs[key], terms.prices)
            if name == "none" and found[regime, name].peak_tokens <= LEAST_PEAK:
                return {}
    return found


def weighs_prices(policy: Policy) -> bool:
    """Whether the policy may do something else at another price. The guards ask what an edit costs; who is unheld, or does nothing, isn't asked."""
    return manners_of(policy).guarded and policy.name != "none"


def nameless(policy: Policy) -> Policy:
    """The policy without its name: two peers with the same parameters are one."""
    return dataclasses.replace(policy, name="") if isinstance(policy, Peer) else policy


def files_of(data: Path, split: str) -> list[str]:
    """The session files of a split whose context was ever large enough to matter, largest first."""
    rows = [json.loads(line) for line in (data / "sessions" / "index.jsonl").read_text("utf-8").splitlines()]
    chosen = [row for row in rows if row["split"] == split and (row["max_context"] or 0) > LEAST_PEAK * 0.7]
    chosen.sort(key=lambda row: -row["api_calls"])
    # An index may name one file for several sessions that stood under one name; there is only the one.
    return list(dict.fromkeys(str(data / "sessions" / row["file"]) for row in chosen))


def rows_of(figures: dict[str, Figures]) -> list[tuple[str, ...]]:
    """One row a policy."""
    none = figures["none"]
    rows: list[tuple[str, ...]] = [
        ("policy", "cost", "pess.", "prompt", "needed", "visible", "stub", "lost", "reloads", "edits", "ladder", "summ.", "peak", "over", "invalid")
    ]  # fmt: skip
    for name, f in figures.items():
        share = [_share(f.cost_usd, none.cost_usd), _share(f.cost_usd_pessimistic, none.cost_usd)]
        needs = [f"{100 * n / max(1, f.needed):.1f} %" for n in (f.needed_visible, f.needed_stub, f.needed_lost)]
        counts = (f.reloads, f.edits, f.ladder_edits, f.summary_calls, f.peak_tokens, f.overflows, f.invalid_requests)
        prompt = _share(f.prompt_tokens, none.prompt_tokens)
        rows.append((name, *share, prompt, str(f.needed), *needs, *(f"{n:,}" for n in counts)))
    return rows


def _share(value: float | None, of: float | None) -> str:
    return "?" if value is None or not of else f"{100 * value / of:.1f} %"


def render(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table."""
    head, *body = rows
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in body)])


def run(tasks: Sequence[Task], jobs: int, kept: Path | None = None) -> dict[tuple[float, str], list[Figures]]:
    """Measure all tasks; collect by regime and policy. `kept`: a file that gets a line for each task as it ends; what stands there isn't measured again."""
    done = {} if kept is None or not kept.exists() else dict(map(_read, kept.read_bytes().splitlines()))
    left = [task for task in tasks if task not in done]
    with ProcessPoolExecutor(jobs) as pool:
        for task, part in zip(left, pool.map(measure, left), strict=True):
            done[task] = part
            if kept is not None:
                with kept.open("ab") as file:
                    file.write(_line(task, part))
    found: dict[tuple[float, str], list[Figures]] = {}
    for task in tasks:
        for key, figures in done[task].items():
            found.setdefault(key, []).append(figures)
    return found


def _line(task: Task, part: dict[tuple[float, str], Figures]) -> bytes:
    return msgspec.json.encode((task, [(*key, figures) for key, figures in part.items()])) + b"\n"


def _read(line: bytes) -> tuple[Task, dict[tuple[float, str], Figures]]:
    task, rows = msgspec.json.decode(line, type=tuple[Task, list[tuple[float, str, Figures]]])
    return task, {(regime, name): figures for regime, name, figures in rows}


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--split", default="eval")
    parser.add_argument("--policies", default=",".join((*OURS, *PEERS)))
    parser.add_argument("--regimes", default=",".join(map(str, REGIMES)))
    parser.add_argument("--window", type=int, default=WINDOW)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--keep", type=Path, default=None, help="a file for what is done, so that a run that was cut short goes on"
    )
    parser.add_argument("--most", type=int, default=None, help="at most so many files")
    given = parser.parse_args()
    folder = os.environ.get("TRIMTAB_DATA")
    if not folder:
        print("SKIPPED: TRIMTAB_DATA names no folder of recorded sessions", file=sys.stderr)
        return 0
    names = tuple(dict.fromkeys(["none", *given.policies.split(";" if ";" in given.policies else ",")]))
    regimes = tuple(float(share) for share in given.regimes.split(","))
    started = time.perf_counter()
    tasks = [Task(file, names, regimes, given.window) for file in files_of(Path(folder), given.split)[: given.most]]
    found = run(tasks, given.jobs, given.keep)
    for regime in regimes:
        figures = {name: total_of(found.get((regime, name), [])) for name in names}
        count = len(found.get((regime, "none"), []))
        print(
            f"\n{given.split}: {count} sessions, window {given.window:,}, cached reads at {regime:g} of fresh input\n"
        )
        print(render(rows_of(figures)))
    print(f"\n{time.perf_counter() - started:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
