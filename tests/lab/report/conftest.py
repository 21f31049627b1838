"""One set of made rows for all tests that only look at what is said of them."""

import pytest

pytest.importorskip("numpy", reason="a report needs numpy")

from support.bench_rows import ablation, full, runs
from trimtab.lab.report.evidence import Block, blocks_of
from trimtab.lab.report.reading import Found


@pytest.fixture(scope="session")
def found() -> Found:
    """Three tiers, both parts of the suite, and an ablation."""
    return Found(tuple(full(6)), ablation(), runs=runs())


@pytest.fixture(scope="session")
def blocks(found: Found) -> dict[str, Block]:
    """Its blocks by name."""
    return {block.name: block for block in blocks_of(found.rows)}
