"""Mending: what of a request can be made right without asking anybody.

    thinking ─▶ pairs ─▶ empty messages ─▶ pictures ─▶ (no wire of ours: turns, ids)

The order matters: an answer whose recorded bytes come back may ask for a result again. A mended request has no fixable problem left,
and mending it again changes nothing. Nothing is lost: the log keeps what the view shows otherwise. The engine logs the notes, and
records those of pictures as edits, so that the same bytes go out from then on.
"""

import hashlib
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from msgspec.structs import replace

from trimtab.context.validate.check import is_empty, validate, was_emptied
from trimtab.context.validate.media import Handle, to_hide, without_pictures
from trimtab.context.validate.problems import Problem, ProblemKind
from trimtab.context.validate.rules import WireRules
from trimtab.context.validate.thinking import (
    OPENING,
    Original,
    current_loop_start,
    opens_loop,
    without_dangling,
    without_thinking,
)
from trimtab.context.window.pairs import pair
from trimtab.context.window.stand_ins import has_content, is_stand_in
from trimtab.types.ids import portable_call_id
from trimtab.types.messages import Assistant, Message, Text, ToolCall, ToolResult, User

BEGINNING = "(The conversation began before this point.)"
NO_OUTPUT = "(no output)"
BETWEEN = "(Nothing was said in between.)"

_PAIRS = frozenset(
    {"missing_result", "orphan_result", "extra_result", "misplaced_result", "result_order", "superseded"}
)
_Tracked: TypeAlias = list[tuple[int | None, Message]]
"""Messages with the index that each had before; None for one that mending made."""


@dataclass(frozen=True, slots=True)
class Mended:
    """One repair. `kind` is that of the problem. `message` is the index in what was given, None for a message that had to be made; `part` where it concerns one part."""

    kind: ProblemKind | Literal["image"]
    message: int | None
    text: str
    part: int | None = None


@dataclass(frozen=True, slots=True)
class Mending:
    """The messages as they may go out, what was done, and for each message its index before (None: made here)."""

    messages: tuple[Message, ...]
    notes: tuple[Mended, ...]
    sources: tuple[int | None, ...]

    def original(self, before: Original) -> Original:
        """Return the lookup that fits these messages, made of the one that fitted the given ones."""

        def lookup(index: int) -> Message | None:
            source = self.sources[index]
            return None if source is None else before(source)

        return lookup

    def reachable(self, before: Callable[[int], bool]) -> Callable[[int], bool]:
        """The same for `reachable`; what mending made hides nothing."""

        def lookup(index: int) -> bool:
            source = self.sources[index]
            return True if source is None else before(source)

        return lookup


def mend(
    messages: Sequence[Message],
    *,
    rules: WireRules,
    original: Original | None = None,
    handle: Handle | None = None,
    max_image_age: int | None = None,
    fixed_bytes: int = 0,
) -> Mending:
    """Return `messages` without any fixable problem, and notes of what was changed.

    `original`, `fixed_bytes` as in `validate`. `handle(i)`: the name under which a model can ask for message i again (a result's own
    without it). `max_image_age`: pictures older than so many answers give way to notes too.
    """
    work: _Tracked = list(enumerate(messages))
    notes: list[Mended] = []
    problems = validate(messages, rules=rules, original=original, fixed_bytes=fixed_bytes)
    if any(p.fixable for p in problems):
        work = _mend_thinking(work, problems, rules, original, notes)
        work = _mend_pairs(work, notes)
        work = _mend_empty(work, rules, original, notes)
    work = _mend_pictures(work, rules, handle, notes, max_age=max_image_age, fixed_bytes=fixed_bytes)
    if not rules.wired:
        work = _mend_ids(_mend_turns(work, rules, notes), rules, notes)
    return Mending(tuple(m for _, m in work), tuple(notes), tuple(s for s, _ in work))


