"""`trimtab bench`: context policies side by side on the same stories, with intervals and a verdict on each.

arms × (suite | recordings) ──jobs──▶ what DIR lacks is played ──rows──▶ DIR/rows.jsonl ──sections──▶ tables: printed, and as CSV and JSON in DIR
"""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import click

from trimtab.coding.telling.printable import json_text, one_line
from trimtab.coding.telling.tables import counted, stacked
from trimtab.frontends.cli import completers
from trimtab.frontends.cli.bench_stories import EACH, SEEDS, Wish, jobs_of, left_out
from trimtab.frontends.cli.ending import breaking_off
from trimtab.frontends.cli.named import Named
from trimtab.frontends.cli.numbers import COUNT, WINDOW, WORKERS
from trimtab.frontends.cli.path_steps import STEPS, named_steps
from trimtab.frontends.cli.progress import arriving
from trimtab.frontends.cli.ran import noted
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.errors import UsageError
from trimtab.types.extras import install_hint

if TYPE_CHECKING:
    from trimtab.lab.bench.findings import Findings
    from trimtab.lab.bench.folder import Folder
    from trimtab.lab.bench.playing import Job, Unplayed
    from trimtab.lab.bench.row import Row

PEERS = ("claude-code", "codex")
"""What of other agents is played, beside the baselines, where no arm is named."""


@click.command("bench")
@click.argument("arms", nargs=-1, metavar="[ARM…]", shell_complete=completers.policies)
@click.option(
    "--part",
    type=click.Choice(("train", "validation", "test", "real")),
    help="Which tasks: train, for fitting and tuning; validation (default), for choosing; test, to judge one arm that was chosen before, named with --candidate, on the record in --out; real, made of published texts in the data folder.",
)
@click.option(
    "--each", type=COUNT, metavar="N", help=f"Tasks of each family ({EACH}), or sessions of each project (all)."
)
@click.option("--seeds", type=COUNT, metavar="N", help=f"Tellings of each task. Default: {SEEDS}.")
@click.option(
    "--sessions",
    multiple=True,
    type=Named(),
    metavar="PATH",
    shell_complete=completers.files,
    help="Recorded sessions in place of generated tasks: a file, or a folder, which counts as a project. May be repeated.",
)
@click.option("--split", metavar="NAME", help="Recorded sessions of this split of the index in the data folder.")
@click.option(
    "--data",
    type=Named(),
    metavar="FOLDER",
    shell_complete=completers.folders,
    help="The folder with sessions/index.jsonl, or with the files of --part real. Default: TRIMTAB_DATA.",
)
@click.option(
    "--live",
    is_flag=True,
    help="Assignments in real repositories with real tests, by a scripted agent; --each of every family, --seeds draws of luck.",
)
@click.option(
    "--model",
    metavar="P/M",
    shell_complete=completers.models,
    help="With --live: this model works on them. It costs money.",
)
@click.option(
    "--window",
    type=WINDOW,
    metavar="N",
    help="Tokens of the window. Default: each recorded session's own; 16,000 with --live.",
)
@click.option(
    "--prices",
    metavar="NAME,NAME",
    help="Play all at each of these prices: uncached, quarter, tenth, tenth-written. Default: as drawn for tasks; quarter,tenth-written for sessions.",
)
@click.option(
    "--against", metavar="ARM", help="The arm that the others are held against. Default: rules, else the first."
)
@click.option("--by-project", is_flag=True, help="Also what holds in each project, or family, by itself.")
@STEPS
@click.option("--workers", type=WORKERS, default=1, metavar="N", help="Processes to play in. Default: 1.")
@click.option(
    "--out",
    type=Named(),
    metavar="DIR",
    shell_complete=completers.folders,
    help="Keep what is played, and the tables, in DIR; go on there.",
)
@click.option("--candidate", metavar="ARM", help="The one arm that the test part is to judge.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def command(
    *,
    arms: tuple[str, ...],
    part: str | None,
    each: int | None,
    seeds: int | None,
    sessions: tuple[str, ...],
    split: str | None,
    data: str | None,
    live: bool,
    model: str | None,
    window: int | None,
    prices: str | None,
    against: str | None,
    by_project: bool,
    steps: tuple[str, ...],
    workers: int,
    out: str | None,
    candidate: str | None,
    as_json: bool,
) -> int:
    """Hold context policies against each other on the same stories.

    ARM is a policy, with parameters and wrappers as `trimtab replay --policy` takes them, or an arm of the lab. Without any, the baselines are played.

    The stories are generated tasks, or with --part real tasks made of published texts (tier T0), recorded sessions (T1), or assignments that a scripted agent (T2) or a model (T3) works on, never two kinds in one table. Without --model nothing is asked of a model. With --out, what was played is kept as it
    comes: the same command goes on where it was stopped, and one with more arms or stories plays what is new.
    """
    _require_numpy()
    from trimtab.lab.bench.findings import Findings
    from trimtab.lab.bench.steps import with_arms

    stages = named_steps(steps)
    path = with_arms(stages)  # a step that isn't there is told before its arm is looked for
    names = _arms(arms, [*stages.values(), *([candidate] if candidate else [])])
    base = _against(names, against)
    wish = Wish(part, each, seeds, sessions, split, data, window, prices, live, model)
    if (wish.part == "test") != (candidate is not None):
        raise UsageError(
            "the test part judges one candidate, and no other part does",
            hint="Choose on validation, then take --part test --candidate ARM --out DIR.",
        )
    jobs = jobs_of(wish, names)
    for line in left_out(wish):
        click.echo(one_line(f"note: {line}"), err=True)
    with (
        noted(None if out is None else Path(out)),
        nullcontext() if out is None else _folder(Path(out), names, wish, jobs) as folder,
    ):
        if candidate is not None:
            _open_test(folder, candidate)
        rows, failed = _played(jobs, folder, workers)
        findings = Findings(rows, names, base, by_project, path)
        if folder is not None:
            for name, content in findings.files():
                folder.write(name, content)
    if as_json:
        click.echo(json_text(findings.as_data()))
    else:
        _print(findings)
    for line in (*_cautions(findings), *_failures(failed)):
        click.echo(one_line(line), err=True)
    return 1 if failed or not findings.sections else 0


