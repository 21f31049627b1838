"""The families of real tasks, as far as a folder holds their files."""

from functools import partial
from pathlib import Path

from trimtab.lab.tasks.real import bfcl, loogle, middle, tau2
from trimtab.lab.tasks.task import Family

_FILES = {
    tau2.NAME: ("tau2-banking/documents.jsonl.gz", tau2.make),
    middle.PAIRS: (f"{middle.FOLDER}/kv-retrieval-75_keys.jsonl.gz", middle.pairs),
    middle.PASSAGES: (f"{middle.FOLDER}/nq-open-oracle.jsonl.gz", middle.passages),
    loogle.NAME: ("loogle/shortdep_qa.jsonl.gz", loogle.make),
    bfcl.NAME: ("bfcl/BFCL_v4_memory.json", bfcl.make),
}
REAL = tuple(_FILES)
"""The names of all families of real tasks."""


def real_families(folder: Path) -> dict[str, Family]:
    """Return the families whose files are in `folder`, by name. Their tasks raise `ValueError` at a level that has no room."""
    return {name: partial(make, folder) for name, (file, make) in _FILES.items() if (folder / file).is_file()}
