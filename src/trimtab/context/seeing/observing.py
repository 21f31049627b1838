"""Observing: from a view to what a policy sees.

    look + references + staleness + resources + what was done lately ──observe──▶ Observation

Costs a pass over what is shown and a look at what changed, however long the session is, and is only made when a policy or the ladder is asked;
below the soft threshold nobody asks. What of an item lasts is kept by its place for as long as the slot there is the same.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.cycle.look import Look
from trimtab.context.naming import body_of
from trimtab.context.pause import breathe
from trimtab.context.recall.words import index_words
from trimtab.context.seeing.observation import ItemFacts, ItemKind, Observation, Prices
from trimtab.context.seeing.references import References
from trimtab.context.seeing.resources import Resource, resource_of
from trimtab.context.seeing.staleness import Staleness
from trimtab.context.strings import arguments_text
from trimtab.context.window.slots import Slot
from trimtab.context.window.vector import Vector
from trimtab.context.window.view import View
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
    fetched: Mapping[str, int] = field(default_factory=dict)
    """The same of what a call fetched again."""
    regret: Callable[[Slot], float] = field(default=lambda _slot: 0.0)


@dataclass(slots=True)
class _Lasting:
    """What of an item stays while its slot, and those of its group, are what they are. `overlap` is of the goal's words `goal`."""

    kind: ItemKind
    group: str | None = None
    resource: str | None = None
    failed: bool = False
    words: frozenset[str] = frozenset()
    """Of a result."""
    arguments: tuple[str, ...] = ()
    """What its calls are given, as shown."""
    goal: frozenset[str] | None = None
    overlap: float = 0.0


@dataclass(slots=True)
class Observer:
    """Keeps what needs more than one look: who used what, what is stale, and what of each item lasts from one look to the next."""

    references: References = field(default_factory=References)
    staleness: Staleness = field(default_factory=Staleness)
    words: dict[str, frozenset[str]] = field(default_factory=dict)
    """Words of a result, by the id of its slot."""
    resources: dict[str, Resource | None] = field(default_factory=dict)
    """What a result is about, by the id of its slot."""
    _slots: Vector[Slot] = field(default_factory=Vector)
    _lasting: list[_Lasting | None] = field(default_factory=list)
    """By place; None where nobody asked since it changed."""
    _prompts: list[int] = field(default_factory=list)
    _goal: tuple[str, frozenset[str]] = ("", frozenset())

    def observe(self, look: Look, circumstances: Circumstances) -> Observation:
        """Return the context as plain data."""
        view, budget = look.view, look.budget
        self.references.update(view)
        self._update(view)
        return Observation(
            step=view.step,
            used=look.used,
            fixed=look.fixed,
            window=budget.window,
            room=budget.room,
            soft=budget.soft,
            target=budget.target,
            hard=budget.hard,
            items=_Facts(look, circumstances, self).items(),
            reserve=budget.reserve,
            soft_given=budget.soft_given,
            target_given=budget.target_given,
            prices=circumstances.prices,
            cached=circumstances.cached,
            cold=circumstances.cold,
            remaining=circumstances.remaining,
            since=dict(circumstances.since),
            last_actions=tuple(circumstances.last_actions),
            goal=self._goal[0][:2_000],
        )

    @property
    def goal_words(self) -> frozenset[str]:
        """The words of what the user asked for; the same value while that is the same."""
        return self._goal[1]

    def lasting(self, view: View, place: int) -> _Lasting:
        """What lasts of the item in that slot of the view that is observed."""
        known = self._lasting[place]
        if known is None:
            known = self._lasting[place] = self._learned(view, place)
        return known

    def _update(self, view: View) -> None:
        """Forget what was known of the slots that are others now, and take in those that are new."""
        slots = view.slots
        changed = list(slots.changed(self._slots))
        del self._lasting[len(slots) :]
        self._lasting += [None] * (len(slots) - len(self._lasting))
        for place in changed:
            self._lasting[place] = None
            group = slots[place].group
            if group is not None:
                self._lasting[group] = None
        self.staleness.update(slots, changed, lambda slot: self._resource(view, slot))
        self._take_prompts(slots, changed)
        self._slots = slots

    def _take_prompts(self, slots: Vector[Slot], changed: list[int]) -> None:
        """Work out what the user asked for: the first prompt and the newest."""
        start = changed[0] if changed else len(slots)
        while self._prompts and self._prompts[-1] >= min(start, len(slots)):
            self._prompts.pop()
        self._prompts += [i for i in range(start, len(slots)) if _is_prompt(slots[i].base)]
        chosen = self._prompts[:1] + self._prompts[-1:] if len(self._prompts) > 1 else self._prompts
        goal = "\n".join(body_of(slots[place].base)[:4_000] for place in chosen)
        if goal != self._goal[0]:
            self._goal = goal, frozenset(index_words(goal))

    def _learned(self, view: View, place: int) -> _Lasting:
        slot = view.slots[place]
        base, shown = slot.base, slot.shown[-1]
        group = None if slot.group is None else view.slots[slot.group].id
        calls = [part.raw for part in shown.parts if isinstance(part, ToolCall)] if isinstance(shown, Assistant) else ()
        if not isinstance(base, ToolResult):
            return _Lasting(kind_of(slot), group, failed=_failed(view, place), arguments=tuple(calls))
        resource = self._resource(view, slot)
        words = self.words.get(slot.id)
        if words is None:
            words = self.words[slot.id] = frozenset(index_words(body_of(base)[:_OVERLAP_CHARS]))
        return _Lasting(kind_of(slot), group, resource.key if resource else None, words=words)

    def _resource(self, view: View, slot: Slot) -> Resource | None:
        if slot.id not in self.resources or not slot.answered:
            self.resources[slot.id] = _resource(view, slot)
        return self.resources[slot.id]


