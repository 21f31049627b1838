"""A batch: files in, a report out.

paths ──expanded──▶ files ──read──▶ recordings ──replay──▶ entries ──▶ {"policy", "window", "files", "total"}
                       └ unreadable ──▶ an entry {file, error}; the others go on
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import msgspec

from trimtab.context.budget import budget_for
from trimtab.context.policies.base import Policy
from trimtab.sessions.detect import FORMATS, contradicted, find_recordings, read_recordings
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.dump import dumped
from trimtab.sessions.replay.models import Terms, Window, model_of, window_holding, window_of
from trimtab.sessions.replay.report import Figures, Predictions, figures_of, pooled, predictions_of, total_of
from trimtab.sessions.replay.run import Plan, Run, prepare, replay
from trimtab.sessions.source import ImportFailed

Write: TypeAlias = Callable[[bytes], object]
STDIN = "-"


@dataclass(frozen=True, slots=True)
class Input:
    """A file by name, or what stood on standard input."""

    name: str
    origin: Path | bytes


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be done with every file. `dump` gets the lines of a dump; None: none is wanted. `predict`: sizes and cache are predicted too."""

    policy: Policy
    terms: Terms = field(default_factory=Terms)
    format: str | None = None
    dump: Write | None = None
    predict: bool = True


@dataclass(frozen=True, slots=True)
class Entry:
    """What came of one recording, or why there was none."""

    file: str
    recording: Recording | None = None
    window: Window | None = None
    figures: Figures | None = None
    predictions: Predictions | None = None
    error: str = ""
    hint: str = ""
    """What to do about the error."""
    notes: tuple[str, ...] = ()
    """What a person should know of how it was read or replayed."""
    room: int = 0
    """What of the window a request may have, in tokens: `overflows` counts those with more."""

    def as_data(self) -> dict[str, Any]:
        """The entry of the report."""
        if self.recording is None or self.figures is None:
            return {"file": self.file, "error": self.error}
        head = {
            "file": self.file,
            "format": self.recording.format,
            "model": self.recording.model,
            "session": self.recording.id,
            "window": self.window.tokens if self.window else None,
            "bad_lines": self.recording.bad_lines,
            "notes": [*self.notes, *self.recording.notes],
        }
        more = {} if self.predictions is None else self.predictions.as_data()
        return {**head, **msgspec.to_builtins(self.figures), **more}


@dataclass(frozen=True, slots=True)
class Report:
    """All entries under one policy. `window`: the one that was asked for; None: each file's own."""

    policy: str
    window: int | None
    entries: tuple[Entry, ...]

    @property
    def total(self) -> Figures:
        """The figures of all files that could be read."""
        return total_of(e.figures for e in self.entries if e.figures is not None)

    @property
    def failed(self) -> tuple[Entry, ...]:
        """Entries of files that couldn't be read."""
        return tuple(e for e in self.entries if e.figures is None)

    def as_data(self) -> dict[str, Any]:
        """The object that `--json` prints."""
        predictions = [e.predictions for e in self.entries if e.predictions is not None]
        more = pooled(predictions).as_data() if predictions or not self.entries else {}
        return {
            "policy": self.policy,
            "window": self.window,
            "files": [entry.as_data() for entry in self.entries],
            "total": {**msgspec.to_builtins(self.total), **more},
        }


def expanded(names: Iterable[str], stdin: Callable[[], bytes]) -> Iterator[Input]:
    """Yield the files that `names` stand for: folders give all sessions below them, `-` what stands on standard input."""
    for name in names:
        if name == STDIN:
            yield Input("-", stdin())
        elif _is_folder(name):
            yield from (Input(str(path), path) for path in find_recordings(Path(name)))
        else:
            yield Input(name, Path(name))


def _is_folder(name: str) -> bool:
    try:
        return Path(name).is_dir()
    except OSError:  # a name that no file can have; reading it says so
        return False


def replayed(inputs: Iterable[Input], wish: Wish) -> Iterator[Entry]:
    """Replay one file after the other; yield an entry for each session in it."""
    for one in inputs:
        try:
            recordings = read_recordings(one.origin, wish.format, name=one.name)
            notes = _misread(one, wish.format)
        except ImportFailed as error:
            yield Entry(one.name, error=error.message, hint=error.hint)
            continue
        for recording in recordings:
            yield _entry(one.name, recording, wish, notes)


def report_of(policy: str, entries: Sequence[Entry], terms: Terms) -> Report:
    """Put entries together."""
    return Report(policy, terms.window, tuple(entries))


def _misread(one: Input, format: str | None) -> tuple[str, ...]:
    """What to say of a file that is read as `format` although its content is certainly another one's."""
    found = None if format is None else contradicted(one.origin, format, name=one.name)
    if format is None or found is None:
        return ()
    return (
        f"read as {FORMATS[format].title}, as --format says, but its content is that of {found.title} ({found.name})",
    )


def _notes(recording: Recording, run: Run, plan: Plan) -> tuple[str, ...]:
    bad = recording.bad_lines
    notes = (
        [f"{bad:,} {'line was' if bad == 1 else 'lines were'} damaged; what could be read of the file was"]
        if bad
        else []
    )
    if run.unasked:
        notes.append("the remote policy was not asked, for a replay is offline; the rules decided in its place")
    if any(step.overflow for step in run.steps) and not plan.unmanaged:
        notes.append(_too_large(run, plan))
    return tuple(notes)


def _too_large(run: Run, plan: Plan) -> str:
    """What to say of requests that no edit makes fit, and which window would hold them."""
    over, stays = sum(step.overflow for step in run.steps), max(step.stays for step in run.steps)
    hidden = f"; {run.hidden:,} of them are system prompt and tools that the file doesn't show" if run.hidden else ""
    return (
        f"{over:,} of {len(run.steps):,} requests don't fit a window of {plan.model.context_window:,} tokens whatever is taken out: what must stay, such as"
        f" system prompt, tools and what the user said last, has up to {stays:,}{hidden}. They are counted and priced as if they had been sent."
        f" Take --window {window_holding(stays, plan.model, plan.settings.thresholds)} or more"
    )


def _entry(name: str, recording: Recording, wish: Wish, notes: tuple[str, ...]) -> Entry:
    model, window = model_of(recording, wish.terms), window_of(recording, wish.terms)
    plan = Plan(wish.policy, model, items=wish.dump is not None)
    run = replay(prepare(recording), plan)
    if wish.dump is not None:
        for line in dumped(name, run):
            wish.dump(line)
    predictions = predictions_of(recording, model) if wish.predict else None
    room = budget_for(model, plan.settings.thresholds).room
    told = (*notes, *_notes(recording, run, plan))
    return Entry(name, recording, window, figures_of(run), predictions, notes=told, room=room)
