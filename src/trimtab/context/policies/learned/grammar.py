"""The grammar: what may be done at a decision, as single choices, and what a batch of them asks of the engine.

    observation ──choices──▶ (operation, item) …, commit          batch of choices ──actions_of──▶ actions, those alike as one

A batch is opened by its first choice and ended by `commit`; a commit of an empty batch keeps everything. Each item takes part in a batch once. A
compaction decides about nearly all items, so it is a batch of its own.

A batch has at most `BATCH` choices, about the `ROWS` largest items that something may be done with: more of either is a matter for the next decision.

Choices that can't come to anything are left out, so that nobody has to learn what the engine refuses. The observation tells nearly all of it: states, sizes, pins,
what was just brought back, what no request has shown yet. What only texts tell (`ASKED`) is asked of `accepts`, where there is somebody to ask; without, it is let through, and
the engine refuses in words what it can't do. `truncate` keeps the head of a text: an observation holds no words to quote, so it is a fold that keeps nothing else.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from trimtab.context.actions import Action, ActionName
from trimtab.context.cycle.ladder import NAMES, touchable
from trimtab.context.policies.weighing import compacted
from trimtab.context.seeing.observation import ItemFacts, Observation

ItemOp: TypeAlias = Literal[
    "elide", "fold", "truncate", "summarize_half", "summarize_fifth", "expire", "offload", "reload"
]
WholeOp: TypeAlias = Literal["commit", "compact", "restate"]
ITEM_OPS: tuple[ItemOp, ...] = get_args(ItemOp)
WHOLE_OPS: tuple[WholeOp, ...] = get_args(WholeOp)
ASKED: frozenset[str] = frozenset({"fold", "truncate", "summarize_half", "summarize_fifth", "offload"})
"""Operations of which an observation can't tell whether they come to something."""
Accepts: TypeAlias = Callable[[Action], bool]

BATCH = 16
"""Choices in a batch."""
ROWS = 64
"""Items that are asked about at one decision."""
LEAST = 150
"""Tokens from which on an item is worth a stub: one with names takes a quarter of its text and a line."""
LEAST_SHORTENED = 500
"""The same for an operation that leaves a part of the text."""
LEAST_ARGUMENT = 200
"""Tokens of an argument that is worth a pointer."""
_DIGEST = 1_000
"""Tokens of frame, sources and facts around a digest, at most."""
_WORTHWHILE = 1.5
"""Of what stands in its place: from here on a compaction is a choice. The engine needs less, but takes whole groups, so it may take less than was counted here."""
_LABEL = "goal"


@dataclass(frozen=True, slots=True)
class Choice:
    """One choice. `item` is an item's id; empty for what isn't about one."""

    op: ItemOp | WholeOp
    item: str = ""


COMMIT = Choice("commit")


def choices(
    observation: Observation,
    *,
    batch: Collection[Choice] = (),
    accepts: Accepts | None = None,
    items: Iterable[ItemFacts] | None = None,
) -> tuple[Choice, ...]:
    """Return what may be chosen next, `commit` first. `batch`: what was chosen already at this decision; `items`: those that are asked about, if not all."""
    if any(choice.op == "compact" for choice in batch):
        return (COMMIT,)
    taken = {choice.item for choice in batch if choice.item}
    found = [COMMIT]
    if not batch and _compacts(observation):
        found.append(Choice("compact"))
    if Choice("restate") not in batch and _restates(observation):
        found.append(Choice("restate"))
    for item in observation.items if items is None else items:
        if item.id not in taken:
            found += [Choice(op, item.id) for op in operations(item, observation, accepts=accepts)]
    return tuple(found)


