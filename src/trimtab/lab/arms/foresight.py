"""Foresight: what of a story is known beforehand to whoever may look ahead.

    story ──needs──▶ each string that requests use: who uses it, which messages show it
    observation ──call ids, turns──▶ the numbers of its items in the story ──▶ which request this is

Only a bound looks ahead: an arm that knows the future says how far one that doesn't may come at most.
"""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise, takewhile

from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.lab.env.story import Story
from trimtab.sessions.replay.needs import texts_of
from trimtab.types.messages import Assistant, ToolResult, User

_LIVES_S = 300.0
"""Seconds that a cache holds what nobody reads."""
_CHARS = 4
"""Characters of a token, about: for what hasn't come yet and so wasn't counted."""


@dataclass(frozen=True, slots=True)
class Use:
    """A string that requests use. `requests` from 1 and `messages` that show it from 0, both ascending."""

    string: str
    requests: tuple[int, ...]
    messages: tuple[int, ...]


class Foresight:
    """Of one story. `requests`: how many it has. `answers[n]`: the number of the message that answers request n (`answers[0]` stands for none); what request n may show has a lower one."""

    def __init__(self, story: Story) -> None:
        steps = story.prepared.steps
        self.requests = len(steps)
        self.answers = (-1, *(step.first + len(step.came) for step in steps))
        messages = [m for step in steps for m in (*(came.message for came in step.came), step.answer.message)]
        texts = [tuple(texts_of(message)) for message in messages]
        self.tokens = tuple(sum(map(len, shown)) // _CHARS for shown in texts)
        self.uses = tuple(_uses(story, texts))
        self._calls = {m.call_id: number for number, m in enumerate(messages) if isinstance(m, ToolResult)}
        self._callers = {
            call.id: number for number, m in enumerate(messages) if isinstance(m, Assistant) for call in m.tool_calls
        }
        self._prompts = tuple(number for number, m in enumerate(messages) if isinstance(m, User))
        self._messages, self._texts = messages, texts
        self._late = frozenset(
            now.number
            for before, now in pairwise(steps)
            if before.asked_at is not None and now.asked_at is not None and now.asked_at - before.asked_at > _LIVES_S
        )

    def numbers(self, observation: Observation) -> dict[str, int]:
        """Return the number of each item that is a message of the story, by the item's id. What was fetched again, summaries and notes are none."""
        found: dict[str, int] = {}
        for item in observation.items:
            number = self._calls.get(item.call_id or "")
            if item.kind == "result" and number is not None:
                found[item.id] = number
                if item.group is not None:
                    found[item.group] = self._callers[item.call_id or ""]
        shown = {item.id for item in observation.items}
        found = {name: number for name, number in found.items() if name in shown}
        before = -1
        for item in observation.items:
            # Words without a call have no name that both know: they stand behind what came before them.
            if item.id not in found and (number := self._worded(item, before)) is not None:
                found[item.id] = number
            before = found.get(item.id, before)
        return found

    def request(self, numbers: Collection[int]) -> int:
        """Return which request is made when the newest message of the story has the largest of `numbers`; from 1."""
        newest = max(numbers, default=-1)
        return sum(1 for _ in takewhile(lambda answer: answer <= newest, self.answers[1:])) + 1

    def coming(self, request: int) -> int:
        """Return the tokens that come behind `request`, about."""
        return sum(self.tokens[self.answers[request] :])

    def place(self, number: int, request: int) -> float:
        """Return what share of a message stands in front of what `request` uses of it; 0 where it uses nothing."""
        whole = "\n".join(self._texts[number])
        found = [whole.find(use.string) for use in self.uses if request in use.requests and number in use.messages]
        return min((at for at in found if at >= 0), default=0) / max(1, len(whole))

    def pause(self, request: int) -> int:
        """Return the first request behind `request` that comes so late that no cache holds anything; one more than there are, where none does."""
        return next((n for n in range(request + 1, self.requests + 1) if n in self._late), self.requests + 1)

    def kept(self, fixed: int, room: int, *, read: float, write: float, answer: float) -> float:
        """Return what keeping everything costs, what is over the room cut off at the front, in fresh tokens; about."""
        paid, before, size = 0.0, fixed, fixed
        for last, now in pairwise(self.answers):
            size += sum(self.tokens[max(0, last) : now])
            held = before if size <= room else fixed
            paid += held * read + (min(size, room) - held) * write + self.tokens[now] * answer
            before = size
        return paid

    def _worded(self, item: ItemFacts, before: int) -> int | None:
        """The number of an item that is a prompt, or an answer without calls: the next message if it is one, else, where something is missing in between, that of its turn."""
        following = self._messages[before + 1] if before + 1 < len(self._messages) else None
        if item.kind == "user":
            if isinstance(following, User):
                return before + 1
            turn = self._prompts[item.turn - 1] if 0 < item.turn <= len(self._prompts) else -1
            return turn if turn > before else None
        said = item.kind == "assistant" and isinstance(following, Assistant) and not following.tool_calls
        return before + 1 if said else None


def _uses(story: Story, texts: list[tuple[str, ...]]) -> Iterator[Use]:
    requests: dict[str, set[int]] = {}
    for step, needs in story.prepared.needs.items():
        for need in needs:
            for string in need.strings:
                requests.setdefault(string, set()).add(step)
    for string, steps in requests.items():
        if string in story.recording.system:
            continue
        shown = tuple(n for n, said in enumerate(texts) if any(string in text for text in said))
        yield Use(string, tuple(sorted(steps)), shown)


def next_use(use: Use, request: int) -> int | None:
    """Return the first request from `request` on that uses it."""
    return next((step for step in use.requests if step >= request), None)


def due(
    foresight: Foresight, request: int, shown: Mapping[int, int], hidden: Mapping[int, int]
) -> tuple[dict[int, int], dict[int, int]]:
    """Return which messages have to stay, and which to come back, each with the request that uses it next.

    `shown` and `hidden`: messages with what keeping them in sight costs. Of several that show a string the cheapest stays. What a later message shows again before it is used
    may go now.
    """
    stay: dict[int, int] = {}
    back: dict[int, int] = {}
    there = foresight.answers[request]
    for use in foresight.uses:
        when = next_use(use, request)
        if when is None or any(there <= number < foresight.answers[when] for number in use.messages):
            continue
        for among, chosen in ((shown, stay), (hidden, back)):
            carriers = [number for number in use.messages if number in among]
            if carriers:
                carrier = min(carriers, key=lambda number: (number not in chosen, among[number], number))
                chosen[carrier] = min(when, chosen.get(carrier, when))
                break
    return stay, back
