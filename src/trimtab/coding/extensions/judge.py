"""Whether the code that a trusted project brings may run: extensions and hook commands, by their content.

    Piece(name, bytes) ──code_decision──▶ as it was trusted ──▶ runs
                                     └──▶ new, or changed ──▶ the person is asked once about all of it, and shown the difference ──▶ yes, once, or not now

Where nobody is there it doesn't run, and a notice says so. The one rule: what was shown is what runs; whoever asks gets the very bytes back.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from trimtab.coding.person import Option, Person, Question
from trimtab.coding.project import Project
from trimtab.coding.telling.hidden import hidden_text
from trimtab.coding.telling.printable import one_path
from trimtab.coding.telling.tables import counted
from trimtab.coding.telling.trust_text import revealed
from trimtab.coding.trust.code import CodeDecision, Items, code_decision, difference, digest_of, trust_code

_SHOWN = 100_000
"""Characters of code that are shown in all."""
_NAMED = 4
YES = Option("yes", "run it, from now on", "you are asked again when it changes")
ONCE = Option("once", "run it this time", "nothing is stored")
LATER = Option("later", "not now", "it isn't loaded; you are asked again next time")
SHOW = Option("show", "show the whole code", "with what is hidden in it, and ask again")


@dataclass(frozen=True, slots=True)
class Judged:
    """The bytes that may run, by name; why others may not; and what a person should be told."""

    allowed: Mapping[str, bytes] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""
    once: frozenset[tuple[str, str]] = frozenset()
    """Name and hash of what may run for this run alone."""


async def judge_code(project: Project, items: Items, person: Person) -> Judged:
    """Judge `items`, asking `person` where something is new or changed. Raises `ConfigError` when the store of decisions is damaged."""
    if not items:
        return Judged()
    store, root = project.home.trust_file, project.trust.root
    decision = await anyio.to_thread.run_sync(code_decision, store, root, items)
    decision = _with_once(decision, project.code_once)
    unreadable = {name: f"it can't be read: {why}" for name, why in decision.unreadable.items()}
    asked = {**decision.new, **decision.changed}
    if not asked:
        return Judged(decision.trusted, unreadable, once=project.code_once)
    answer = await _asked(project, decision, person)
    if answer in (YES.key, ONCE.key):
        if answer == YES.key:
            await anyio.to_thread.run_sync(trust_code, store, project.home.trusted_code, root, asked)
        now = {(name, digest_of(data)) for name, data in asked.items()} if answer == ONCE.key else set()
        return Judged({**decision.trusted, **asked}, unreadable, once=project.code_once | now)
    news = {name: "it is new, and nobody has said that it may run" for name in decision.new}
    changed = {name: "it changed, and nobody has said that it may run so" for name in decision.changed}
    return Judged(decision.trusted, {**unreadable, **news, **changed}, _notice(decision), project.code_once)


def _with_once(decision: CodeDecision, once: frozenset[tuple[str, str]]) -> CodeDecision:
    """The decision, with what was let run for this run among what is trusted."""
    again = {n: d for n, d in {**decision.new, **decision.changed}.items() if (n, digest_of(d)) in once}
    new = {name: data for name, data in decision.new.items() if name not in again}
    changed = {name: data for name, data in decision.changed.items() if name not in again}
    return CodeDecision({**decision.trusted, **again}, new, changed, decision.unreadable)


async def _asked(project: Project, decision: CodeDecision, person: Person) -> str | None:
    details = await anyio.to_thread.run_sync(partial(details_of, project, decision))
    options: Sequence[Option] = (YES, ONCE, LATER, SHOW)
    while True:
        key = await person.ask(
            Question(
                "trust",
                f"Run this code of {one_path(project.trust.root)}? It does what you can do, and runs in this session:",
                tuple(details),
                tuple(options),
                default=LATER.key,
            )
        )
        if key != SHOW.key:
            return key
        details = tuple(texts_of({**decision.new, **decision.changed}))
        options = (YES, ONCE, LATER)


def details_of(project: Project, decision: CodeDecision) -> tuple[str, ...]:
    """Lines about what is new, and the differences of the rest."""
    store, copies, root = project.home.trust_file, project.home.trusted_code, project.trust.root
    lines = [f"{one_path(name)}: new, {counted(len(data), 'byte')}" for name, data in decision.new.items()]
    room = _SHOWN
    for name, data in decision.changed.items():
        shown = difference(store, copies, root, name, data)
        lines.append(
            f"{one_path(name)}: changed since you let it run" + ("" if shown else "; no difference can be shown")
        )
        text = revealed(shown or "")[: max(room, 0)]
        room -= len(text)
        lines += [f"  {line}" for line in text.splitlines()]
    return tuple(lines)


def texts_of(items: Mapping[str, bytes]) -> Iterator[str]:
    """The texts themselves, with what is hidden in them, as far as there is room."""
    room = _SHOWN
    for name, data in items.items():
        if room <= 0:
            yield "and more; look into the files themselves"
            return
        plain = "(no text)" if b"\0" in data else data.decode("utf-8", "replace")
        text = revealed(plain)
        yield f"── {one_path(name)}"
        yield from (f"  hidden in it: {finding}" for finding in hidden_text(plain))
        yield from (f"  {line}" for line in text[:room].split("\n"))
        room -= len(text)


def _notice(decision: CodeDecision) -> str:
    names = [one_path(name) for name in (*decision.new, *decision.changed)]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    what = "changed" if not decision.new else "new" if not decision.changed else "new or changed"
    return (
        f"code of this project doesn't run: {', '.join(names[:_NAMED])}{more} "
        f"{'is' if len(names) == 1 else 'are'} {what}, and you haven't said that it may "
        "(trimtab trust code shows it, and lets it run)"
    )


def name_in(root: Path, path: Path) -> str:
    """What a file of the project `root` is called when it is judged: its path from there on."""
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
