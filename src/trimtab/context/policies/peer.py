"""A peer: what another agent does about its context, as parameters over our edits.

    Tidy        at every request: repeated calls, arguments of calls that failed
    Clear       old results give way to stubs, past a level, keeping so much of the end
    Compaction  everything but the end gives way to one summary, past a level

A peer's level is a count of tokens, so many below the window, or a share of it: as the peer counts, not as our thresholds do. What a peer does by its model
(a nudge to prune, a tool that it may call) isn't here. Its texts are ours: a stub keeps the way back that the peer's doesn't have, so what a replay
charges for a miss is no more than the peer's own would cost.

A summary is prepared beside the conversation only for a peer that checks before every request. One that checks between turns (`pi`, `tau`) has none prepared, which is
how these work: they compact while the person waits, on all that is there by then.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.context.actions import Action
from trimtab.context.cycle.ladder import LARGE, touchable
from trimtab.context.policies.base import Manners
from trimtab.context.policies.weighing import weigh
from trimtab.context.seeing.observation import ItemFacts, Observation

When: TypeAlias = Literal["step", "turn", "cold"]
"""Before every request; only before the first one of a turn (as who checks at the end of the one before); only with a cold cache."""
SCALE = 200_000
"""The window that counts of tokens are meant for, where they are scaled to another one."""


@dataclass(frozen=True, slots=True)
class Level:
    """A size of the request: `tokens`, or `below` the window less the answer's reserve up to `reserve`, or a `share` of the window; the lowest that is given."""

    tokens: int | None = None
    below: int | None = None
    reserve: int = 0
    share: float | None = None

    def of(self, observation: Observation, scale: float = 1.0) -> int:
        """The level in tokens of the whole request; `scale` is for counts of tokens."""
        window = observation.window
        levels = [window]
        if self.tokens is not None:
            levels.append(int(self.tokens * scale))
        if self.below is not None:
            answer = max(0, window - observation.room - max(256, window * 2 // 100))
            levels.append(window - int(self.below * scale) - min(answer, int(self.reserve * scale)))
        if self.share is not None:
            levels.append(int(self.share * window))
        return max(1, min(levels))


@dataclass(frozen=True, slots=True)
class Tidy:
    """What is done at every request. `duplicates`: of equal calls only the last keeps its result; `failed_turns`: arguments of failed calls go after so many turns."""

    duplicates: bool = False
    failed_turns: int | None = None
    protect: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clear:
    """Which results go, past `above`. All of `keep_results` (newest), `keep_tokens` (of newest results) and `keep_turns` stay.

    `at_least`: only if so many tokens go. `only` and `protect` are names of tools. `arguments`: those of the calls go too.
    """

    above: Level | None = None
    keep_results: int = 0
    keep_tokens: int = 0
    keep_turns: int = 0
    at_least: int = 0
    only: tuple[str, ...] = ()
    protect: tuple[str, ...] = ()
    arguments: bool = False
    when: When = "step"


@dataclass(frozen=True, slots=True)
class Compaction:
    """A summary of all but the end, past `above`, or when the request doesn't fit.

    `keep_tokens` of the end stay; `keep_user_tokens` of the newest user messages do, and nothing else of what came before.
    """

    above: Level
    keep_tokens: int = 0
    keep_user_tokens: int | None = None
    when: When = "step"


@dataclass(frozen=True, slots=True)
class Peer:
    """Another agent's policy. `scaled`: counts of tokens, meant for a window of 200,000, are scaled to this one; by default they hold as they are."""

    tidy: Tidy | None = None
    clear: tuple[Clear, ...] = ()
    compaction: Compaction | None = None
    scaled: bool = False
    name: str = "peer"

    @property
    def manners(self) -> Manners:
        """As the peer does: unheld, and by its own levels."""
        return Manners(guarded=False, early=True)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what the peer would do now."""
        actions: list[Action] = []
        if self.tidy is not None:
            actions += _tidied(observation, self.tidy)
        for clear in self.clear:
            actions += self._cleared(observation, clear, actions)
        if self.compaction is not None:
            actions += self._compacted(observation, self.compaction, actions)
        return tuple(actions)

    def _scale(self, observation: Observation) -> float:
        return observation.window / SCALE if self.scaled else 1.0

    def _cleared(self, observation: Observation, clear: Clear, before: Sequence[Action]) -> list[Action]:
        scale = self._scale(observation)
        if not _is_time(observation, clear.when):
            return []
        if clear.above is not None and observation.used <= clear.above.of(observation, scale):
            return []
        taken = {target for action in before for target in action.targets}
        due = [i for i in _beyond(observation, clear, scale) if i.id not in taken and _may_hide(i, clear)]
        if not due:
            return []
        actions = [Action("elide", tuple(item.id for item in due), reason="an old result")]
        if clear.arguments:
            groups = {item.group for item in due}
            callers = [i for i in observation.items if i.id in groups and i.arguments > LARGE and touchable(i)]
            if callers:
                actions.append(Action("offload", tuple(i.id for i in callers), reason="arguments of an old call"))
        if weigh(actions, observation).gain < int(clear.at_least * scale):
            return []
        return actions

    def _compacted(self, observation: Observation, rule: Compaction, before: Sequence[Action]) -> list[Action]:
        scale = self._scale(observation)
        used = observation.used - weigh(before, observation).gain
        fits = used <= observation.hard
        if fits and (used <= rule.above.of(observation, scale) or not _is_time(observation, rule.when)):
            return []
        if rule.keep_user_tokens is None:
            params = {"keep_tokens": int(rule.keep_tokens * scale)}
            return [Action("compact", (), params, "the window is nearly full")]
        kept = _newest_prompts(observation, int(rule.keep_user_tokens * scale))
        targets = tuple(i.id for i in observation.items if i.id not in kept and not i.pinned and i.state != "gone")
        return [Action("compact", targets, reason="the window is nearly full")] if targets else []


def _is_time(observation: Observation, when: When) -> bool:
    if when == "cold":
        return observation.cold
    if when == "turn":
        said = [item for item in observation.items if item.kind in ("user", "assistant", "result")]
        return bool(said) and said[-1].kind == "user"
    return True


def _beyond(observation: Observation, clear: Clear, scale: float) -> list[ItemFacts]:
    """The results that are older than everything that stays."""
    turn = max((item.turn for item in observation.items), default=0)
    results = [item for item in observation.items if item.kind == "result" and item.state != "gone"]
    kept, number = 0, len(results)
    while number > 0:
        item = results[number - 1]
        stays = (
            len(results) - number < clear.keep_results
            or kept < int(clear.keep_tokens * scale)
            or item.turn > turn - clear.keep_turns
        )
        if not stays:
            break
        kept += item.full_tokens
        number -= 1
    return results[:number]


def _may_hide(item: ItemFacts, clear: Clear) -> bool:
    tool = plain_name(item.tool)
    if item.state not in ("full", "folded") or item.tokens <= LARGE // 4 or not touchable(item):
        return False
    if clear.only and tool not in _plain(clear.only):
        return False
    return tool not in _plain(clear.protect)


def _tidied(observation: Observation, tidy: Tidy) -> list[Action]:
    protect = _plain(tidy.protect)
    open_to = [i for i in observation.items if plain_name(i.tool) not in protect and touchable(i)]
    actions: list[Action] = []
    if tidy.duplicates:
        last: dict[str, ItemFacts] = {}
        old: list[ItemFacts] = []
        for item in open_to:
            if item.kind == "result" and item.resource is not None:
                if item.resource in last:
                    old.append(last[item.resource])
                last[item.resource] = item
        due = [i for i in old if i.state in ("full", "folded") and i.tokens > LARGE // 4]
        if due:
            actions.append(Action("elide", tuple(i.id for i in due), reason="the same call was made again"))
    if tidy.failed_turns is not None:
        turn = max((item.turn for item in observation.items), default=0)
        failed = [
            i
            for i in observation.items
            if i.failed_input and i.arguments > LARGE and touchable(i) and i.turn <= turn - tidy.failed_turns
        ]
        if failed:
            actions.append(Action("offload", tuple(i.id for i in failed), reason="the call failed"))
    return actions


def _newest_prompts(observation: Observation, tokens: int) -> set[str]:
    """Ids of the newest user messages that fit `tokens`; the last one stays in any case."""
    kept: set[str] = set()
    for item in reversed(observation.items):
        if item.kind == "user":
            if kept and item.tokens > tokens:
                break
            kept.add(item.id)
            tokens -= item.tokens
    return kept


def plain_name(tool: str | None) -> str:
    """A tool's name as tables compare it: without the server in front, in lower case, without underscores."""
    return (tool or "").lower().rpartition("__")[2].replace("_", "")


def _plain(tools: Iterable[str]) -> frozenset[str]:
    return frozenset(plain_name(tool) for tool in tools)
