"""Layers: the overlays of one slot, and what they come to together.

    overlay ──▶ Effect: what it does, whatever lies below          effect over effect = effect
    layers   a row of perfect trees of overlays; each node knows the effect of its own

The effect of a run of overlays doesn't depend on what lies below it, so runs can be put together in any grouping, and a tree keeps the sum of each of
its parts. One more overlay, or one that stops to hold or holds again, costs O(log n) of those that lie there, however long somebody has been editing
one item. The old value stays as it was.
"""

from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any, Literal, NamedTuple, TypeAlias, TypeVar, assert_never

_T = TypeVar("_T")
_NO_PARTS: Mapping[int, Any] = MappingProxyType({})

State: TypeAlias = Literal["full", "folded", "summary", "stub", "gone"]
Act: TypeAlias = Literal[
    "body", "whole", "hide", "unhide", "lead", "unlead", "arguments", "uncall", "pin", "unpin", "expire"
]


class Overlay(NamedTuple):
    """What one edit does to one slot.

    `body` puts `text` in place of the body (of part `part`), `state` says what kind of text that is. `whole` brings the recorded body back.
    `hide` takes the message out, `unhide` lets it and all its calls stand again as it was. `lead` puts a summary in front, `unlead` takes the one of edit `text` away. `arguments` shows `text`
    as the arguments of call `part`, `uncall` leaves that call out.
    """

    edit: str
    act: Act
    text: str = ""
    part: int | None = None
    state: State = "full"


class Effect(NamedTuple):
    """What a run of overlays does. None: it says nothing of that, and what lies below holds.

    `body` is the newest overlay of the whole body, `parts` those of parts since then. `arguments` are texts by part, None where the recorded ones are back;
    `uncalled` says by part whether the call is left out. `afresh`, `recalled`: whatever lies below says about arguments, or about calls left out, is over.
    `lead` is a summary and the edit that put it there, `unled` the edits whose summary was taken away since. `expires`: empty when nothing does.
    """

    body: Overlay | None = None
    parts: Mapping[int, Overlay] = _NO_PARTS
    arguments: Mapping[int, str | None] = _NO_PARTS
    uncalled: Mapping[int, bool] = _NO_PARTS
    afresh: bool = False
    recalled: bool = False
    hidden: bool | None = None
    lead: tuple[str, str] | None = None
    unled: frozenset[str] = frozenset()
    pinned: bool | None = None
    expires: str | None = None

    def over(self, low: "Effect") -> "Effect":
        """The effect of this run lying on that one."""
        if low is NOTHING or self is NOTHING:
            return self if low is NOTHING else low
        return Effect(
            body=low.body if self.body is None else self.body,
            parts=self.parts if self.body is not None else _laid(low.parts, self.parts),
            arguments=self.arguments if self.afresh else _laid(low.arguments, self.arguments),
            uncalled=self.uncalled if self.recalled else _laid(low.uncalled, self.uncalled),
            afresh=self.afresh or low.afresh,
            recalled=self.recalled or low.recalled,
            hidden=low.hidden if self.hidden is None else self.hidden,
            lead=low.lead if self.lead is None else self.lead,
            unled=low.unled | self.unled if self.lead is None else self.unled,
            pinned=low.pinned if self.pinned is None else self.pinned,
            expires=low.expires if self.expires is None else self.expires,
        )

    @property
    def summary(self) -> tuple[str, str] | None:
        """The summary that stands in front, and the edit that put it there."""
        return None if self.lead is None or self.lead[0] in self.unled else self.lead

    @property
    def text(self) -> str | None:
        """The text in place of the whole body."""
        return self.body.text if self.body is not None and self.body.act == "body" else None

    @property
    def texts(self) -> dict[int, str]:
        """The texts in place of parts of the body."""
        return {part: overlay.text for part, overlay in self.parts.items() if overlay.act == "body"}

    @property
    def raws(self) -> dict[int, str]:
        """The arguments that calls show in place of their own."""
        return {part: text for part, text in self.arguments.items() if text is not None}

    @property
    def left_out(self) -> set[int]:
        """The calls that aren't shown."""
        return {part for part, gone in self.uncalled.items() if gone}

    @property
    def state(self) -> State:
        """What kind of text stands for the body, or for the part that was changed last."""
        if self.body is not None and self.body.act == "body":
            return self.body.state
        return next((o.state for o in reversed([*self.parts.values()]) if o.act == "body"), "full")


NOTHING = Effect()


def effect_of(overlay: Overlay) -> Effect:
    """The effect of one overlay."""
    part = overlay.part or 0
    match overlay.act:
        case "body" | "whole" if overlay.part is None:
            whole = overlay.act == "whole"
            return Effect(body=overlay, afresh=whole, recalled=whole, hidden=False if whole else None, expires="")
        case "body":
            return Effect(parts={part: overlay}, expires="")
        case "whole":
            gone: dict[int, str | None] = {part: None}
            return Effect(parts={part: overlay}, arguments=gone, uncalled={part: False}, hidden=False, expires="")
        case "hide":
            return Effect(hidden=True)
        case "unhide":
            return Effect(hidden=False, recalled=True)
        case "lead":
            return Effect(lead=(overlay.edit, overlay.text))
        case "unlead":
            return Effect(unled=frozenset((overlay.text,)))
        case "arguments":
            return Effect(arguments={part: overlay.text})
        case "uncall":
            return Effect(uncalled={part: True})
        case "pin" | "unpin":
            return Effect(pinned=overlay.act == "pin")
        case "expire":
            return Effect(expires=overlay.edit)
        case _:
            assert_never(overlay.act)