def operations(item: ItemFacts, observation: Observation, *, accepts: Accepts | None = None) -> tuple[ItemOp, ...]:
    """Return what may be done with an item."""
    wanted: list[ItemOp] = []
    if not touchable(item) or item.age < 1:
        return ()  # what no request has shown yet is what the next answer is about
    if item.kind == "assistant":
        wanted += ["offload"] if item.state == "full" and item.arguments >= LEAST_ARGUMENT else []
    elif item.kind == "result":
        if item.state not in ("stub", "gone") and item.tokens >= LEAST:
            wanted.append("elide")
        if item.state == "full" and item.tokens >= LEAST_SHORTENED:
            wanted += ["fold", "truncate", "summarize_half", "summarize_fifth"]
        if item.state == "full" and item.tokens >= LEAST and not item.expired:
            wanted.append("expire")
        if item.state in ("stub", "folded", "summary") and _fits(item.full_tokens - item.tokens, observation):
            wanted.append("reload")
    if accepts is None:
        return tuple(wanted)
    return tuple(op for op in wanted if op not in ASKED or accepts(action_for(op, item)))


def largest(observation: Observation, rows: int = ROWS) -> tuple[ItemFacts, ...]:
    """Return the items that something may be done with, as far as there are rows: the largest, in the order of the context."""
    able = [item for item in observation.items if operations(item, observation)]
    able.sort(key=lambda item: (-item.full_tokens - item.arguments, item.position))
    return tuple(sorted(able[:rows], key=lambda item: item.position))


def action_for(op: ItemOp, item: ItemFacts) -> Action:
    """Return the action of an operation on one item."""
    name, params = _form(op, item)
    return Action(name, (item.id,), params)


def actions_of(batch: Sequence[Choice], observation: Observation) -> tuple[Action, ...]:
    """Return the actions of a batch, in the order of their first choices: equal wishes about several items are one."""
    items = {item.id: item for item in observation.items}
    wanted: list[Action] = []
    for choice in batch:
        if choice.op == "compact":
            wanted.append(compaction(observation))
        elif choice.op == "restate":
            wanted.append(Action("restate", (), {"text": observation.goal, "label": _LABEL}))
        elif choice.op != "commit" and (item := items.get(choice.item)) is not None:
            wanted.append(action_for(choice.op, item))
    return _joined(wanted)


def compaction(observation: Observation) -> Action:
    """Return the compaction of all but the end, by a digest: a quarter of the space stays, as the ladder leaves it."""
    space = max(0, observation.hard - observation.fixed)
    return Action("compact", (), {"mode": "digest", "keep_tokens": space // 4, "names": space // 8})


def _form(op: ItemOp, item: ItemFacts) -> tuple[ActionName, dict[str, Any]]:
    match op:
        case "elide":
            return "elide", {"names": NAMES}
        case "fold":
            return "fold", {}
        case "truncate":
            return "fold", {"tail": 0, "matches": 0}
        case "summarize_half":
            return "summarize", {"max_tokens": item.tokens // 2}
        case "summarize_fifth":
            return "summarize", {"max_tokens": item.tokens // 5}
        case "expire":
            return "expire", {"when_superseded": True}
        case "offload":
            return "offload", {}
        case "reload":
            return "reload", {}


def _joined(actions: Iterable[Action]) -> tuple[Action, ...]:
    joined: list[Action] = []
    for action in actions:
        same = next((n for n, a in enumerate(joined) if a.action == action.action and a.params == action.params), None)
        if same is None or not action.targets:
            joined.append(action)
        else:
            joined[same] = Action(action.action, (*joined[same].targets, *action.targets), action.params)
    return tuple(joined)


def _fits(tokens: int, observation: Observation) -> bool:
    return observation.used + tokens <= observation.hard


def _compacts(observation: Observation) -> bool:
    """Whether what a compaction takes is surely so much more than what stands in its place that the engine takes it for worthwhile."""
    wanted = compaction(observation)
    taken = [
        item for item in compacted(observation, wanted) if item.kind in ("assistant", "result") and touchable(item)
    ]
    digest = min(4_000, max(200, observation.room // 10)) + int(wanted.params["names"]) + _DIGEST
    return sum(item.tokens for item in taken) > _WORTHWHILE * digest


def _restates(observation: Observation) -> bool:
    """Whether the goal may be said again at the end: no token is less than a byte."""
    size = len(observation.goal.encode("utf-8", "replace"))
    return bool(observation.goal.strip()) and size <= max(500, observation.room // 8) and _fits(size, observation)
