"""Observing: from a view to what a policy sees.

    look + references + resources + what was done lately ──observe──▶ Observation

Costs a pass over what is shown, and is only made when a policy or the ladder is asked; below the soft threshold nobody asks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.naming import body_of
from trimtab.context.recall.words import index_words
from trimtab.context.seeing.observation import ItemFacts, ItemKind, Observation, Prices
from trimtab.context.seeing.references import References
from trimtab.context.seeing.resources import Resource, resource_of
from trimtab.context.strings import arguments_text
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import Shown, View
from trimtab.types.edits import Expire, Restate
from trimtab.types.messages import Assistant, Message, ToolCall, ToolResult, User

_RECENT = 3
"""Answers whose words count as what is going on now."""
_OVERLAP_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Circumstances:
    """What a view alone doesn't tell. `sent`: messages that a request carried as they are; `since`: requests since each kind of action."""

    sent: int = 0
    cached: int = 0
    cold: bool = False
    remaining: float = 0.0
    prices: Prices | None = None
    since: Mapping[str, int] = field(default_factory=dict)
    last_actions: Sequence[Action] = ()
    restored: Mapping[str, int] = field(default_factory=dict)
    """Slot id to the step at which somebody brought it back."""
    regret: Callable[[Slot], float] = field(default=lambda _slot: 0.0)


@dataclass(slots=True)
class Observer:
    """Keeps what needs more than one look: who used what."""

    references: References = field(default_factory=References)
    words: dict[str, frozenset[str]] = field(default_factory=dict)
    """Words of a result, by the id of its slot."""
    resources: dict[str, Resource | None] = field(default_factory=dict)
    """What a result is about, by the id of its slot."""

    def observe(self, look: Look, circumstances: Circumstances) -> Observation:
        """Return the context as plain data."""
        view, budget = look.view, look.budget
        self.references.update(view)
        facts = _Facts(look, circumstances, self)
        return Observation(
            step=view.step,
            used=look.used,
            fixed=look.fixed,
            window=budget.window,
            room=budget.room,
            soft=budget.soft,
            target=budget.target,
            hard=budget.hard,
            items=facts.items(),
            reserve=budget.reserve,
            soft_given=budget.soft_given,
            target_given=budget.target_given,
            prices=circumstances.prices,
            cached=circumstances.cached,
            cold=circumstances.cold,
            remaining=circumstances.remaining,
            since=dict(circumstances.since),
            last_actions=tuple(circumstances.last_actions),
            goal=facts.goal[:2_000],
        )


class _Facts:
    """One pass over what is shown."""

    def __init__(self, look: Look, circumstances: Circumstances, observer: Observer) -> None:
        self.look = look
        self.view = look.view
        self.circumstances = circumstances
        self.references = observer.references
        self._words = observer.words
        self.goal = _goal(look.view)
        self._goal_words = frozenset(index_words(self.goal))
        self._recent_words = frozenset(index_words(_recent(look.view)))
        self._resources = observer.resources
        self._newer, self._first = _staleness(look.view, self._resource)
        self._newer |= _said_again(look.view)

    def items(self) -> tuple[ItemFacts, ...]:
        made: list[ItemFacts] = []
        offset = 0
        for position, (shown, tokens) in enumerate(self.look.sizes()):
            made.append(self._item(shown, tokens, position, offset))
            offset += tokens
        return tuple(made)

    def _item(self, shown: Shown, tokens: int, position: int, offset: int) -> ItemFacts:
        slot = self.view.slots[shown.place]
        if shown.lead:
            return ItemFacts(
                id=slot.lead or slot.id,
                kind="summary",
                state="summary",
                tokens=tokens,
                full_tokens=tokens,
                age=self.view.step - slot.step,
                position=position,
                offset=offset,
                turn=slot.turn,
                sent=position < self.circumstances.sent,
                pinned=slot.pinned,
            )
        base = slot.base
        use = self.references.uses.get(slot.id)
        result = base if isinstance(base, ToolResult) else None
        goal, recent = self._overlaps(slot)
        restored = self.circumstances.restored.get(slot.id)
        return ItemFacts(
            id=slot.id,
            kind=kind_of(slot),
            state=slot.state,
            tokens=tokens,
            full_tokens=tokens if slot.state == "full" else self.look.tally.message(base),
            age=self.view.step - slot.step,
            position=position,
            offset=offset,
            turn=slot.turn,
            handle=result.handle if result else None,
            tool=result.tool_name if result else None,
            call_id=result.call_id if result else None,
            group=self.view.slots[slot.group].id if slot.group is not None else None,
            resource=resource.key if (resource := self._resource(slot)) else None,
            arguments=_argument_tokens(shown.message, self.look.tally.text),
            sent=position < self.circumstances.sent,
            pinned=slot.pinned,
            is_error=bool(result and result.is_error),
            failed_input=self._failed(shown.place, base),
            superseded_by=self._newer.get(shown.place),
            duplicate_of=self._first.get(shown.place),
            expired=self._expired(slot),
            restored=None if restored is None else self.view.step - restored,
            referenced=use.count if use else 0,
            last_used=self.view.step - use.last_step if use else None,
            goal_overlap=goal,
            recent_overlap=recent,
            regret=self.circumstances.regret(slot),
        )

    def _overlaps(self, slot: Slot) -> tuple[float, float]:
        if not isinstance(slot.base, ToolResult):
            return 0.0, 0.0
        own = self._words.get(slot.id)
        if own is None:
            own = self._words[slot.id] = frozenset(index_words(body_of(slot.base)[:_OVERLAP_CHARS]))
        if not own:
            return 0.0, 0.0
        return len(own & self._goal_words) / len(own), len(own & self._recent_words) / len(own)

    def _resource(self, slot: Slot) -> Resource | None:
        if slot.id not in self._resources or not slot.answered:
            self._resources[slot.id] = _resource(self.view, slot)
        return self._resources[slot.id]

    def _failed(self, place: int, base: Message) -> bool:
        """All its calls failed: their arguments are worth nothing any more."""
        if not isinstance(base, Assistant) or not base.tool_calls:
            return False
        results = [self.view.slots[i].base for i in self.view.group(place)][1:]
        return all(isinstance(r, ToolResult) and r.is_error for r in results)

    def _expired(self, slot: Slot) -> bool:
        applied = self.view.edit(slot.expires) if slot.expires else None
        if applied is None or not isinstance(applied.edit, Expire):
            return False
        edit = applied.edit
        late = edit.after_steps is not None and self.view.step - applied.step >= edit.after_steps
        return late or (edit.when_superseded and self._newer.get(_place(self.view, slot)) is not None)