def _mend_thinking(
    work: _Tracked, problems: Sequence[Problem], rules: WireRules, original: Original | None, notes: list[Mended]
) -> _Tracked:
    """Give the loop that is going on its recorded answers back; take the thinking of a broken closed loop away."""
    kinds = ("thinking_changed", "thinking_missing", "thinking_partial", "signed_step_changed", "reasoning_follower")
    broken = {int(p.where): p.kind for p in problems if p.kind in kinds}
    if not broken:
        return work
    messages = [m for _, m in work]
    start = current_loop_start(messages)
    out = list(work)
    for i, kind in broken.items():
        recorded = original(i) if original is not None else None
        message = out[i][1]
        if kind == "reasoning_follower" and isinstance(message, Assistant) and without_dangling(message) != message:
            out[i] = (i, without_dangling(message))
            notes.append(Mended(kind, i, "a reasoning item at the end is left out"))
        elif i >= start and isinstance(recorded, Assistant):
            out[i] = (i, without_dangling(recorded))
            notes.append(Mended(kind, i, "a message is shown as it was recorded"))
        else:
            for n in range(*_loop_around(messages, i)):
                before = out[n][1]
                if isinstance(before, Assistant) and (after := without_thinking(before, rules.thinking)) != before:
                    out[n] = (n, after)
                    notes.append(Mended(kind, n, "thinking is left out"))
    return out


def _loop_around(messages: Sequence[Message], index: int) -> tuple[int, int]:
    """The span of the closed loop that holds `index`."""
    first = current_loop_start(messages[:index])
    last = next((n for n in range(index, len(messages)) if opens_loop(messages[n])), len(messages))
    return first, last


def _mend_pairs(work: _Tracked, notes: list[Mended]) -> _Tracked:
    """Put every result behind its call; answer what has none; leave out what answers nothing."""
    messages = [m for _, m in work]
    if not any(p.kind in _PAIRS for p in validate(messages, rules=_PAIRS_ONLY)):
        return work
    sources: dict[int, deque[int | None]] = {}
    for source, message in work:
        sources.setdefault(id(message), deque()).append(source)
    paired, repairs = pair(messages)
    out: _Tracked = [(sources[id(m)].popleft() if sources.get(id(m)) else None, m) for m in paired]
    kept = {source for source, _ in out}
    for source, message in work:
        if source not in kept and not isinstance(message, User):
            notes.append(Mended(_why_left_out(message, repairs.duplicates), source, "a message is left out"))
    for call_id in repairs.interrupted:
        if not any(isinstance(m, ToolResult) and m.call_id == call_id and is_stand_in(m) for m in messages):
            notes.append(Mended("missing_result", None, f"call {call_id!r} is answered as interrupted"))
    order = [s for s, _ in out if s is not None]
    if order != sorted(order):
        notes.append(Mended("misplaced_result", None, "results are put behind their calls, in call order"))
    return out


_PAIRS_ONLY = WireRules("scripted")


def _why_left_out(message: Message, duplicates: Sequence[str]) -> ProblemKind:
    if isinstance(message, ToolResult):
        return "extra_result" if message.call_id in duplicates else "orphan_result"
    if isinstance(message, Assistant) and not message.superseded and not has_content(message):
        return "empty_message"
    return "superseded"


def _mend_empty(work: _Tracked, rules: WireRules, original: Original | None, notes: list[Mended]) -> _Tracked:
    """Show again what an edit emptied; leave out what never said anything. A result stays, because its call needs it."""
    out: _Tracked = []
    for source, message in work:
        if not is_empty(message):
            out.append((source, message))
            continue
        recorded = original(source) if original is not None and source is not None else None
        if recorded is not None and was_emptied(message, recorded):
            out.append((source, recorded))
            notes.append(Mended("empty_message", source, "an empty message is shown as it was recorded"))
        elif not isinstance(message, ToolResult):
            notes.append(Mended("empty_message", source, "an empty message is left out"))
        elif rules.wired:
            out.append((source, message))
        else:
            out.append((source, replace(message, parts=(Text(NO_OUTPUT),))))
            notes.append(Mended("empty_message", source, f"an empty result is shown as {NO_OUTPUT}"))
    return out


