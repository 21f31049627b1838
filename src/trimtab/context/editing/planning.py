"""Planning: what is wanted becomes an edit with every text rendered, or words that say why not.

    Action(names) ──plan──▶ Plan(edits, refused)        names resolved to addresses, stubs and shortened texts made

Pure: it looks at a view and changes nothing. An action on several targets makes one edit; targets that can't be done are refused one by
one, and the others go on. A text is only put in place of a longer one.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from trimtab.context import markers
from trimtab.context.actions import Action
from trimtab.context.editing.housekeeping import KEPT_ELSEWHERE, LEAST_KEPT
from trimtab.context.naming import body_of, name_of
from trimtab.context.recall.pages import page
from trimtab.context.shorten.arguments import Path, offload_arguments
from trimtab.context.shorten.compress import Compressor, Extractive, compress
from trimtab.context.shorten.fold import FoldRule, fold
from trimtab.context.shorten.names import line_of, names_in
from trimtab.context.shorten.pieces import Refused, Shortened
from trimtab.context.shorten.truncate import truncate
from trimtab.context.strings import distinctive_strings
from trimtab.context.window.overlays import Address
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import (
    Compact,
    Compress,
    Drop,
    Edit,
    Elide,
    Expire,
    Fold,
    Offload,
    Pin,
    Restate,
    Restore,
    Summarize,
    Truncate,
    Unpin,
)
from trimtab.types.messages import Assistant, Image, Text, ToolCall, ToolResult

Count: TypeAlias = Callable[[str], int]
_NO_WAY = "{}: nothing here could read it again"
NAMES_SHARE = 0.25
"""Of a body's tokens: the most that the names in its stub take."""


@dataclass(frozen=True, slots=True)
class Kit:
    """What texts of edits are made with. `salt` is the session's id; `count` gives tokens; `way_back` names the tool or file that reads a slot.

    `min_arguments`: tokens from which on an argument is worth a pointer. `page_tokens`: the most that a reload brings back at once.
    """

    salt: str
    count: Count
    way_back: Callable[[Slot], str] = field(default=lambda _slot: markers.RECALL)
    compressor: Compressor | None = None
    min_arguments: int = 200
    page_tokens: int = 20_000


@dataclass(frozen=True, slots=True)
class Plan:
    """Edits that do what was wanted, and for each target that can't be done a sentence."""

    edits: tuple[Edit, ...] = ()
    refused: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Target:
    name: str
    address: Address
    slot: Slot

    @property
    def id(self) -> str:
        return self.slot.id if self.address.part is None else f"{self.slot.id}#{self.address.part}"


@dataclass(slots=True)
class _Draft:
    """Texts made so far, and what was refused."""

    kit: Kit
    texts: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def put(self, target: _Target, text: str, *, instead_of: str) -> None:
        if self.kit.count(text) < self.kit.count(instead_of):
            self.texts[target.id] = text
        else:
            self.refused.append(f"{target.name}: there is nothing to gain")


def plan(action: Action, view: View, kit: Kit) -> Plan:
    """Return the edits that `action` comes to.

    `compact` and `summarize` need their text in `params["summary"]`: a model or a digest writes it before. `keep` is no edit.
    """
    if action.action == "keep":
        return Plan()
    if action.action == "restate":
        text = str(action.params.get("text") or "").strip()
        edit = Restate(targets=action.targets, text=text, label=str(action.params.get("label") or ""))
        return Plan((edit,)) if text else Plan(refused=("restate needs params.text",))
    targets: list[_Target] = []
    refused: list[str] = []
    for name in action.targets:
        found = _resolve(view, name)
        if isinstance(found, str):
            refused.append(found)
        else:
            targets.append(found)
    if not targets:
        return Plan(refused=tuple(refused) or (f"{action.action} needs targets",))
    made = _PLANNERS[action.action](action, view, kit, targets)
    return Plan(made.edits, (*refused, *made.refused))


def stub_for(slot: Slot, kit: Kit, *, summary: str = "", part: int | None = None) -> str:
    """The line that stands for the body of `slot` (or of a part of it) once it is hidden."""
    body = body_of(slot.base, part)
    name = name_of(slot) if part is None else f"{slot.id}#{part}"
    size = kit.count(body)
    result = slot.base if isinstance(slot.base, ToolResult) else None
    picture = any(isinstance(p, Image) for p in (slot.base.parts if part is None else slot.base.parts[part : part + 1]))
    role = "text of the user" if slot.base.__class__.__name__ == "User" else "text of yours"
    return markers.stub(
        name=name,
        key=markers.marker_key(name, size=size, salt=kit.salt),
        tokens=size,
        lines=body.count("\n") + 1 if body else 0,
        tool=(result.tool_name if result else role) + (", with pictures" if picture else ""),
        is_error=bool(result and result.is_error),
        summary=summary,
        way_back=kit.way_back(slot),
    )


def _resolve(view: View, name: str) -> _Target | str:
    address = view.find(name)
    if address is None:
        return f"there is no item {name!r} in this conversation"
    slot = view.slots[address.index]
    if address.part is not None and address.part >= len(slot.base.parts):
        return f"{name!r}: the message has only {len(slot.base.parts)} parts"
    return _Target(name, address, slot)