def _place(view: View, slot: Slot) -> int:
    address = view.find(slot.id)
    return address.index if address else -1


def kind_of(slot: Slot) -> ItemKind:
    """What an item is."""
    if slot.note:
        return "note"
    if isinstance(slot.base, ToolResult):
        return "result"
    return "assistant" if isinstance(slot.base, Assistant) else "user"


def _goal(view: View) -> str:
    """What the user asked for: the first prompt and the newest."""
    prompts = [
        s.base for s in view.slots if isinstance(s.base, User) and s.base.origin in ("prompt", "steering", "follow_up")
    ]
    chosen = prompts[:1] + prompts[-1:] if len(prompts) > 1 else prompts
    return "\n".join(body_of(message)[:4_000] for message in chosen)


def _recent(view: View) -> str:
    texts: list[str] = []
    answers = 0
    for index in range(len(view.slots) - 1, -1, -1):
        base = view.slots[index].base
        if isinstance(base, Assistant):
            texts.append(body_of(base)[:4_000])
            texts += [arguments_text(part)[:2_000] for part in base.parts if isinstance(part, ToolCall)]
            answers += 1
            if answers == _RECENT:
                break
    return "\n".join(texts)


def _resource(view: View, slot: Slot) -> Resource | None:
    if slot.group is None or not isinstance(slot.base, ToolResult):
        return None
    answer = view.slots[slot.group].base
    calls = answer.tool_calls if isinstance(answer, Assistant) else ()
    call = next((c for c in calls if c.id == slot.base.call_id), None)
    return resource_of(call) if call else None


def _staleness(view: View, resource_for: Callable[[Slot], Resource | None]) -> tuple[dict[int, str], dict[int, str]]:
    """For each result that something newer replaces, the id of that; for each that repeats an earlier one word for word, the id of the first.

    A file that was read again, whole or the same lines, or that was written since; the same call made again without an error.
    """
    newer: dict[int, str] = {}
    first: dict[int, str] = {}
    texts: dict[tuple[str, str], tuple[int, str]] = {}
    latest: dict[str, int] = {}
    readers: dict[str, list[int]] = {}
    for index, slot in enumerate(view.slots):
        resource = resource_for(slot) if slot.answered else None
        if resource is None or not isinstance(slot.base, ToolResult):
            continue
        if slot.base.is_error:
            continue
        if resource.writes and resource.path:
            for place in readers.pop(resource.path, ()):
                newer.setdefault(place, slot.id)
            continue
        text = body_of(slot.base)
        known = texts.get((resource.key, text))
        if known is not None and len(text) > 80:
            first[index] = known[1]
        texts.setdefault((resource.key, text), (index, slot.id))
        if resource.key in latest and (resource.reads or known is not None):
            newer.setdefault(latest[resource.key], slot.id)
        latest[resource.key] = index
        if resource.path and resource.reads:
            if resource.whole:
                for place in readers.get(resource.path, ()):
                    newer.setdefault(place, slot.id)
                readers[resource.path] = []
            readers.setdefault(resource.path, []).append(index)
    return newer, first


def _said_again(view: View) -> dict[int, str]:
    """For each text at the tail that a newer one of its label replaces, the id of that."""
    newer: dict[int, str] = {}
    latest: dict[str, int] = {}
    for applied in view.applied:
        if not isinstance(applied.edit, Restate) or not applied.edit.label or applied.id in view.reverted:
            continue
        place = applied.slots[0]
        if applied.edit.label in latest:
            newer[latest[applied.edit.label]] = applied.id
        latest[applied.edit.label] = place
    return newer


def _argument_tokens(message: Message, count: Callable[[str], int]) -> int:
    if not isinstance(message, Assistant):
        return 0
    return sum(count(part.raw) for part in message.parts if isinstance(part, ToolCall))
