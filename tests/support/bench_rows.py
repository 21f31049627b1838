"""Rows as a bench writes them, made from a few lines of arithmetic: arms with a known order, any tier, no engine."""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from trimtab.lab.arms.arm import ArmKind
from trimtab.lab.bench.folder import Manifest
from trimtab.lab.bench.row import BOUNDS, CHANCES, Judged, Needs, Quality, Row
from trimtab.lab.env.facts import Tier
from trimtab.lab.report.reading import Run, TaskReward, Timing
from trimtab.lab.train.ablation_row import AblationRow, Estimate

ARMS: tuple[tuple[str, ArmKind, float, float, float], ...] = (
    ("none", "keep", 0.66, 1.0, 1.0),
    ("truncate", "rule", 0.48, 0.62, 0.45),
    ("mask(last=10)", "rule", 0.63, 1.35, 0.50),
    ("summary", "rule", 0.68, 0.97, 0.60),
    ("rules", "rule", 0.73, 0.86, 0.58),
    ("break-even", "rule", 0.74, 0.84, 0.60),
    ("lru", "rule", 0.65, 0.85, 0.55),
    ("claude-code", "peer", 0.64, 0.90, 0.55),
    ("codex", "peer", 0.62, 0.93, 0.57),
    ("random(rate=0.1)", "random", 0.55, 0.95, 0.62),
    ("supervised", "learned", 0.76, 0.72, 0.50),
    ("rl", "learned", 0.755, 0.70, 0.48),
    ("clairvoyant", "bound", 0.90, 0.51, 0.40),
)
"""Name, kind, success, cost and tokens, the last two as shares of keeping everything."""
FAMILIES = {"test": ("dependency", "restock", "continuation"), "validation": ("misleading-turn", "superseded")}
PROJECTS = ("entire-cli", "git-sync", "ledger")
REGIMES = ("quarter", "tenth")


def row(arm: str = "none", kind: ArmKind = "keep", story: str = "s", seed: int = 0, **more: object) -> Row:
    """A row with the least in it, and whatever is said otherwise."""
    found: dict[str, object] = {
        "arm": arm, "kind": kind, "tier": "T0", "part": "test", "family": "dependency", "story": story, "seed": seed, "window": 16_000,
        "regime": "tenth", "keep_all_usd": 1.0, "judged": {"expected": Judged(0.5, 1.0, 0.15)}, "steps": 3, "curve": (1_000, 2_000, 3_000),
    }  # fmt: skip
    return Row(**{**found, **more})  # type: ignore[arg-type]


def rows_of(
    tier: Tier = "T0", part: str = "test", *, stories: int = 12, seeds: Sequence[int] = (0, 1, 2, 3, 4), steps: int = 30
) -> Iterator[Row]:
    """Yield each arm on each story: its figures lie around those of `ARMS`, the story's own dice are shared by all arms."""
    for number in range(stories):
        for seed in seeds:
            yield from _group(tier, part, number, seed, steps)


