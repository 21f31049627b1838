"""How far a reinforcement is, and how it is kept, so that a run that is killed goes on from its last step.

    Progress + network + descent ──keep──▶ curves.jsonl, state.pt ──gone_on──▶ the same

What is read is looked through before it is used: a file that is damaged, or of another run, is said to be so.
"""

from dataclasses import dataclass, field
from typing import Any

import msgspec
import torch

from trimtab.lab.train.network import ChoiceNetwork
from trimtab.lab.train.runs import RunFolder


@dataclass(slots=True)
class Progress:
    """Where a run is: the next step, decisions and seconds used, the best on validation so far with its step, and the curve."""

    step: int = 0
    decisions: int = 0
    seconds: float = 0.0
    best: float = float("-inf")
    best_step: int = -1
    parameters: dict[str, torch.Tensor] = field(default_factory=dict)
    curve: list[dict[str, Any]] = field(default_factory=list)


class _Numbers(msgspec.Struct, frozen=True, kw_only=True):
    """What of a `Progress` is a number, with how many lines of its curve belong to it."""

    step: int
    decisions: int
    seconds: float
    best: float
    best_step: int
    lines: int


def keep(folder: RunFolder, network: ChoiceNetwork, descent: torch.optim.Optimizer, at: Progress) -> None:
    """Write where the run is. The curve goes first: a line too many is written over, one too few is not known."""
    numbers = {"step": at.step, "decisions": at.decisions, "seconds": at.seconds, "lines": len(at.curve)}
    best = {"best": at.best, "best_step": at.best_step, "parameters": at.parameters}
    folder.draw(at.curve)
    folder.keep({"network": network.state_dict(), "descent": descent.state_dict(), **numbers, **best})


def gone_on(folder: RunFolder, network: ChoiceNetwork, descent: torch.optim.Optimizer) -> Progress:
    """Take up a run where it was left; a new one begins."""
    known = folder.state()
    if known is None:
        return Progress()
    with folder.whole("state.pt"):
        network.load_state_dict(known["parameters"])  # the best is only needed at the end, and must fit as well
        network.load_state_dict(known["network"])
        descent.load_state_dict(known["descent"])
        _require_fit(descent)
        at = msgspec.convert({name: known[name] for name in _Numbers.__struct_fields__}, _Numbers)
    curve = folder.curve(at.lines)[: at.lines]
    return Progress(at.step, at.decisions, at.seconds, at.best, at.best_step, known["parameters"], curve)


def _require_fit(descent: torch.optim.Optimizer) -> None:
    """Raise `ValueError` when what a descent remembers of a parameter has another shape than that."""
    for parameter, known in descent.state.items():
        if {known[name].shape for name in ("exp_avg", "exp_avg_sq")} != {parameter.shape}:
            raise ValueError("what it remembers of a parameter has another shape")
