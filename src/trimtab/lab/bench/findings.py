"""Findings: all that a bench says, ready to be printed and written.

rows + arms + base ──sections──▶ Findings ──files──▶ bench.json, and a CSV a table        ──shown──▶ text, section by section
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import msgspec

from trimtab.lab.bench.projects import Claim, claims, worded
from trimtab.lab.bench.records import (
    Record,
    action_records,
    csv_of,
    decider_records,
    difference_records,
    figure_records,
    noticed_records,
    path_records,
    project_records,
    verdict_records,
)
from trimtab.lab.bench.row import Row
from trimtab.lab.bench.section import Section, sections_of
from trimtab.lab.bench.steps import PATH, Stage, Step, walked
from trimtab.lab.bench.tables import Shown, path_shown, shown


@dataclass(frozen=True)
class Findings:
    """What rows come to for `arms`, each held against `against`. `by_project`: claims by project, too. `path`: the steps that are held against each other."""

    rows: Sequence[Row]
    arms: tuple[str, ...]
    against: str
    by_project: bool = False
    path: tuple[Stage, ...] = PATH

    @cached_property
    def sections(self) -> list[Section]:
        """The rows that may stand side by side."""
        return sections_of(self.rows, self.arms)

    @cached_property
    def claims(self) -> list[list[Claim]]:
        """Of each section what is claimed by project."""
        return [list(claims(one, self.against)) if self._claims(one) else [] for one in self.sections]

    @cached_property
    def paths(self) -> list[list[Step]]:
        """Of each section the path."""
        return [walked(section, self.path) for section in self.sections]

    def _claims(self, section: Section) -> bool:
        return self.by_project and self.against in section.arms

    def records(self) -> dict[str, list[Record]]:
        """The tables by name, one number a line."""
        found: dict[str, list[Record]] = {}
        for section, claimed, steps in zip(self.sections, self.claims, self.paths, strict=True):
            for name, made in (
                ("figures", figure_records(section)),
                ("differences", difference_records(section, self.against)),
                ("verdicts", verdict_records(section)),
                ("deciders", decider_records(section)),
                ("noticed", noticed_records(section)),
                ("actions", action_records(section)),
                ("path", path_records(section, steps)),
                ("projects", project_records(section, claimed)),
            ):
                found.setdefault(name, []).extend(made)
        return {name: records for name, records in found.items() if records}

    def as_data(self) -> dict[str, object]:
        """All of it as one object."""
        heads = [
            {
                "tier": one.key.tier,
                "part": one.key.part,
                "prices": one.key.regime,
                "arms": list(one.arms),
                one.unit: list(one.units),
                "tasks": one.tasks,
                "seeds": one.seeds,
                "stories": one.stories,
                "left_out": one.left_out,
                "claims": worded(claimed, one.unit),
            }
            for one, claimed in zip(self.sections, self.claims, strict=True)
        ]
        return {"arms": list(self.arms), "against": self.against, "sections": heads, **self.records()}

    def files(self) -> Iterator[tuple[str, bytes]]:
        """The files that a folder gets: names and bytes."""
        yield "bench.json", msgspec.json.format(msgspec.json.encode(self.as_data()), indent=2) + b"\n"
        for name, records in self.records().items():
            yield f"{name}.csv", csv_of(records)

    def shown(self, number: int) -> Iterator[Shown]:
        """The tables of a section for people."""
        section = self.sections[number]
        yield from shown(section, self.against)
        if len(section.arms) > 1:
            yield path_shown(section, self.paths[number])
        if self.claims[number]:
            lines = worded(self.claims[number], section.unit)
            yield Shown(f"By {section.unit}, by reward", (), tuple(lines))
