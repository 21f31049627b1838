"""Supervised fine-tuning: which rows are worth imitating, and how they are written for it.

    rows ──chosen──▶ those that led to a good end ──chat_rows──▶ {"prompt", "completion", "tools"}      any trainer that reads conversations
                                                  └─label_rows─▶ {"input_ids", "labels"}                 exact, for one tokenizer

A conversation can't say which of its answers are trained, so `chat_rows` gives one for each trained answer: the prompt in front of it, and it alone as the completion.
"""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

import msgspec

from trimtab.lab.export.row import SnapshotRow
from trimtab.lab.export.tokens import Templated, renderer, template_message, token_rows

IGNORED = -100
"""The label of an id that has no part in the loss, as `transformers` reads it."""


def chosen(rows: Iterable[SnapshotRow], *, least: float = 1.0, forced: bool = False) -> Iterator[SnapshotRow]:
    """Yield the rows whose terminals have a mean reward of at least `least`. `forced`: also those in which nothing could be chosen."""
    return (row for row in rows if row.value >= least and (forced or not row.forced))


def chat_rows(row: SnapshotRow) -> Iterator[dict[str, Any]]:
    """Yield a conversation for each trained answer of a row. `tools` is JSON, for tables can't hold schemas of different shapes."""
    tools = json.dumps([msgspec.to_builtins(tool) for tool in row.tools], ensure_ascii=False)
    for at, trained in enumerate(row.mask):
        if trained:
            prompt = (*row.messages, *row.completion[:at])
            yield {
                "prompt": [template_message(message) for message in prompt],
                "completion": [template_message(row.completion[at])],
                "tools": tools,
            }


def label_rows(row: SnapshotRow, tokenizer: Templated, *, stop: Collection[int] = ()) -> Iterator[dict[str, list[int]]]:
    """Yield a row as ids with labels, which TRL's `SFTTrainer` takes as they are."""
    for made in token_rows(row, renderer(tokenizer, row), stop=stop):
        ids = [*made.prompt_ids, *made.completion_ids]
        bits = [0] * len(made.prompt_ids) + list(made.mask)
        labels = [one if bit else IGNORED for one, bit in zip(ids, bits, strict=True)]
        yield {"input_ids": ids, "labels": labels}
