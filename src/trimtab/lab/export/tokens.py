"""Tokens: a row as ids with a loss mask, by the chat template of whatever model is trained.

    render(messages, …) of growing beginnings ──each a prefix of the next?──▶ one sequence: prompt | answer result answer …
                                                            └─no─▶ one sequence for each answer, each with the prompt that it had

Many templates change earlier messages as more come behind them (thoughts of past turns go), so a sequence that shows all answers isn't what the model saw at each. Where that is so, a row becomes several:
every trained token then stands behind exactly what it was sampled behind.
"""

import json
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import msgspec

from trimtab.lab.export.row import ChatMessage, SnapshotRow


class Render(Protocol):
    """Renders a conversation."""

    def __call__(self, messages: Sequence[ChatMessage], /, *, generate: bool) -> Sequence[int]:
        """Return its ids. `generate`: up to where the model begins to write."""
        ...


@dataclass(frozen=True, slots=True)
class TokenRow:
    """A sequence. `mask` has a bit for each id of the completion: 1, the model wrote it."""

    prompt_ids: tuple[int, ...]
    completion_ids: tuple[int, ...]
    mask: tuple[int, ...]


class Templated(Protocol):
    """A tokenizer with a chat template, as `transformers` has them."""

    def apply_chat_template(self, conversation: Any, **options: Any) -> Any:
        """Render a conversation."""
        ...


def renderer(tokenizer: Templated, row: SnapshotRow, **options: Any) -> Render:
    """Return what renders the messages of a row with its tools. `options` go to the template."""
    tools = [msgspec.to_builtins(tool) for tool in row.tools] or None

    def render(messages: Sequence[ChatMessage], /, *, generate: bool) -> Sequence[int]:
        ids: Sequence[int] = tokenizer.apply_chat_template(
            [template_message(message) for message in messages],
            tools=tools,
            tokenize=True,
            return_dict=False,
            add_generation_prompt=generate,
            **options,
        )
        return ids

    return render


def template_message(message: ChatMessage) -> dict[str, Any]:
    """Return a message as chat templates take it: arguments as an object, for they encode it themselves."""
    made: dict[str, Any] = msgspec.to_builtins(message)
    for call in made.get("tool_calls", ()):
        call["function"]["arguments"] = json.loads(call["function"]["arguments"])
    return made


def token_rows(row: SnapshotRow, render: Render, *, stop: Collection[int] = ()) -> Iterator[TokenRow]:
    """Yield a row as one sequence, or as one for each trained answer where the template doesn't let it be one.

    `stop`: ids that end an answer; what a template puts behind the last of them in an answer isn't trained.
    """
    whole = _whole(row, render, stop)
    if whole is not None:
        yield whole
        return
    for at, trained in enumerate(row.mask):
        if trained:
            shown = (*row.messages, *row.completion[:at])
            prompt, ended = (
                tuple(render(shown, generate=True)),
                tuple(render((*shown, row.completion[at]), generate=False)),
            )
            begin = len(prompt) if ended[: len(prompt)] == prompt else _common(prompt, ended)
            yield TokenRow(ended[:begin], ended[begin:], _bits(ended[begin:], stop))


def _whole(row: SnapshotRow, render: Render, stop: Collection[int]) -> TokenRow | None:
    """The row as one sequence; None where the rendering of a beginning isn't the beginning of the rendering."""
    prompt = tuple(render(row.messages, generate=True))
    ids, mask = prompt, list[int]()
    shown: tuple[ChatMessage, ...] = row.messages
    for message, trained in zip(row.completion, row.mask, strict=True):
        if trained:
            opened = tuple(render(shown, generate=True))
            if opened[: len(ids)] != ids:
                return None
            mask += [0] * (len(opened) - len(ids))
            ids = opened
        shown = (*shown, message)
        ended = tuple(render(shown, generate=False))
        if ended[: len(ids)] != ids:
            return None
        mask += _bits(ended[len(ids) :], stop) if trained else [0] * (len(ended) - len(ids))
        ids = ended
    return TokenRow(prompt, ids[len(prompt) :], tuple(mask))


def _bits(ids: Sequence[int], stop: Collection[int]) -> tuple[int, ...]:
    """Ones up to the last id that ends an answer, all of them where there is none."""
    last = max((at for at, one in enumerate(ids) if one in stop), default=len(ids) - 1)
    return tuple(int(at <= last) for at in range(len(ids)))


def _common(one: Sequence[int], other: Sequence[int]) -> int:
    return next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
