"""Which options of `trimtab train` mean something at which stage. One that means nothing there is refused: whoever gave it expects something of it.

options that were given + stage ──BELONGS, EXCLUDE──▶ nothing, or `UsageError` that says where they belong
"""

from collections.abc import Collection, Mapping
from typing import Final

from trimtab.types.errors import UsageError

STAGES: Final = ("needed", "clone", "rl", "all", "ablation")
"""What `--stage` takes."""
_CLONED = ("clone", "rl", "all", "ablation")
BELONGS: Mapping[str, tuple[str, ...]] = {
    "--stage": STAGES,
    "--variant": ("rl", "all"),
    "--branching": ("rl", "all"),
    "--scheme": ("rl", "all"),
    "--seed": STAGES,
    "--seeds": ("ablation",),
    "--minutes": ("rl", "all", "ablation"),
    "--each": STAGES,
    "--workers": STAGES,
    "--ray": STAGES,
    "--ray-address": STAGES,
    "--device": _CLONED,
    "--teachers": _CLONED,
    "--needed": _CLONED,
    "--from-sessions": ("needed", "all"),
    "--out": STAGES,
}
"""Each option, and the stages that it means something to."""
EXCLUDE: Mapping[tuple[str, str], str] = {
    ("--from-sessions", "--needed"): "what is needed again is learned from sessions, or there already",
    ("--workers", "--ray-address"): "the cluster there has its own workers",
}
"""Options of which one makes the other mean nothing, and why."""


def require_meant(stage: str, given: Collection[str]) -> None:
    """Raise `UsageError` where an option of `given` means nothing to a stage, or beside another one."""
    if wrong := [option for option in BELONGS if option in given and stage not in BELONGS[option]]:
        means = "means" if len(wrong) == 1 else "mean"
        raise UsageError(f"{_listed(wrong, 'and')} {means} nothing to --stage {stage}", hint=_way_out(wrong))
    for pair, why in EXCLUDE.items():
        if set(pair) <= set(given):
            raise UsageError(f"{_listed(pair, 'and')} exclude each other: {why}", hint="Leave one of the two out.")


def _way_out(wrong: Collection[str]) -> str:
    it = "it" if len(wrong) == 1 else "them"
    where = [stage for stage in STAGES if all(stage in BELONGS[option] for option in wrong)]
    return f"Leave {it} out, or take --stage {_listed(where, 'or')}." if where else f"Leave {it} out."


def _listed(words: Collection[str], last: str) -> str:
    *first, end = words
    return f"{', '.join(first)} {last} {end}" if first else end
