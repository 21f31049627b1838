"""Files in the shapes of published benchmarks, with sentences of ours in them."""

import gzip
import json
from pathlib import Path

WORDS = "Rivers bend where the ground is soft, and mills were built at the bends. "


def packed(path: Path, text: str) -> None:
    """Write a text, packed where the name ends in `.gz`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def lines(path: Path, *rows: object) -> None:
    """Write a line for each row."""
    packed(path, "".join(json.dumps(row) + "\n" for row in rows))


def write_published(folder: Path) -> Path:
    """Write files in the shapes of all benchmarks, a few rows each; return the folder."""
    documents = [
        {
            "id": f"doc_{n}",
            "title": f"Card {n}",
            "content": f"## Fees\n\nCard number {n} costs {n}5 crowns.\n\n{WORDS * 3}{n}",
        }
        for n in range(9)
    ]
    lines(folder / "tau2-banking/documents.jsonl.gz", *documents)
    case = {
        "user_scenario": {"instructions": "You are Lena and want a cheap card."},
        "evaluation_criteria": {"actions": [{"name": "apply", "arguments": {"card": "costs crowns number"}}]},
        "required_documents": ["doc_3", "doc_5", "doc_nowhere"],
    }
    packed(folder / "tau2-banking/tasks.json.gz", json.dumps([case]))
    pairs = [[[f"key-{r}-{n}", f"value-{r}{n}-{'x' * 20}", 2] for n in range(20)] for r in range(8)]
    lines(
        folder / "lost-in-the-middle/kv-retrieval-75_keys.jsonl.gz",
        *({"ordered_kv_records": row, "key": row[9][0], "value": row[9][1]} for row in pairs),
    )
    lines(
        folder / "lost-in-the-middle/nq-open-oracle.jsonl.gz",
        *(
            {
                "question": f"who built mill {n}",
                "answers": [f"Miller {n}", f"M. {n}"],
                "ctxs": [
                    {
                        "title": f"Mill {n}",
                        "text": f"{WORDS}The mill was built by Miller {n} in 17{n}0. {WORDS}",
                        "isgold": True,
                    }
                ],
            }
            for n in range(10, 20)
        ),
    )
    text = (
        WORDS * 5
        + "The lock keeper was called Anselm\nTorrey. "
        + WORDS * 5
        + "It closed in the year 1931 for good. "
        + WORDS * 5
    )
    asked = [
        {"Q": "Who kept the lock?", "A": "Anselm Torrey", "S": "The lock keeper was called Anselm Torrey."},
        {
            "Q": "When did it close?",
            "A": "1931",
            "S": ["It never stood anywhere.", "It closed in the year 1931 for good."],
        },
        {"Q": "What is missing?", "A": "all", "S": "No such sentence stands in it."},
    ]
    lines(
        folder / "loogle/shortdep_qa.jsonl.gz",
        {"input": text, "title": "The lock", "qa_pairs": repr(asked), "output": "none"},
    )
    with (folder / "loogle/shortdep_qa.jsonl.gz").open("ab") as out:
        out.write(gzip.compress(b'{"input": "broken \\c line"\n'))
    told = [
        f"My {thing} is kept at number {n} of the lane."
        for n, thing in enumerate(("boat", "cart", "goat", "plough", "sail"), 11)
    ]
    lines(
        folder / "bfcl/memory_prereq_conversation/memory_customer.json",
        {"id": "p-0", "topic": "t", "question": [[{"role": "user", "content": text}] for text in told]},
    )
    lines(
        folder / "bfcl/BFCL_v4_memory.json",
        {"id": "m-0", "question": [[{"role": "user", "content": "Where is my boat?"}]], "scenario": "customer"},
        {"id": "m-1", "question": [[{"role": "user", "content": "Where is my goat?"}]], "scenario": "customer"},
    )
    lines(
        folder / "bfcl/possible_answer/BFCL_v4_memory.json",
        {"id": "m-0", "ground_truth": ["11", "eleven"], "source": "...My boat is kept at number 11..."},
        {"id": "m-1", "ground_truth": ["13"], "source": "a quote that stands nowhere"},
    )
    return folder