def _require_numpy() -> None:
    if find_spec("numpy") is None:
        raise UsageError("trimtab bench needs numpy, which isn't installed", hint=install_hint("lab"))


def _arms(given: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """The arms, each once. Raises `UsageError` for one that isn't there."""
    from trimtab.lab.arms.registry import BASELINES, find_arm

    names = tuple(dict.fromkeys((*(given or (*BASELINES, *PEERS)), *more)))
    for name in names:
        find_arm(name)
    return names


def _against(names: Sequence[str], against: str | None) -> str:
    if against is None:
        return "rules" if "rules" in names else names[0]
    if against not in names:
        raise UsageError(f"{against!r} isn't among the arms", hint=f"Add it to them: {', '.join(names)}.")
    return against


@contextmanager
def _folder(path: Path, names: Sequence[str], wish: Wish, jobs: "Sequence[Job]") -> "Iterator[Folder]":
    """The folder of this bench, and of no other as long as it is open."""
    from trimtab.context.policies.registry import files_named
    from trimtab.lab.bench.folder import open_folder
    from trimtab.lab.bench.playing import files_of_jobs
    from trimtab.lab.one_writer import one_writer

    weights = {name: files for name in names if (files := files_named(name))}
    with one_writer(path, "bench"):
        folder = open_folder(path, {"arms": " ".join(names), **wish.told()}, files_of_jobs(jobs), weights)
        for note in folder.notes:
            click.echo(one_line(f"note: {note}"), err=True)
        yield folder


def _open_test(folder: "Folder | None", candidate: str) -> None:
    """Write down that the test part is opened, and say when it was before."""
    if folder is None:
        raise UsageError(
            "the test part is opened on the record", hint="Add --out DIR: when it was opened is kept there."
        )
    for before in folder.opened():
        said = f"the test part was opened before, at {before.at}, to judge {before.candidate}: what is chosen after a look at it is no longer judged by it"
        click.echo(one_line(f"warning: {said}"), err=True)
    folder.open_test(candidate, at=datetime.now(UTC).isoformat(timespec="seconds"))


def _played(jobs: "Sequence[Job]", folder: "Folder | None", workers: int) -> "tuple[list[Row], list[Unplayed]]":
    """Play what isn't there yet. Returns all rows that the jobs ask for, and what couldn't be played."""
    from trimtab.lab.bench.playing import asked_for, lacking, played
    from trimtab.lab.executor import executor_for

    rows: list[Row] = [] if folder is None else folder.rows
    left = lacking(jobs, rows)
    failed: list[Unplayed] = []
    with breaking_off(lambda: _stopped(folder)), closing(executor_for(workers)) as executor:
        for done in arriving(executor.map(played, left), len(left), lambda done: done.name):
            if folder is None:
                rows += done.rows
            else:
                folder.add(done.rows)
            failed += done.failed
    return asked_for(jobs, rows), failed


def _stopped(folder: "Folder | None") -> str:
    if folder is None:
        return "stopped; nothing is kept without --out DIR"
    return f"stopped; {counted(len(folder.rows), 'row')} are kept in {folder.path}, and the same command goes on"


def _print(findings: "Findings") -> None:
    from trimtab.lab.bench.tables import sizes
    from trimtab.lab.report.names import short_names

    width = width_of(sys.stdout)
    names = short_names(findings.arms)

    def named(text: str) -> str:
        """A text with short names in place of arms that name a file, the longest first."""
        for arm in sorted(names, key=len, reverse=True):
            text = text.replace(arm, names[arm])
        return one_line(text)

    for number, section in enumerate(findings.sections):
        click.echo(wrapped(one_line(f"{section.key.title}: {sizes(section)}"), width))
        for table in findings.shown(number):
            click.echo(f"\n{named(table.title)}")
            lines = [tuple(map(named, line)) for line in table.lines]
            for line in stacked(lines, width) if lines else ():
                click.echo(line)
            for line in (*table.notes, *(table.legend if width is not None else ())):
                click.echo(wrapped(named(line), width))
        click.echo()
    for arm, short in names.items():
        click.echo(wrapped(one_line(f"{short} stands for {arm}."), width))


def _cautions(findings: "Findings") -> list[str]:
    """What a reader should know of how little the numbers rest on."""
    from trimtab.lab.bench.deciders import SAYS

    lines = []
    for section in findings.sections:
        lines += [
            f"warning: {section.key.title}: {SAYS} in place of {one.arm}: {one.figures} of its decisions"
            for one in section.left
            if one.mostly
        ]
        if section.lacks:
            lines.append(f"note: {section.key.title}: nothing is claimed: {section.lacks}")
        if section.left_out:
            what = f"{section.left_out:,} {'story is' if section.left_out == 1 else 'stories are'} left out"
            lines.append(f"note: {section.key.title}: {what}, which not every arm played")
    return lines


def _failures(failed: "Sequence[Unplayed]") -> list[str]:
    lines = [f"trimtab: {one.name} is skipped: {one.why}" for one in failed]
    return [
        *lines,
        *(f"  {hint[:1].upper()}{hint[1:]}." for hint in dict.fromkeys(one.hint.rstrip(".") for one in failed) if hint),
    ]
