"""The page about the format names what the code can find wrong (`tests/docs` compares the rest of it)."""

import sys
from pathlib import Path

from trimtab.context.archive import Archive
from trimtab.context.stores import scan

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "session-format.md"


def test_the_page_names_every_kind_of_damage():
    sources = "".join(Path(module.__file__).read_text() for module in (scan, sys.modules[Archive.__module__]))
    kinds = {piece.split('"')[0] for piece in sources.split('Damage("')[1:]} | {"refused", "salvaged", "unreadable"}
    assert len(kinds) == 10
    assert all(f"| `{kind}` |" in PAGE.read_text() for kind in kinds)
