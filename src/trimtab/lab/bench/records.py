"""Records: what a bench says, one number a line, for files.

sections ──▶ tidy tables, each line with tier, part and prices ──▶ CSV, JSON
"""

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from trimtab.lab.bench.projects import Claim
from trimtab.lab.bench.row import chance_key
from trimtab.lab.bench.section import COMPARED, Section, readings
from trimtab.lab.bench.steps import Step
from trimtab.lab.corpora.intervals import Interval

Cell: TypeAlias = str | int | float | None
Record: TypeAlias = Mapping[str, Cell]


def figure_records(section: Section) -> Iterator[Record]:
    """Yield every figure of every arm, with its interval."""
    for arm in section.arms:
        for figure, bound in readings(section.key.tier):
            made = [section.figure(arm, figure, bound, within=within) for within in (False, True)]
            yield {**_head(section), "arm": arm, "figure": figure.name, "bound": bound, **_both(*made)}


def difference_records(section: Section, against: str) -> Iterator[Record]:
    """Yield by how much each arm is above another; of tokens how many times they are that."""
    for arm in section.arms if against in section.arms else ():
        for figure in COMPARED:
            for bound in figure.bounds(section.key.tier):
                made = [section.gain(arm, against, figure, bound, within=within) for within in (False, True)]
                yield {
                    **_head(section),
                    "arm": arm,
                    "against": against,
                    "figure": figure.name,
                    "bound": bound,
                    **_both(*made),
                }


def verdict_records(section: Section) -> Iterator[Record]:
    """Yield the verdict on each arm under each bound."""
    for one in section.verdicts():
        yield {**_head(section), "arm": one.arm, "bound": one.bound, "verdict": one.fitting, "as_sent": one.sent}


def decider_records(section: Section) -> Iterator[Record]:
    """Yield how many decisions of each arm were left to the rules; `uncounted`: stories of which nobody knows."""
    for one in section.left:
        yield {
            **_head(section),
            "arm": one.arm,
            "decisions": one.decisions,
            "left": one.left,
            "share": one.share,
            "uncounted": one.uncounted,
            "says": one.says,
        }


def noticed_records(section: Section) -> Iterator[Record]:
    """Yield success, cost and reward of each arm by the chance that a stub is noticed."""
    for arm, rows in section.rows.items():
        for chance in section.chances:
            read = [(row.noticed[chance_key(chance)], row.keep_all_usd) for row in rows]
            for name, parts in (
                ("SUCCESS", [(judged.success, 1.0) for judged, _ in read]),
                ("COST", [(judged.usd / unit, 1.0) for judged, unit in read]),
                ("REWARD", [(judged.reward, 1.0) for judged, _ in read]),
            ):
                found = section.share(parts)
                yield {**_head(section), "arm": arm, "chance": chance, "figure": name, **_numbers(found)}


def action_records(section: Section) -> Iterator[Record]:
    """Yield how many edits of each kind an arm made in all."""
    for arm, rows in section.rows.items():
        for kind in sorted({kind for row in rows for kind in row.actions}):
            count = sum(row.actions.get(kind, 0) for row in rows)
            yield {**_head(section), "arm": arm, "action": kind, "count": count, "a_story": count / len(rows)}


def path_records(section: Section, steps: Sequence[Step]) -> Iterator[Record]:
    """Yield what each step of the path is above the one before; one line without a number for a step that is missing or first."""
    for step in steps:
        head = {**_head(section), "step": step.stage.name, "arm": step.arm, "before": step.before}
        for name, bound, gain in step.gains:
            yield {**head, "figure": name, "bound": bound, **_numbers(gain)}
        if not step.gains:
            yield {**head, "figure": "", "bound": "", "value": None, "low": None, "high": None}


def project_records(section: Section, found: Iterable[Claim]) -> Iterator[Record]:
    """Yield the claims by project."""
    for claim in found:
        for bound, gain in claim.gains:
            yield {
                **_head(section),
                section.unit: claim.project,
                "arm": claim.arm,
                "against": claim.against,
                "figure": "REWARD",
                "bound": bound,
                **_numbers(gain),
                "stand": claim.stand,
                "chosen_on_the_others": claim.chosen,
                "stories_there": claim.stories,
            }


def csv_of(records: Sequence[Record]) -> bytes:
    """Return records as CSV. What isn't known is empty."""
    names = dict.fromkeys(name for record in records for name in record)
    text = io.StringIO()
    writer = csv.DictWriter(text, list(names), lineterminator="\n")
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def _head(section: Section) -> dict[str, Cell]:
    key = section.key
    return {"tier": key.tier, "part": key.part, "prices": key.regime, "stories": section.stories}


def _both(over: Interval, within: Interval) -> dict[str, Cell]:
    """The interval over families, and that within them."""
    numbers = _numbers(within)
    return {**_numbers(over), "low_within": numbers["low"], "high_within": numbers["high"]}


def _numbers(found: Interval) -> dict[str, Cell]:
    return {
        name: None if math.isnan(number) else number
        for name, number in (("value", found.value), ("low", found.low), ("high", found.high))
    }
