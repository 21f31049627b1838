"""`trimtab context learned`: what the sessions of this folder have taught, shown or forgotten."""

import json
import sys
from pathlib import Path
from typing import Any

import click

from trimtab.coding.context.learned import learned_file, regret_of
from trimtab.coding.project import open_anyway
from trimtab.context.counting.ratio import CalibrationState
from trimtab.context.counting.size import KINDS
from trimtab.context.policies.rules import Rules
from trimtab.context.stores.learned import Lessons, LessonsFile
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.types.text import strip_terminal


@click.command("learned", short_help="Show what the sessions of this folder taught.")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
@click.option("--reset", is_flag=True, help="Forget all of it.")
def command(*, as_json: bool, reset: bool) -> int:
    """Show what the sessions of this folder taught: how far counts are off for each model, and what is fetched again after it was hidden."""
    project, _ = open_anyway(Path("."))
    file = LessonsFile(learned_file(project))
    lessons, problem = file.read()
    forgotten = file.reset() if reset else None
    if reset:
        lessons = Lessons()
    if as_json:
        data = {"file": str(file.path), "problem": problem, "forgotten": forgotten, **_data(lessons)}
        click.echo(json.dumps(data, indent=2, ensure_ascii=False))
        return 0
    if reset:
        lines = [f"{file.path}: {'forgotten' if forgotten else 'there was nothing'}"]
    elif problem is not None:
        lines = [f"{file.path} can't be used ({problem}) and is left aside; --reset removes it"]
    else:
        lines = _lines(file.path, lessons)
    for line in lines:
        click.echo(wrapped(strip_terminal(line), width_of(sys.stdout)))
    return 0


def _data(lessons: Lessons) -> dict[str, Any]:
    models = {ref: {**_model(state), "family": state.family} for ref, state in lessons.models.items()}
    return {"models": models, "tools": regret_of(lessons).rows(), "sessions": len(lessons.regret)}


def _model(state: CalibrationState) -> dict[str, Any]:
    return {
        "reports": state.reports,
        "factors": {kind: round(factor, 3) for kind, factor in zip(KINDS, state.factors, strict=False)},
        "noise": round(state.noise, 4),
        "band": round(state.band, 2),
        "hidden": None if state.hidden is None else round(state.hidden),
    }


def _lines(path: Path, lessons: Lessons) -> list[str]:
    if not lessons.models and not lessons.regret:
        return [f"nothing yet ({path})"]
    lines = [f"{path}"]
    for ref, state in lessons.models.items():
        model = _model(state)
        factors = ", ".join(f"{kind} × {factor:g}" for kind, factor in model["factors"].items() if factor != 1.0)
        unseen = f"; {model['hidden']:,} tokens of each request unseen" if model["hidden"] else ""
        lines.append(
            f"{ref}: counts ± {state.noise:.1%} after {state.reports} reports; {factors or 'as estimated'}{unseen}"
        )
    learned = regret_of(lessons)
    for row in learned.rows():
        longer = round(Rules().patience * learned.regret(str(row["tool"])))
        lines.append(
            f"{row['tool']}: {row['regretted']} of {row['hidden']} hidden results were fetched again ({row['tokens']:,} tokens);"
            f" such results stay {longer} requests longer"
        )
    return lines
