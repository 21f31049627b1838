"""verl: tables of tasks for its rollouts, and of finished rows for its fine-tuning.

    queries ──task_rows──▶ parquet for `RLHFDataset`; the agent loop (examples/training/verl_docqa.py) finds its query in `extra_info`
    rows ──row_columns───▶ parquet with ids, loss mask and advantage, for a data set class of one's own (the same example)

Shapes as in verl 0.9: a row of a task has `prompt`, `data_source`, `reward_model`, `extra_info` with `index`, and `agent_name`. An agent loop may return several outputs for one rollout there, one for
each piece; what each is worth goes with it, and the estimator normalises over all rows of a query.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trimtab.lab.docqa import wording
from trimtab.lab.docqa.query import Query
from trimtab.lab.export.row import SnapshotRow
from trimtab.lab.export.tokens import Templated, renderer, token_rows
from trimtab.types.errors import UsageError

AGENT = "trimtab_docqa"
"""The name under which the agent loop is registered."""


def task_rows(queries: Iterable[Query], *, turns: int = 50) -> Iterator[dict[str, Any]]:
    """Yield a row of a task for each query. The query itself stands in `extra_info` as JSON, document and all."""
    for index, query in enumerate(queries):
        yield {
            "data_source": f"trimtab/{query.family}",
            "agent_name": AGENT,
            "prompt": [
                {"role": "system", "content": wording.SYSTEM},
                {"role": "user", "content": wording.asked(query.question.text, turns)},
            ],
            "ability": "document-qa",
            "reward_model": {"style": "rule", "ground_truth": "\n".join(query.question.answers)},
            "extra_info": {"index": index, "query": msgspec.json.encode(query).decode()},
        }


def query_in(extra_info: dict[str, Any]) -> Query:
    """Return the query of a row of a task. Raises `ValueError` where there is none."""
    try:
        return msgspec.json.decode(extra_info["query"], type=Query)
    except (KeyError, msgspec.MsgspecError) as problem:
        raise ValueError(f"extra_info holds no query: {problem}") from problem


def row_columns(row: SnapshotRow, tokenizer: Templated, *, stop: Collection[int] = ()) -> Iterator[dict[str, Any]]:
    """Yield a row as columns: `input_ids`, `loss_mask`, `prompt_length`, `advantage` (0 where the row isn't trained on), `value`, `uid` (its query) and `node`."""
    for one in token_rows(row, renderer(tokenizer, row), stop=stop):
        yield {
            "input_ids": [*one.prompt_ids, *one.completion_ids],
            "loss_mask": [0] * len(one.prompt_ids) + list(one.mask),
            "prompt_length": len(one.prompt_ids),
            "advantage": row.advantage * row.weight,
            "value": row.value,
            "uid": row.query,
            "node": row.node,
        }


def write_parquet(path: Path, rows: Sequence[dict[str, Any]]) -> int:
    """Write rows of equal columns as a parquet file, and return how many there were. Raises `UsageError` where `pyarrow` isn't installed or there is no row."""
    if not rows:
        raise UsageError(
            f"nothing to write into {path}", hint="No row is left; look at the least value that was asked for."
        )
    try:
        import pyarrow  # noqa: PLC0415 - only whoever writes parquet needs it
        from pyarrow import parquet  # noqa: PLC0415 - likewise
    except ModuleNotFoundError as problem:
        raise UsageError("writing parquet needs pyarrow", hint="Install it: pip install pyarrow") from problem
    parquet.write_table(pyarrow.Table.from_pylist(list(rows)), path)
    return len(rows)
