"""The terms of a `GLOSSARY.md`: `**word**: what it means`, one a line."""

import difflib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path

_TERM = re.compile(r"\*\*(?P<term>[^*\n]+)\*\*:?\s*(?P<text>[^\n]+)")


def read_terms(folder: Path) -> Mapping[str, str]:
    """The terms in the folder's glossary, by their folded names; none without one."""
    try:
        text = (folder / "GLOSSARY.md").read_text("utf-8", errors="replace")
    except OSError:
        return {}
    return {found["term"].casefold(): f"{found['term']}: {found['text'].strip()}" for found in _TERM.finditer(text)}


def nearest(term: str, terms: Iterable[str]) -> list[str]:
    """The terms that are spelt alike."""
    return difflib.get_close_matches(term.casefold(), list(terms), n=3, cutoff=0.5)