def _elide(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    draft = _Draft(kit)
    newest = max(targets, key=lambda t: t.address.index)
    names = number_in(action.params, "names", 0)
    standing = standing_strings(view, but={target.address.index for target in targets}) if names else set()
    for target in targets:
        if target.slot.state == "stub":
            draft.refused.append(f"{target.name}: it is archived already")
            continue
        if not kit.way_back(target.slot):
            draft.refused.append(_NO_WAY.format(target.name))
            continue
        # A summary of several stands once, in the newest; the others point to it.
        said = summary if target is newest else f"see {name_of(newest.slot)}" if summary else ""
        if names:
            body = _shown_text(target)
            most = min(names, int(kit.count(body) * NAMES_SHARE))
            kept = names_in(body, standing=standing, max_tokens=most, count=kit.count)
            standing.update(distinctive_strings(" ".join(kept)))
            said = "\n".join(part for part in (said, line_of(kept)) if part)
        text = stub_for(target.slot, kit, summary=said, part=target.address.part)
        if any(isinstance(p, Image) for p in target.slot.base.parts):
            draft.texts[target.id] = text
        else:
            draft.put(target, text, instead_of=_shown_text(target))
    return _texts(Elide, action, draft)


def standing_strings(view: View, *, but: Collection[int]) -> set[str]:
    """The distinctive strings of all that the view shows, the slots of those indices left out."""
    strings: set[str] = set()
    for shown in view.shown():
        if shown.place not in but:
            for part in shown.message.parts:
                text = part.text if isinstance(part, Text) else part.raw if isinstance(part, ToolCall) else ""
                strings.update(distinctive_strings(text))
    return strings


def _shown_text(target: _Target) -> str:
    if target.address.part is None and target.slot.shown:
        return body_of(target.slot.shown[-1])
    return body_of(target.slot.base, target.address.part)


def _shorten(
    kit: Kit,
    targets: Sequence[_Target],
    kind: markers.MarkerKind,
    make: Callable[[_Target, str, str], Shortened | Refused],
) -> _Draft:
    draft = _Draft(kit)
    for target in targets:
        if not kit.way_back(target.slot):
            draft.refused.append(_NO_WAY.format(target.name))
            continue
        body = body_of(target.slot.base, target.address.part)
        name = name_of(target.slot) if target.address.part is None else target.id
        key = markers.marker_key(name, size=kit.count(body), salt=kit.salt)
        made = make(target, body, key)
        if isinstance(made, Refused):
            draft.refused.append(f"{target.name}: {made.reason}")
            continue
        shown = f"{kit.count(made.text):,} of {kit.count(body):,} tokens"
        head = markers.shortened_head(kind, name=name, key=key, shown=shown, way_back=kit.way_back(target.slot))
        draft.put(target, f"{head}\n{made.text}", instead_of=_shown_text(target))
    return draft


def _fold(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    words = words_in(action.params.get("keep"))
    default = FoldRule()
    rule = FoldRule(
        head=number_in(action.params, "head", default.head),
        tail=number_in(action.params, "tail", default.tail),
        matches=number_in(action.params, "matches", default.matches),
    )
    draft = _shorten(kit, targets, "folded", lambda _, body, key: fold(body, words=words, rule=rule, key=key))
    return _texts(Fold, action, draft)


def _truncate(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    first, last = str(action.params.get("first") or ""), str(action.params.get("last") or "")
    draft = _shorten(kit, targets, "truncated", lambda _, body, key: truncate(body, first=first, last=last, key=key))
    return _texts(Truncate, action, draft)


def _compress(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    compressor = kit.compressor or Extractive(kit.count)
    words = words_in(action.params.get("keep"))
    share = action.params.get("share", 0.3)
    share = float(share) if isinstance(share, int | float) and not isinstance(share, bool) else 0.3

    def make(target: _Target, body: str, key: str) -> Shortened | Refused:
        role = {ToolResult: "tool", Assistant: "assistant"}.get(type(target.slot.base), "user")
        return compress(body, role=role, share=share, compressor=compressor, words=words, key=key)

    return _texts(Compress, action, _shorten(kit, targets, "compressed", make))


def _summarize(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    if not summary:
        return Plan(refused=("summarize needs params.summary",))
    newest = max(targets, key=lambda t: t.address.index)

    def make(target: _Target, body: str, key: str) -> Shortened:
        return Shortened(summary if target is newest else f"see {name_of(newest.slot)}")

    return _texts(Summarize, action, _shorten(kit, targets, "summarized", make))


def _reload(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    """The whole body where it fits a page, else the page that was asked for: bringing back must not overflow."""
    texts: dict[str, str] = {}
    for target in targets:
        body = body_of(target.slot.base, target.address.part)
        number = number_in(action.params, "page", 0)
        if number or kit.count(body) > kit.page_tokens:
            name = name_of(target.slot) if target.address.part is None else target.id
            piece = page(body, max(1, number), kit.page_tokens, kit.count)
            key = markers.marker_key(name, size=kit.count(body), salt=kit.salt)
            shown = f"page {piece.number} of {piece.of}"
            head = markers.shortened_head("folded", name=name, key=key, shown=shown, way_back=kit.way_back(target.slot))
            texts[target.id] = f"{head}\n{piece.text}"
    ids = tuple(target.id for target in targets)
    return Plan((Restore(targets=ids, texts=texts, params=dict(action.params)),))


def _offload(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    arguments: dict[str, str] = {}
    refused: list[str] = []
    for target in targets:
        done = False
        for slot, part, call in _calls(view, target):
            address = f"{slot.id}#{part}"
            least = LEAST_KEPT if call.name in KEPT_ELSEWHERE else kit.min_arguments
            text = offload_arguments(
                call.raw, min_tokens=least, count=kit.count, pointer_for=_pointers(slot, address, call, kit)
            )
            if text is not None:
                arguments[address] = text
                done = True
        if not done:
            refused.append(f"{target.name}: no argument is large enough for a pointer, or nothing could read it again")
    if not arguments:
        return Plan(refused=tuple(refused))
    return Plan((Offload(targets=tuple(arguments), arguments=arguments),), tuple(refused))


def _calls(view: View, target: _Target) -> Iterator[tuple[Slot, int, ToolCall]]:
    """The calls that a target means: itself, those of an answer, or the one that a result answers."""
    slot, wanted = target.slot, target.address.part
    call_id = None
    if isinstance(slot.base, ToolResult) and slot.group is not None:
        call_id = slot.base.call_id
        slot = view.slots[slot.group]
    for part, call in enumerate(slot.base.parts):
        if isinstance(call, ToolCall) and wanted in (None, part) and call_id in (None, call.id):
            yield slot, part, call


def _pointers(slot: Slot, address: str, call: ToolCall, kit: Kit) -> Callable[[Path, str], str | None]:
    memo = call.name == "memo"
    arguments = call.arguments or {}
    way_back = "memo" if memo else kit.way_back(slot)
    kept = KEPT_ELSEWHERE.get(call.name)

    def pointer(path: Path, value: str) -> str | None:
        if memo and path != ("content",):
            return None  # a memo's key and summary are what the model knows it by
        size = kit.count(value)
        if not way_back or (path != (kept,) and size < kit.min_arguments):
            return None
        return markers.pointer(
            name=address,
            key=markers.marker_key(address, size=size, salt=kit.salt),
            tokens=size,
            lines=value.count("\n") + 1,
            memo=str(arguments.get("key") or "") if memo else "",
            summary=str(arguments.get("summary") or "") if memo else "",
            way_back=way_back,
        )

    return pointer


def _drop(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    return Plan((Drop(targets=_ids(targets)),))


def _pin(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    return Plan((Pin(targets=_ids(targets)),))


def _unpin(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    return Plan((Unpin(targets=_ids(targets)),))


def _expire(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    after = action.params.get("after_steps")
    steps = after if isinstance(after, int) and not isinstance(after, bool) and after >= 0 else None
    superseded = bool(action.params.get("when_superseded", steps is None))
    return Plan((Expire(targets=_ids(targets), after_steps=steps, when_superseded=superseded),))


def _compact(action: Action, view: View, kit: Kit, targets: Sequence[_Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    if not summary:
        return Plan(refused=("compact needs params.summary",))
    ids = tuple(t.name if t.address.edit else t.slot.id for t in sorted(targets, key=lambda t: t.address.index))
    return Plan((Compact(targets=ids, summary=summary, mode=str(action.params.get("mode") or "")),))


_PLANNERS: Mapping[str, Callable[[Action, View, Kit, Sequence[_Target]], Plan]] = {
    "elide": _elide,
    "fold": _fold,
    "truncate": _truncate,
    "compress": _compress,
    "summarize": _summarize,
    "reload": _reload,
    "offload": _offload,
    "drop": _drop,
    "pin": _pin,
    "unpin": _unpin,
    "expire": _expire,
    "compact": _compact,
}


def _texts(
    kind: type[Elide] | type[Fold] | type[Truncate] | type[Compress] | type[Summarize], action: Action, draft: _Draft
) -> Plan:
    refused = tuple(draft.refused)
    if not draft.texts:
        return Plan(refused=refused)
    params: dict[str, Any] = {name: value for name, value in action.params.items() if name != "summary"}
    return Plan((kind(targets=tuple(draft.texts), texts=draft.texts, params=params),), refused)


def _ids(targets: Sequence[_Target]) -> tuple[str, ...]:
    return tuple(target.name if target.address.edit else target.id for target in targets)


def words_in(value: object) -> tuple[str, ...]:
    """The words that a parameter holds: a text, or a list of them."""
    if isinstance(value, str):
        return (value,)
    return tuple(str(word) for word in value) if isinstance(value, list | tuple) else ()


def number_in(params: Mapping[str, Any], name: str, default: int) -> int:
    """A parameter that counts something; `default` where there is none, or none that makes sense."""
    value = params.get(name, default)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else default
