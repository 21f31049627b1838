"""One session in one line of a list: what it is about, where, how old, how large.

Read in one pass without decoding bodies: of an answer only its usage, of the first prompt its first line. Prices are the caller's
matter, so usage is given by model, and request by request: a price may depend on the size of each.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from trimtab.context.archive import Archive
from trimtab.context.stores.jsonl import SessionFile
from trimtab.context.stores.written import Written, written_in
from trimtab.types.codec import Entry
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import User
from trimtab.types.models import Price, add_costs, cost_usd
from trimtab.types.usage import Usage

_TITLE = 80
_READ = 2_000
"""Characters of a first line that are looked at."""


Ended: TypeAlias = Literal["empty", "answered", "cut", "refused", "failed", "stopped", "unfinished"]
"""How the last turn ended, as far as its file says. `unfinished`: no answer stands at the end; it may be at work, wait for a person, or have been killed."""
_NOT_ASKED = ("command", "note")
"""Messages to which nobody owes an answer: what a person ran, what the program noted."""
_ENDS: dict[str, Ended] = {
    "stop": "answered",
    "length": "cut",
    "refused": "refused",
    "error": "failed",
    "cancelled": "stopped",
}


@dataclass(frozen=True, slots=True)
class SessionSummary:
    """What a list shows of a session.

    `title` is the one that was given, else the first prompt; `model` (`provider/model`) answered last; `cwd` is the one recorded last; `created` is as the file
    says, `modified` that of the file; `ended` is about the branch in use; `answers` maps `provider/model` to what was reported for each answer, `summaries` are the requests beside them; `damage`
    counts what opening it would repair; `archived`: it was put away, and lists leave it out. Title and prompt hold no secrets: lists are copied and shown.
    """

    id: str
    path: Path
    cwd: str
    title: str
    created: str
    modified: datetime
    entries: int
    answers: dict[str, tuple[Usage, ...]]
    summaries: tuple[Written, ...]
    parent_session: str | None
    damage: int
    prompt: str = ""
    model: str = ""
    ended: Ended = "empty"
    archived: bool = False

    @property
    def usage(self) -> Usage:
        """What was reported for all requests, those for summaries too: what the results of its turns add up to."""
        answers = (usage for usages in self.answers.values() for usage in usages)
        return sum((*answers, *(written.usage for written in self.summaries)), Usage())

    @property
    def tokens(self) -> int:
        """Everything sent and received, in tokens."""
        return self.usage.prompt + self.usage.output

    def cost_usd(self, prices: Callable[[str], tuple[Price, ...]]) -> float | None:
        """What all of it cost, request by request; None when a price isn't known, or nothing was asked. `prices` are those of a `provider/model`."""
        costs = [cost_usd(usage, prices(model)) for model, usages in self.answers.items() for usage in usages]
        costs += [written.usd for written in self.summaries]
        return add_costs(*costs) if costs else None


class _Answer(msgspec.Struct):
    role: str
    usage: Usage | None = None
    model: str = ""
    provider: str = ""
    stop_reason: str = ""
    origin: str = "prompt"


class _Line(msgspec.Struct):
    message: _Answer


_line = msgspec.json.Decoder(_Line)


def summarise(path: Path) -> SessionSummary:
    """Read one session for a list. Raises `SessionError` when it can't be read."""
    return summary_of(SessionFile.read(path), modified_at(path))


def summary_of(file: SessionFile, modified: float) -> SessionSummary:
    """Sum up a file that is read already; `modified` in seconds since 1970."""
    path = file.path
    archive = Archive()
    answers: dict[str, list[Usage]] = {}
    summaries: list[Written] = []
    prompt = model = ""
    for number, entry in file.found.numbered():
        if archive.add(entry, line=number) is None:
            continue
        if (written := written_in(entry)) is not None:
            summaries.append(written)
        if entry.type != "message":
            continue
        answer = _answer(entry)
        if answer is None or (answer.role == "user" and not prompt):
            prompt = prompt or _prompt(entry)
        elif answer.role == "assistant":
            model = f"{answer.provider}/{answer.model}" if answer.model else model
            if answer.usage is not None:
                answers.setdefault(f"{answer.provider}/{answer.model}", []).append(answer.usage)
    return SessionSummary(
        id=file.header.id,
        path=path,
        cwd=archive.cwd or file.header.cwd,
        title=_plain(archive.title or prompt),
        prompt=_plain(prompt),
        model=model,
        created=file.header.created,
        modified=datetime.fromtimestamp(modified, UTC),
        entries=len(archive),
        answers={model: tuple(usages) for model, usages in answers.items()},
        summaries=tuple(summaries),
        parent_session=file.header.parent_session,
        damage=len(file.found.damage) + len(archive.damage),
        ended=_ended(archive),
        archived=archive.archived,
    )


def _ended(archive: Archive) -> Ended:
    at = archive.leaf
    while at is not None and (entry := archive.get(at)) is not None:
        said = _answer(entry) if entry.type == "message" else None
        if said is not None and said.origin not in _NOT_ASKED:
            return _ENDS.get(said.stop_reason, "unfinished")
        at = entry.parent
    return "empty"


def modified_at(path: Path) -> float:
    """Return when a file was written last, in seconds since 1970; 0 when nobody can say."""
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def modified_ns(path: Path) -> int:
    """Return when a file was written last, in nanoseconds since 1970; 0 when nobody can say."""
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def _answer(entry: Entry) -> _Answer | None:
    try:
        return _line.decode(entry.raw).message
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None


def _prompt(entry: Entry) -> str:
    """The first line of a user's prompt, or the name of its file; empty for any other message."""
    if not isinstance(value := entry.value, MessageEntry) or not isinstance(value.message, User):
        return ""
    text = next(filter(str.strip, value.message.said), "")
    return text.strip().partition("\n")[0]


def _plain(title: str) -> str:
    """One short line without control characters and secrets: a title is shown in terminals."""
    if not title:
        return ""
    from trimtab.context.summary.redact import redact  # noqa: PLC0415 - whoever goes on with a session needs no patterns

    title = redact(title[:_READ])
    return " ".join("".join(c if c.isprintable() else " " for c in title).split())[:_TITLE]
