"""Questions about a long document in a small window, by a model that manages its own context. Run: python examples/document_qa.py

Offline, a script that reads what it is shown plays the model. Any server that speaks Chat Completions goes in its place:

    python examples/document_qa.py --base-url http://127.0.0.1:8080/v1 --model tiny --window 16000
    DOCUMENT_QA_API_KEY=… python examples/document_qa.py --base-url https://api.openai.com/v1 --model gpt-5.1-mini --questions 20

With `--out rows.jsonl` each question is asked several times, branched where much hangs on the next step, and written as rows for training (docs/gpu-training.md). Documents are generated; those of
published benchmarks are asked about with `--family loogle --data FOLDER`. `--cleanup` puts a script around the model that cleans its context up for it.
"""

import argparse
import os
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import anyio

from trimtab.lab.credit.branching import BranchRule
from trimtab.lab.docqa.branching import explore
from trimtab.lab.docqa.cleanup import Cleanup
from trimtab.lab.docqa.desk import Desk, Rules
from trimtab.lab.docqa.outcome import Outcome
from trimtab.lab.docqa.playing import play
from trimtab.lab.docqa.query import Query, queries_of
from trimtab.lab.docqa.scripted_reader import MODEL, ScriptedReader
from trimtab.lab.export.files import RowFile
from trimtab.lab.export.row import SnapshotRow
from trimtab.lab.export.snapshots import Origin, snapshot_rows
from trimtab.lab.tasks.real.registry import real_families
from trimtab.lab.tasks.registry import FAMILIES
from trimtab.lab.tasks.task import Level
from trimtab.providers import Catalogue, open_provider, resolve
from trimtab.providers.http import HttpProvider
from trimtab.providers.provider import Provider
from trimtab.types.config import ProviderConfig
from trimtab.types.models import ModelInfo


@dataclass(frozen=True, slots=True)
class Asked:
    """Who is asked: what is known of the model, and what makes a reader for each rollout."""

    model: ModelInfo
    reader: Callable[[str], Provider]
    live: bool


def who(options: argparse.Namespace) -> Asked:
    """The script, or an endpoint."""
    if not options.base_url:
        return Asked(MODEL, lambda name: ScriptedReader(zlib.crc32(name.encode()) % 97), live=False)
    config = ProviderConfig(
        base_url=options.base_url, api="openai-chat", context_window=options.window, max_output=options.max_output
    )
    found = resolve(f"there/{options.model}", config_providers={"there": config}, catalogue=Catalogue.load())
    endpoint = found.with_key(os.environ.get("DOCUMENT_QA_API_KEY", "")).endpoint
    provider = open_provider(endpoint)
    return Asked(found.model, lambda _name: provider, live=True)


def queries(options: argparse.Namespace) -> Iterator[Query]:
    """Questions, document after document."""
    families = {**FAMILIES, **(real_families(options.data) if options.data else {})}
    if options.family not in families:
        where = (
            f", nor files of one in {options.data}" if options.data else "; those of published benchmarks take --data"
        )
        raise SystemExit(f"no family {options.family!r}{where}; there are {', '.join(families)}")
    level = Level(steps=options.steps, lag=8, distractors=2, tokens=1_200)
    for seed in range(options.seed, options.seed + options.questions):
        yield from queries_of(families[options.family](seed, level))


def rules(options: argparse.Namespace) -> Rules:
    """What the reader may do."""
    return Rules(
        turns=options.turns, window=options.window, max_output=options.max_output, chunk_tokens=options.chunk_tokens
    )


async def ask(query: Query, asked: Asked, options: argparse.Namespace) -> Outcome:
    """Ask once."""
    harness = Cleanup() if options.cleanup else None
    desk = Desk(query, rules(options), asked.model, harness=harness)
    rollout = await play(desk, asked.reader("r0"))
    if desk.error is not None:
        raise SystemExit(f"{asked.model.ref}: {desk.error.message}\n  {desk.error.hint}")
    return rollout.outcome


async def collect(query: Query, asked: Asked, options: argparse.Namespace) -> list[SnapshotRow]:
    """Ask several times, branch, and return the rows."""
    rule = BranchRule(budget=options.rows, rows_per_branch=5, scaled=True, random_share=0.25, where="both")
    found = await explore(
        lambda: Desk(query, rules(options), asked.model),
        asked.reader,
        first=options.rollouts,
        rule=rule,
        at_once=options.at_once,
    )
    tier = "T3" if asked.live else "T0"
    price = next(iter(asked.model.prices), None)
    return list(snapshot_rows(found.tree, Origin("docqa", tier, asked.model.ref, query.seed, price)))


def line(outcome: Outcome) -> str:
    """What came of a question, in one line."""
    looked = "read what it rests on" if outcome.looked else "didn't read what it rests on"
    return (
        f"{outcome.verdict:8} {outcome.ending:9} {outcome.turns:3} turns, {outcome.edits} edits of its own, {outcome.forced_edits} forced, "
        f"peak {outcome.peak_tokens:,} tokens, {looked}"
    )


async def write(options: argparse.Namespace, asked: Asked) -> None:
    """Ask all questions several times and write rows, question after question."""
    with RowFile(options.out) as file:
        for query in islice(queries(options), options.questions):
            before = file.count
            for row in await collect(query, asked, options):
                file.write(row)
            print(f"{query.name}: {file.count - before} rows")
    print(f"{file.count:,} rows in {options.out}")


async def run(options: argparse.Namespace) -> None:
    """Ask all questions."""
    if options.questions < 1:
        raise SystemExit("--questions takes 1 or more")
    asked, total, right = who(options), 0, 0
    if options.out:
        await write(options, asked)
    else:
        for query in islice(queries(options), options.questions):
            outcome = await ask(query, asked, options)
            total += 1
            right += outcome.verdict == "right"
            print(f"{query.question.text}\n  {line(outcome)}\n  {outcome.answer}")
        if not total:
            raise SystemExit(f"tasks of {options.family!r} read no document that could be asked about")
        print(f"{right} of {total} right")
    if asked.live and isinstance(provider := asked.reader(""), HttpProvider):
        await provider.aclose()


def main() -> None:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--questions", type=int, default=5)
    options.add_argument("--seed", type=int, default=0, help="the first document")
    options.add_argument("--steps", type=int, default=30, help="how long the documents are, in parts")
    options.add_argument("--family", default="document-qa")
    options.add_argument("--data", type=Path, help="a folder with published benchmarks")
    options.add_argument(
        "--base-url", help="a server that speaks Chat Completions; without it a script plays the model"
    )
    options.add_argument("--model", default="default", help="the model's name at that server")
    options.add_argument("--window", type=int, default=16_000, help="tokens that a request and its answer may have")
    options.add_argument("--max-output", type=int, default=2_048)
    options.add_argument("--chunk-tokens", type=int, default=1_500)
    options.add_argument("--turns", type=int, default=50)
    options.add_argument("--cleanup", action="store_true", help="a script cleans up; see trimtab.lab.docqa.cleanup")
    options.add_argument("--out", type=Path, help="write rows for training here")
    options.add_argument("--rollouts", type=int, default=8, help="of each question, before it is branched (with --out)")
    options.add_argument("--rows", type=int, default=128, help="of each question, about (with --out)")
    options.add_argument("--at-once", type=int, default=8, help="rollouts at the same time (with --out)")
    anyio.run(run, options.parse_args())


if __name__ == "__main__":
    main()