def _mend_pictures(
    work: _Tracked,
    rules: WireRules,
    handle: Handle | None,
    notes: list[Mended],
    *,
    max_age: int | None,
    fixed_bytes: int,
) -> _Tracked:
    messages = [m for _, m in work]
    hidden = to_hide(messages, rules.media, fixed_bytes=fixed_bytes, max_age=max_age)
    if not hidden:
        return work

    def name(index: int) -> str | None:
        source = work[index][0]
        return handle(source) if handle is not None and source is not None else None

    shown = without_pictures(messages, hidden, handle=name)
    for i, n in hidden:
        part = shown[i].parts[n]
        notes.append(Mended("image", work[i][0], part.text if isinstance(part, Text) else "", part=n))
    return [(source, message) for (source, _), message in zip(work, shown, strict=True)]


def _mend_turns(work: _Tracked, rules: WireRules, notes: list[Mended]) -> _Tracked:
    """Join neighbours of one role, and begin with the user."""
    out: _Tracked = []
    for source, message in work:
        before = out[-1][1] if out else None
        if not rules.alternates:
            out.append((source, message))
        elif isinstance(before, User) and isinstance(message, User):
            origin = message.origin if message.origin in OPENING else before.origin
            out[-1] = (None, User(before.parts + message.parts, origin=origin))
            notes.append(Mended("alternation", source, "a message is joined with the one before"))
        elif isinstance(before, Assistant) and isinstance(message, Assistant):
            out += [(None, User((Text(BETWEEN),), origin="steering")), (source, message)]
            notes.append(Mended("alternation", source, "a word of the user is put in front"))
        else:
            out.append((source, message))
    if rules.first_user and out and not isinstance(out[0][1], User):
        out.insert(0, (None, User((Text(BEGINNING),), origin="steering")))
        notes.append(Mended("first_role", None, "an opening by the user is put in front"))
    return out


def _mend_ids(work: _Tracked, rules: WireRules, notes: list[Mended]) -> _Tracked:
    """Give every call an id that the provider takes and no other call has; its result follows."""
    out: _Tracked = []
    used: set[str] = set()
    names: dict[str, deque[str]] = {}
    for source, message in work:
        if isinstance(message, Assistant):
            parts = []
            for part in message.parts:
                if isinstance(part, ToolCall):
                    name = _free_id(part.id, rules, used)
                    used.add(name)
                    names.setdefault(part.id, deque()).append(name)
                    if name != part.id:
                        notes.append(Mended("illegal_id", source, f"{part.id!r} is sent as {name!r}"))
                        part = replace(part, id=name)
                parts.append(part)
            message = replace(message, parts=tuple(parts))
        elif isinstance(message, ToolResult) and names.get(message.call_id):
            message = replace(message, call_id=names[message.call_id].popleft())
        out.append((source, message))
    return out


def _free_id(call_id: str, rules: WireRules, used: set[str]) -> str:
    """`call_id` when it is legal and free, else a hash of it; always the same one for the same place."""
    name, n = call_id, 1
    while name in used or not rules.legal_id.fullmatch(name):
        name = _hashed(f"{call_id} #{n}" if n > 1 else call_id, rules)
        n += 1
    return name


def _hashed(seed: str, rules: WireRules) -> str:
    digest = hashlib.sha256(seed.encode("utf-8", "surrogatepass")).hexdigest()
    whole = portable_call_id(f"{seed} ")  # a blank is legal nowhere, so this is always the hash
    candidates = (whole, *(digest[:size] for size in range(len(digest), 0, -1)))
    return next((c for c in candidates if rules.legal_id.fullmatch(c)), whole)
