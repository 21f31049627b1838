"""What an engine may meet, as Hypothesis strategies: histories of some size, wishes sensible and absurd, policies of any kind.

histories(api)   prompts, answers with signed thinking, results, cut into the pieces that come between two requests
wishes(names)    actions whose targets may exist or not, with parameters of any kind
AnyPolicy        a policy that wants what a seeded die says, the same for the same observation
"""

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st
from msgspec import structs

from support.conversations import MAKERS, conversations
from support.engine_session import lines
from trimtab.context.actions import ACTIONS, Action
from trimtab.context.seeing.observation import Observation
from trimtab.types.edits import Compact, Drop, Edit, Elide, Fold, Offload, Pin, Restate, Restore
from trimtab.types.messages import Assistant, Message, Part, Text, ToolCall, ToolResult, User
from trimtab.types.models import Api, CacheRules, ModelInfo, Price

APIS: tuple[Api, ...] = ("anthropic", "openai-chat", "openai-responses", "google")
_SIZES = st.sampled_from([0, 0, 40, 150, 500, 1_500])


def small_model(api: Api, window: int) -> ModelInfo:
    """The family's model with a window so small that something must be done about it."""
    return structs.replace(
        MAKERS[api],
        context_window=window,
        max_output=500,
        prices=(Price(3, 15, 0.3, 3.75),),
        cache=CacheRules("explicit", 64, 1, 20, 4, 300),
    )


@st.composite
def histories(draw: st.DrawFn, api: Api, *, images: bool = True) -> list[list[Message]]:
    """A conversation, cut before each answer: each piece is what comes between two requests."""
    talk = draw(conversations(MAKERS[api], images=images, foreign=draw(st.booleans()), most_loops=4))
    pieces: list[list[Message]] = [[]]
    for number, message in enumerate(talk):
        if isinstance(message, Assistant):
            pieces.append([])
        pieces[-1].append(_grown(message, draw(_SIZES), number))
    return [piece for piece in pieces if piece]


def _grown(message: Message, size: int, seed: int) -> Message:
    """The message with a longer text, and longer arguments where it has some that may change."""
    if not size:
        return message
    text = lines(size, seed=seed)
    if isinstance(message, ToolResult):
        return structs.replace(message, parts=(*message.parts, Text(text)))
    if isinstance(message, User):
        return structs.replace(message, parts=(*message.parts, Text(text[: len(text) // 4])))
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolCall) and part.arguments is not None:
            arguments = {**part.arguments, "content": text}
            part = structs.replace(part, arguments=arguments, raw=_json(arguments))
        parts.append(part)
    return structs.replace(message, parts=tuple(parts))


def _json(value: object) -> str:
    return json.dumps(value)


_PARAMS = st.dictionaries(
    st.sampled_from(
        [
            "summary",
            "text",
            "label",
            "keep",
            "head",
            "share",
            "first",
            "last",
            "page",
            "after_steps",
            "keep_tokens",
            "mode",
            "max_tokens",
        ]
    ),
    st.one_of(
        st.integers(-5, 2_000),
        st.sampled_from(
            ["digest", "ok", "a longer line", "", "value_3", None, True, 0.2, ["error", "value_7"], {"x": 1}]
        ),
    ),
    max_size=3,
)


@st.composite
def wishes(draw: st.DrawFn, names: Sequence[str]) -> Action:
    """An action on items that exist, mostly."""
    known = st.sampled_from(list(names) or ["e1"])
    name = (
        known
        | st.builds(lambda n, k: f"{n}#{k}", known, st.integers(0, 3))
        | st.sampled_from(["r1", "nothing", "", "e1#9"])
    )
    targets = tuple(draw(st.lists(name, max_size=4)))
    return Action(draw(st.sampled_from(ACTIONS)), targets, draw(_PARAMS), "somebody wanted it")


@dataclass(frozen=True, slots=True)
class AnyPolicy:
    """Wants anything: real actions on real items, on others, and things that are no actions. `rate`: how often it wants something at all."""

    seed: int
    rate: float = 0.7
    name: str = "any"

    def decide(self, observation: Observation) -> Sequence[Any]:
        """What the die says for this observation."""
        die = random.Random(f"{self.seed}:{observation.step}:{observation.used}")
        if die.random() > self.rate:
            return ()
        return [self._wish(die, observation) for _ in range(die.randrange(1, 6))]

    def _wish(self, die: random.Random, observation: Observation) -> Any:
        if die.random() < 0.1:
            return die.choice(
                [
                    None,
                    7,
                    {"action": "dance"},
                    {"action": "elide", "targets": 3},
                    "elide",
                    {"action": "drop", "target": "r1"},
                ]
            )
        ids = [item.id for item in observation.items] + ["nowhere", "r1", "r2"]
        targets = tuple(die.choice(ids) + die.choice(["", "", "#0", "#1"]) for _ in range(die.randrange(0, 5)))
        params = die.choice(
            [
                {},
                {"summary": "so far"},
                {"mode": "digest"},
                {"text": "the goal", "label": "goal"},
                {"page": 1},
                {"keep_tokens": -3},
            ]
        )
        return Action(die.choice(ACTIONS), targets, params, "the die")  # type: ignore[arg-type]


@st.composite
def raw_edits(draw: st.DrawFn, names: Sequence[str]) -> Edit:
    """An edit as any file may hold it: nobody planned or checked it."""
    known = st.sampled_from(list(names) or ["e1"])
    targets = tuple(draw(st.lists(known | st.builds(lambda n, k: f"{n}#{k}", known, st.integers(0, 2)), max_size=3)))
    texts = {
        target: draw(st.sampled_from(["short", "", "[archived r1~abcdefgh: read, 9 tokens]"])) for target in targets
    }
    kind = draw(st.sampled_from([Elide, Fold, Drop, Restore, Offload, Compact, Restate, Pin]))
    if kind in (Elide, Fold):
        return kind(targets=targets, texts=texts)
    if kind is Offload:
        return Offload(targets=targets, arguments=dict.fromkeys(targets, '{"content": "pointer"}'))
    if kind is Compact:
        return Compact(targets=targets, summary=draw(st.sampled_from(["so far", ""])))
    if kind is Restate:
        return Restate(targets=targets, text="the goal")
    made: Edit = kind(targets=targets)
    return made
