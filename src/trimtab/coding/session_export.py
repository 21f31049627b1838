"""A session of this user, written down for others.

SESSION ──▶ log, read only ──▶ story ──▶ html | md | openai | anthropic | jsonl, as bytes
"""

import re
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Literal, TypeAlias, assert_never

from trimtab.coding.logs import session_folder
from trimtab.coding.project import Project
from trimtab.coding.session_list import cost_of, prices_of
from trimtab.context.stores.bodies import Bodies
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.summary import summarise
from trimtab.sessions.export.branches import branches_of
from trimtab.sessions.export.facts import facts_of
from trimtab.sessions.export.lines import session_lines, vendor_lines
from trimtab.sessions.export.markdown import markdown
from trimtab.sessions.export.page import page
from trimtab.sessions.export.story import story_of
from trimtab.sessions.export.told import Told
from trimtab.types.errors import UsageError

Format: TypeAlias = Literal["html", "md", "openai", "anthropic", "jsonl"]
ENDINGS: dict[Format, str] = {"html": ".html", "md": ".md", "openai": ".openai.jsonl", "anthropic": ".anthropic.jsonl", "jsonl": ".jsonl"}  # fmt: skip
"""How a file of each format is called."""
_ENDING = re.compile(r"\.[a-z][a-z0-9]{0,7}")
"""What looks like the ending of a format: `talk 2.1` has none."""


def format_of(name: str | None) -> Format:
    """The format that a file of that name has; the longest ending decides, and html is what a name without one means. Raises `UsageError` for an ending of something else."""
    folded = (name or "").strip().lower()
    fitting: list[Format] = [one for one in ENDINGS if folded.endswith(ENDINGS[one])]
    fitting += ["md"] if folded.endswith(".markdown") else ["html"] if folded.endswith(".htm") else []
    ending = PurePath(folded).suffix
    if not fitting and _ENDING.fullmatch(ending):
        known = ", ".join(ENDINGS.values())
        raise UsageError(
            f"a session isn't written down as {ending}",
            hint=f"Give the file one of these endings: {known}; or name the format.",
        )
    return max(fitting, key=lambda one: len(ENDINGS[one]), default="html")


def export(project: Project, path: Path, format: Format, *, told: Told | None = None) -> Iterator[bytes]:
    """Yield the session in the file `path`, without secrets; a page has what the model was `told` beside it, which whoever has it open knows. Raises `SessionError` when it can't be read, before anything is yielded."""
    folder = session_folder(project)
    log = folder.open(path, read_only=True)
    try:
        yield from _written(project, log, folder.bodies_of(path), format, told)
    finally:
        log.close()


def _written(project: Project, log: SessionLog, bodies: Bodies, format: Format, told: Told | None) -> Iterator[bytes]:
    assert log.path is not None
    match format:
        case "html" | "md":
            steps = story_of(log.archive, bodies)
            summary = summarise(log.path)
            facts = facts_of(summary, steps, cost_usd=cost_of(project, summary))
            shown = (
                page(facts, steps, branches_of(log.archive, bodies), prices=prices_of(project), told=told)
                if format == "html"
                else markdown(facts, steps)
            )
            yield from (piece.encode("utf-8", "replace") for piece in shown)
        case "openai" | "anthropic":
            yield from vendor_lines(log.archive, bodies, format)
        case "jsonl":
            yield from session_lines(log.header, log.archive, bodies)
        case _:
            assert_never(format)