def _laid(low: Mapping[int, _T], high: Mapping[int, _T]) -> Mapping[int, _T]:
    """Both, the upper ones last and in place of those below."""
    if not low or not high:
        return low or high
    return {**{part: value for part, value in low.items() if part not in high}, **high}


class _Leaf(NamedTuple):
    effect: Effect
    overlay: Overlay
    size: int = 1


class _Pair(NamedTuple):
    effect: Effect
    low: "_Node"
    high: "_Node"
    size: int


_Node: TypeAlias = _Leaf | _Pair


class Layers:
    """Overlays in order, the first at the bottom. Begin with `NONE`. `effect` is that of all that hold."""

    __slots__ = ("_trees", "effect")

    def __init__(self, trees: tuple[_Node, ...] = (), effect: Effect = NOTHING) -> None:
        self._trees = trees
        self.effect = effect

    def __len__(self) -> int:
        return sum(tree.size for tree in self._trees)

    def __iter__(self) -> Iterator[Overlay]:
        for tree in self._trees:
            yield from _overlays(tree)

    def __getitem__(self, number: int) -> Overlay:
        for tree in self._trees:
            if number < tree.size:
                return _leaf(tree, number).overlay
            number -= tree.size
        raise IndexError(number)

    def with_overlay(self, overlay: Overlay) -> "Layers":
        """The layers with one more on top."""
        effect = effect_of(overlay)
        trees = list(self._trees)
        top: _Node = _Leaf(effect, overlay)
        while trees and trees[-1].size == top.size:
            top = _paired(trees.pop(), top)
        return Layers((*trees, top), effect.over(self.effect))

    def switched(self, start: int, edit_id: str, *, holds: bool) -> "Layers":
        """The layers once that edit, whose overlays begin at `start`, stops to hold or holds again."""
        number, end, trees = start, len(self), list(self._trees)
        while number < end and self[number].edit == edit_id:
            at = number
            for place, tree in enumerate(trees):
                if at < tree.size:
                    trees[place] = _switched(tree, at, holds=holds)
                    break
                at -= tree.size
            number += 1
        return Layers(tuple(trees), _together(trees))

    def with_overlays(self, overlays: tuple[Overlay, ...]) -> "Layers":
        """The layers with these on top. Of slots that have the same layers and get the same overlays, as those of a compaction do, only the first costs anything."""
        return _grown(self, overlays)

    def without(self, edits: Collection[str]) -> "Layers":
        """The layers as they would be if those edits (their ids) didn't hold. Costs a look at each; nothing where the same was asked of the same layers just now."""
        return _lacking(self, frozenset(edits))


NONE = Layers()


@lru_cache(maxsize=16)
def _grown(layers: Layers, overlays: tuple[Overlay, ...]) -> Layers:
    for overlay in overlays:
        layers = layers.with_overlay(overlay)
    return layers


@lru_cache(maxsize=16)
def _lacking(layers: Layers, edits: frozenset[str]) -> Layers:
    trees = tuple(_without(tree, edits) for tree in layers._trees)
    return Layers(trees, _together(trees))


def _paired(low: _Node, high: _Node) -> _Pair:
    return _Pair(high.effect.over(low.effect), low, high, low.size + high.size)


def _together(trees: Iterable[_Node]) -> Effect:
    effect = NOTHING
    for tree in trees:
        effect = tree.effect.over(effect)
    return effect


def _without(node: _Node, edits: Container[str]) -> _Node:
    if isinstance(node, _Pair):
        low, high = _without(node.low, edits), _without(node.high, edits)
        return node if low is node.low and high is node.high else _paired(low, high)
    return node._replace(effect=NOTHING) if node.overlay.edit in edits else node


def _switched(node: _Node, number: int, *, holds: bool) -> _Node:
    if isinstance(node, _Leaf):
        return node._replace(effect=effect_of(node.overlay) if holds else NOTHING)
    if number < node.low.size:
        return _paired(_switched(node.low, number, holds=holds), node.high)
    return _paired(node.low, _switched(node.high, number - node.low.size, holds=holds))


def _leaf(node: _Node, number: int) -> _Leaf:
    if isinstance(node, _Leaf):
        return node
    return _leaf(node.low, number) if number < node.low.size else _leaf(node.high, number - node.low.size)


def _overlays(node: _Node) -> Iterator[Overlay]:
    if isinstance(node, _Leaf):
        yield node.overlay
    else:
        yield from _overlays(node.low)
        yield from _overlays(node.high)