class _Facts:
    """One pass over what is shown."""

    def __init__(self, look: Look, circumstances: Circumstances, observer: Observer) -> None:
        self.look = look
        self.view = look.view
        self.circumstances = circumstances
        self.observer = observer
        self._goal_words = observer.goal_words
        self._recent_words = frozenset(index_words(_recent(look.view)))
        self._newer, self._first = observer.staleness.newer, observer.staleness.first
        self._restated = _said_again(look.view)

    def items(self) -> tuple[ItemFacts, ...]:
        made: list[ItemFacts] = []
        offset = 0
        for position, (shown, tokens) in enumerate(self.look.sizes()):
            breathe()
            slot = self.view.slots[shown.place]
            make = self._lead if shown.lead else self._item
            made.append(make(slot, shown.place, tokens, position, offset))
            offset += tokens
        return tuple(made)

    def _lead(self, slot: Slot, place: int, tokens: int, position: int, offset: int) -> ItemFacts:
        """The summary that stands in front of a slot."""
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

    def _item(self, slot: Slot, place: int, tokens: int, position: int, offset: int) -> ItemFacts:
        base, step, known = slot.base, self.view.step, self.observer.lasting(self.view, place)
        use = self.observer.references.uses.get(slot.id)
        result = base if isinstance(base, ToolResult) else None
        goal, recent = self._overlaps(known)
        fetched = self.circumstances.fetched.get(slot.id)
        restored = self.circumstances.restored.get(slot.id, fetched)
        tally = self.look.tally
        return ItemFacts(
            id=slot.id,
            kind=known.kind,
            state=slot.state,
            tokens=tokens,
            full_tokens=tokens if slot.state == "full" else tally.message(base),
            age=step - slot.step,
            position=position,
            offset=offset,
            turn=slot.turn,
            handle=result.handle if result else None,
            tool=result.tool_name if result else None,
            call_id=result.call_id if result else None,
            group=known.group,
            resource=known.resource,
            arguments=sum(map(tally.text, known.arguments)) if known.arguments else 0,
            sent=position < self.circumstances.sent,
            pinned=slot.pinned,
            is_error=result is not None and result.is_error,
            failed_input=known.failed,
            superseded_by=self._restated.get(place) or self._newer.get(place),
            duplicate_of=self._first.get(place),
            expired=slot.expires is not None and self._expired(slot, place),
            restored=None if restored is None else step - restored,
            fetched=fetched is not None and slot.id not in self.circumstances.restored,
            referenced=use.count if use else 0,
            last_used=step - use.last_step if use else None,
            goal_overlap=goal,
            recent_overlap=recent,
            regret=self.circumstances.regret(slot) if result else 0.0,
        )

    def _overlaps(self, known: _Lasting) -> tuple[float, float]:
        words = known.words
        if not words:
            return 0.0, 0.0
        if known.goal is not self._goal_words:
            known.goal, known.overlap = self._goal_words, len(words & self._goal_words) / len(words)
        return known.overlap, len(words & self._recent_words) / len(words)

    def _expired(self, slot: Slot, place: int) -> bool:
        applied = self.view.edit(slot.expires) if slot.expires else None
        if applied is None or not isinstance(applied.edit, Expire):
            return False
        edit = applied.edit
        late = edit.after_steps is not None and self.view.step - applied.step >= edit.after_steps
        replaced = place in self._restated or place in self._newer
        return late or (edit.when_superseded and replaced)


def _failed(view: View, place: int) -> bool:
    """All the calls of an answer failed: their arguments are worth nothing any more."""
    base = view.slots[place].base
    if not isinstance(base, Assistant) or not base.tool_calls:
        return False
    results = [view.slots[i].base for i in view.group(place)][1:]
    return all(isinstance(r, ToolResult) and r.is_error for r in results)


def _is_prompt(base: Message) -> bool:
    return isinstance(base, User) and base.origin in ("prompt", "steering", "follow_up")


def kind_of(slot: Slot) -> ItemKind:
    """What an item is."""
    if slot.note:
        return "note"
    if isinstance(slot.base, ToolResult):
        return "result"
    return "assistant" if isinstance(slot.base, Assistant) else "user"


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