def _group(tier: Tier, part: str, number: int, seed: int, steps: int) -> Iterator[Row]:
    dice = random.Random(f"{tier} {part} {number} {seed}")
    hard, unit = dice.uniform(-0.2, 0.15), dice.uniform(0.4, 3.0)
    length = steps + dice.randrange(-steps // 4, steps // 4 + 1)
    families = FAMILIES.get(part, ("document-qa",))
    for arm, kind, success, cost, tokens in ARMS:
        chance = min(1.0, max(0.0, success + hard + dice.uniform(-0.05, 0.05)))
        usd = unit * cost * dice.uniform(0.93, 1.07)
        curve, edits = _curve(length, tokens, dice)
        judged: dict[str, Judged] = {
            bound: _judged(chance, usd, unit, bound) for bound in (BOUNDS if tier == "T1" else ("expected",))
        }
        hidden = 0 if kind == "keep" else 2 * edits
        lost = round((1 - success) * 6)
        yield Row(
            arm=arm, kind=kind, tier=tier, part=part, family=families[number % len(families)],
            project=PROJECTS[number % len(PROJECTS)] if tier == "T1" else "", story=f"{tier} {part} {number} {seed}", slot=f"{part}-{number}", seed=seed, window=16_000,
            regime=REGIMES[number % 2], keep_all_usd=unit, judged=judged,
            noticed={f"{one:g}": _judged(max(0.0, chance - 0.25 * (1 - one) * (kind != "keep")), usd, unit, "expected") for one in CHANCES},
            steps=length, curve=curve, cached=int(0.7 * sum(curve)), output=length * 150, needs=Needs(10 - lost, lost // 2, lost - lost // 2),
            quality=Quality(hidden, hidden // 5, hidden // 7, 12, round(12 * success)), edits=edits, batches=max(1, edits // 3) if edits else 0,
            forced=edits // 8, reloads=0.0 if kind == "keep" else (1 - success) * 5, summaries=edits // 2 if arm in ("summary", "codex") else 0,
            overflows=4 if kind == "keep" else 0, decisions=length, policy_ms=length * 1.7, actions={"elide": edits} if edits else {},
        )  # fmt: skip


def _judged(success: float, usd: float, unit: float, bound: str) -> Judged:
    success = success * {"fails": 0.7}.get(bound, 1.0)
    usd = usd * {"pessimistic": 1.12, "fails": 0.97}.get(bound, 1.0)
    return Judged(success, usd, success - 0.35 * usd / unit)


def _curve(length: int, tokens: float, dice: random.Random) -> tuple[tuple[int, ...], int]:
    """Sizes of requests: they grow, and are cut down each time the room that goes with the share is full."""
    size, edits, found = 2_000.0, 0, []
    for _ in range(length):
        size += dice.uniform(400, 1_300)
        if tokens < 1 and size > 24_000 * tokens:
            size, edits = size * 0.55, edits + 1
        found.append(int(size))
    return tuple(found), edits


def _estimate(mean: float, half: float = 0.02) -> Estimate:
    return Estimate(mean, mean - half, mean + half)


def ablation() -> tuple[AblationRow, ...]:
    """A rule, the clone, and every variant of credit: only `parent` is shown to differ."""
    means = {"traj": 0.432, "snapshot": 0.441, "parent": 0.40}
    cells = (("traj", "none"), *((variant, way) for variant in means for way in ("context", "random")))
    return (
        *(
            AblationRow(variant=name, seeds=seeds, tasks=24, reward=_estimate(mean), success=_estimate(0.7), cost=_estimate(0.7))
            for name, seeds, mean in (("break-even", 1, 0.41), ("clone", 5, 0.435))
        ),
        *(
            AblationRow(
                variant=variant, branching=way, seeds=5, tasks=24, decisions=60_000, reward=_estimate(means[variant]), success=_estimate(0.71),
                cost=_estimate(0.68), sampled=_estimate(means[variant] - 0.01), gain=_estimate(means[variant] - 0.435, 0.015),
            )
            for variant, way in cells
        ),
    )  # fmt: skip


def runs(seeds: int = 5) -> tuple[Run, ...]:
    """The runs behind an ablation: all of one configuration, on the same tasks, only `parent` worse."""
    means = {"traj": 0.432, "snapshot": 0.436, "parent": 0.39}
    made = []
    for variant, mean in means.items():
        for way in ("context", "random"):
            for seed in range(seeds):
                dice = random.Random(f"{variant} {way} {seed}")
                figures = tuple(
                    TaskReward(f"task {n}", mean + 0.1 * (n % 3) + dice.uniform(-0.01, 0.01)) for n in range(8)
                )
                config = {"seed": seed, "learning": {"variant": variant, "branching": way, "rate": 0.003}}
                made.append(Run(stage="rl", seconds=61.0, decisions=12_000, config=config, figures=figures))
    return tuple(made)


def folder(at: Path, rows: Sequence[Row], *, extras: bool = True) -> Path:
    """Write a folder as a bench and a training run leave it."""
    at.mkdir(parents=True, exist_ok=True)
    (at / "rows.jsonl").write_bytes(b"".join(msgspec.json.encode(one) + b"\n" for one in rows))
    if extras:
        (at / "ablation.json").write_bytes(msgspec.json.encode(ablation()))
        made = Manifest(content="c0de", trimtab="0.1", python="3.11", arguments={"part": "test", "seeds": "5"})
        (at / "manifest.json").write_bytes(msgspec.json.encode(made))
        took = Timing(
            command="trimtab bench --part test --candidate rl --out lab/bench", seconds=312.4, machine="2 cores"
        )
        (at / "timings.jsonl").write_bytes(msgspec.json.encode(took) + b"\n")
        for run in runs():
            variant, way = run.way or ("", "")
            place = at / "runs" / f"{variant}-{way}-{run.seed}"
            place.mkdir(parents=True, exist_ok=True)
            record = {
                "stage": run.stage,
                "seconds": run.seconds,
                "decisions": run.decisions,
                "config": run.config,
                "ended": "budget",
            }
            (place / "record.json").write_bytes(msgspec.json.encode(record))
            (place / "scores.json").write_bytes(msgspec.json.encode([{"name": "trained", "figures": run.figures}]))
    return at


def full(stories: int = 12) -> list[Row]:
    """Rows of three tiers, the suite's two parts among them."""
    return [
        *rows_of("T0", "test", stories=stories),
        *rows_of("T0", "validation", stories=stories),
        *rows_of("T1", "eval", stories=stories, seeds=(0,), steps=60),
        *rows_of("T2", "test", stories=max(3, stories // 2)),
    ]
