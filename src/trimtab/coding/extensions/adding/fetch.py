"""From what a person typed to extensions in memory, and from those to lines that a person reads before saying yes.

    "https://…" ──source──▶ a tree of git, or of the disk ──offers──▶ Fetched ──▶ lines: names, files, hashes, what they register, what is missing

The one rule: nothing of it is run, and nothing is written but a folder that is gone at the end.
"""

import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.extensions.adding.git import git_tree
from trimtab.coding.extensions.adding.offer import Offer, offers
from trimtab.coding.extensions.adding.record import Added
from trimtab.coding.extensions.adding.source import read_source
from trimtab.coding.extensions.adding.tree import folder_tree
from trimtab.coding.telling.printable import one_path
from trimtab.coding.telling.tables import counted
from trimtab.coding.telling.trust_text import revealed
from trimtab.coding.tools.diffs import unified
from trimtab.coding.trust.code import digest_of

_SHOWN_HASH = 12
_LONGEST_DIFF = 40_000


@dataclass(frozen=True, slots=True)
class Fetched:
    """What a source holds now. `origin` is where it came from, without files."""

    offers: tuple[Offer, ...]
    origin: Added


def fetch(text: str, ref: str, cwd: Path) -> Fetched:
    """Fetch the extensions of the source `text`. Raises `UsageError`."""
    source = read_source(text, ref, cwd)
    if not source.protocol:
        tree = folder_tree(Path(source.text))
        return Fetched(offers(tree, source.name), Added(source.text))
    with tempfile.TemporaryDirectory(prefix="trimtab-fetch-", ignore_cleanup_errors=True) as folder:
        fetched = git_tree(source, Path(folder))
        return Fetched(offers(fetched, source.name), Added(source.text, ref, fetched.commit))


def origin_text(origin: Added) -> str:
    """Where it came from, in words."""
    ref = f" {origin.ref}" if origin.ref else ""
    commit = f" at {origin.commit[:_SHOWN_HASH]}" if origin.commit else ""
    return one_path(f"{origin.source}{ref}{commit}")


def offer_lines(offer: Offer) -> Iterator[str]:
    """What would come, and what of it would act."""
    yield f"{offer.name}{'/' if offer.package else '.py'}"
    for path, data in offer.files.items():
        yield f"  {one_path(path)}: {counted(len(data), 'byte')}, sha256 {digest_of(data)[:_SHOWN_HASH]}"
    yield f"  registers, by its text: {one_path(', '.join(offer.registers)) or 'nothing that can be read from it'}"
    if offer.missing:
        yield from missing_lines(offer)


def missing_lines(offer: Offer) -> Iterator[str]:
    """What it imports that isn't installed, and the next step; requirements are never installed."""
    names = ", ".join(map(one_path, offer.missing))
    yield f"  it imports what isn't installed here, and isn't loaded before it is: {names}"
    if "requirements.txt" in offer.files:
        yield "  it has a requirements.txt, which is not followed; look into it"
    yield f"  install what you trust, as in: {shlex.join([sys.executable or 'python', '-m', 'pip', 'install'])} PACKAGE"


def change_lines(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[str]:
    """The difference of two states of one extension, with what is hidden in it."""
    room = _LONGEST_DIFF
    for path in sorted({*old, *new}):
        before, after = old.get(path), new.get(path)
        if before == after:
            continue
        what = "new" if before is None else "gone" if after is None else "changed"
        yield f"  {one_path(path)}: {what}"
        if b"\0" in (before or b"") + (after or b""):
            continue
        text = unified(
            (before or b"").decode("utf-8", "replace"), (after or b"").decode("utf-8", "replace"), size=_LONGEST_DIFF
        )
        shown = revealed(text or "")[:room]
        room -= len(shown)
        yield from (f"    {line}" for line in shown.splitlines())
