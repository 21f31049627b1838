"""`--step STEP=ARM`: which arm a step of the path is. `bench` and `report` have it."""

from collections.abc import Sequence

import click

from trimtab.types.errors import UsageError

STEPS = click.option(
    "--step",
    "steps",
    multiple=True,
    metavar="STEP=ARM",
    help="Which arm a step of the path is: summary, rule, logs, supervised or rl. May be repeated.",
)


def named_steps(given: Sequence[str]) -> dict[str, str]:
    """The arms of steps, by the names of those. Raises `UsageError` for one that says no arm, or another one than before."""
    found: dict[str, str] = {}
    for one in given:
        step, _, arm = one.partition("=")
        if not arm.strip():
            raise UsageError(
                f"--step {one!r} says no arm", hint="Write it as --step rl='learned(weights=\"rl.json\")'."
            )
        if found.setdefault(step.strip(), arm.strip()) != arm.strip():
            raise UsageError(f"--step says {step.strip()} twice, with different arms", hint="Leave one of them out.")
    return found
