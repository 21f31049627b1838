"""TRL: what its GRPO trainer takes.

    rows ──policy_rows──▶ {"prompt", "prompt_ids", "completion_ids", "tool_mask", "advantage"}       advantages of ours in its loss: examples/training/train_trl.py
    live rollouts ──rollout_output──▶ what a `rollout_func` returns                                  its own advantages, from rewards

Shapes as in TRL 1.16 (`GRPOTrainer`, whose `rollout_func` is experimental there): a rollout is one prompt and one completion. So a live rollout of several pieces gives one of them, and whoever
wants all of them, with the credit of their tree, trains on rows.
"""

import random
from collections.abc import Collection, Iterator, Sequence
from typing import Any

from trimtab.lab.export.row import SnapshotRow
from trimtab.lab.export.tokens import Templated, TokenRow, renderer, token_rows


def policy_rows(row: SnapshotRow, tokenizer: Templated, *, stop: Collection[int] = ()) -> Iterator[dict[str, Any]]:
    """Yield a row as ids with its advantage, times its weight. Nothing comes of a row of weight 0.

    `tool_mask` is TRL's name for the bits of the completion that the model wrote. `prompt` names the row; the trainer wants a column of that name and needs nothing of it here.
    """
    if not row.weight:
        return
    made = list(token_rows(row, renderer(tokenizer, row), stop=stop))
    for one in made:
        yield {
            "prompt": f"{row.query} {row.node}",
            "prompt_ids": list(one.prompt_ids),
            "completion_ids": list(one.completion_ids),
            "tool_mask": list(one.mask),
            "advantage": row.advantage * row.weight,
        }


def rollout_output(
    rollouts: Sequence[Sequence[TokenRow]],
    rewards: Sequence[float],
    log_probs: Sequence[Sequence[Sequence[float]]] | None = None,
    *,
    seed: int = 0,
) -> dict[str, Any]:
    """Return what a `rollout_func` returns: of each rollout one of its sequences, drawn evenly, and its reward under `reward`.

    `log_probs` has a number for each id of each completion. Over many steps every piece of a rollout is trained with the reward of its end, which is credit by trajectory.
    """
    dice = random.Random(seed)
    places = [dice.randrange(len(pieces)) for pieces in rollouts]
    picked = [pieces[place] for pieces, place in zip(rollouts, places, strict=True)]
    known = None if log_probs is None else [list(of[place]) for of, place in zip(log_probs, places, strict=True)]
    return {
        "prompt_ids": [list(one.prompt_ids) for one in picked],
        "completion_ids": [list(one.completion_ids) for one in picked],
        "logprobs": known,
        "env_mask": [list(one.mask) for one in picked],
        "reward": list(rewards),
    }
