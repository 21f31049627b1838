"""Planning: what is wanted becomes an edit with every text rendered, or words that say why not.

    Action(names) ──plan──▶ Plan(edits, refused)        names resolved to addresses, stubs and shortened texts made

Pure: it looks at a view and changes nothing. An action on several targets makes one edit; targets that can't be done are refused one by
one, and the others go on. A text is only put in place of a longer one.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import structs

from trimtab.context import markers
from trimtab.context.actions import Action
from trimtab.context.editing.kit import Kit, Plan, Target, number_in, params_of, words_in
from trimtab.context.editing.offloading import offload
from trimtab.context.editing.stubs import standing_strings, stub_for
from trimtab.context.naming import body_of, name_of
from trimtab.context.recall.pages import item_room, page
from trimtab.context.shorten.compress import Extractive, compress, share_in
from trimtab.context.shorten.fold import FoldRule, fold
from trimtab.context.shorten.names import line_of, names_in
from trimtab.context.shorten.pieces import Refused, Shortened
from trimtab.context.shorten.truncate import truncate
from trimtab.context.strings import distinctive_strings
from trimtab.context.window.view import View
from trimtab.types.edits import (
    Compact,
    Compress,
    Drop,
    Elide,
    Expire,
    Fold,
    Pin,
    Restate,
    Restore,
    Summarize,
    Truncate,
    Unpin,
)
from trimtab.types.messages import Assistant, Image, ToolResult

_NO_WAY = "{}: nothing here could read it again"
NAMES_SHARE = 0.25
"""Of a body's tokens: the most that the names in its stub take."""


@dataclass(slots=True)
class _Draft:
    """Texts made so far, and what was refused."""

    kit: Kit
    texts: dict[str, str] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def put(self, target: Target, text: str, *, instead_of: str) -> None:
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
        edit = Restate(
            targets=action.targets, text=text, label=str(action.params.get("label") or ""), params=params_of(action)
        )
        return Plan((edit,)) if text else Plan(refused=("restate needs params.text",))
    targets: list[Target] = []
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


def _resolve(view: View, name: str) -> Target | str:
    address = view.find(name)
    if address is None:
        return f"there is no item {name!r} in this conversation"
    slot = view.slots[address.index]
    if address.part is not None and address.part >= len(slot.base.parts):
        return f"{name!r}: the message has only {len(slot.base.parts)} parts"
    return Target(name, address, slot)


def _elide(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    call = str(action.params.get("said_in") or "")
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
        # A summary of several stands once, in the newest; the others point to it. One that stays in a call needs no second place.
        said = summary if target is newest else f"see {name_of(newest.slot)}" if summary else ""
        said = f"see call {call}" if call else said
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


def _shown_text(target: Target) -> str:
    if target.address.part is None and target.slot.shown:
        return body_of(target.slot.shown[-1])
    return body_of(target.slot.base, target.address.part)


def _shorten(
    kit: Kit,
    targets: Sequence[Target],
    kind: markers.MarkerKind,
    make: Callable[[Target, str, str], Shortened | Refused],
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


def _fold(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    words = words_in(action.params.get("keep"))
    default = FoldRule()
    rule = FoldRule(
        head=number_in(action.params, "head", default.head),
        tail=number_in(action.params, "tail", default.tail),
        matches=number_in(action.params, "matches", default.matches),
    )
    draft = _shorten(kit, targets, "folded", lambda _, body, key: fold(body, words=words, rule=rule, key=key))
    return _texts(Fold, action, draft)


def _truncate(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    first, last = str(action.params.get("first") or ""), str(action.params.get("last") or "")
    draft = _shorten(kit, targets, "truncated", lambda _, body, key: truncate(body, first=first, last=last, key=key))
    return _texts(Truncate, action, draft)


def _compress(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    compressor = kit.compressor or Extractive(kit.count)
    words = words_in(action.params.get("keep"))
    share = share_in(action.params)

    def make(target: Target, body: str, key: str) -> Shortened | Refused:
        role = {ToolResult: "tool", Assistant: "assistant"}.get(type(target.slot.base), "user")
        return compress(body, role=role, share=share, compressor=compressor, words=words, key=key)

    draft = _shorten(kit, targets, "compressed", make)
    rest = [target for target in targets if target.id not in draft.texts]
    if action.params.get("otherwise") != "elide" or not rest:
        return _texts(Compress, action, draft)
    # Code, a diff, a text of one line: whoever wants the room anyway has it hidden.
    hidden = _elide(structs.replace(action, action="elide", params=_without_share(action)), view, kit, rest)
    return Plan((*_texts(Compress, action, draft).edits, *hidden.edits), hidden.refused)


def _without_share(action: Action) -> dict[str, Any]:
    names = number_in(action.params, "names", 0)
    others = {key: value for key, value in action.params.items() if key not in ("share", "keep", "otherwise", "names")}
    return {**others, "names": names} if names else others


def _summarize(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    if not summary:
        return Plan(refused=("summarize needs params.summary",))
    newest = max(targets, key=lambda t: t.address.index)

    def make(target: Target, body: str, key: str) -> Shortened:
        return Shortened(summary if target is newest else f"see {name_of(newest.slot)}")

    return _texts(Summarize, action, _shorten(kit, targets, "summarized", make))


def _reload(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    """The whole body where it may come back whole and no page was asked for, else that page, or the first: bringing back must not overflow."""
    texts: dict[str, str] = {}
    for target in targets:
        body = body_of(target.slot.base, target.address.part)
        number = number_in(action.params, "page", 0)
        if number or kit.count(body) > kit.whole_tokens:
            piece = page(body, max(1, number), item_room(target.id, kit.page_tokens, kit.count), kit.count)
            if piece.of == 1:
                continue
            name = name_of(target.slot) if target.address.part is None else target.id
            key = markers.marker_key(name, size=kit.count(body), salt=kit.salt)
            shown = f"page {piece.number} of {piece.of}"
            head = markers.shortened_head("folded", name=name, key=key, shown=shown, way_back=kit.way_back(target.slot))
            texts[target.id] = f"{head}\n{piece.text}"
    ids = tuple(target.id for target in targets)
    return Plan((Restore(targets=ids, texts=texts, params=params_of(action)),))


def _drop(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    return Plan((Drop(targets=_ids(targets), params=params_of(action)),))


def _pin(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    return Plan((Pin(targets=_ids(targets), params=params_of(action)),))


def _unpin(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    return Plan((Unpin(targets=_ids(targets), params=params_of(action)),))


def _expire(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    after = action.params.get("after_steps")
    steps = after if isinstance(after, int) and not isinstance(after, bool) and after >= 0 else None
    superseded = bool(action.params.get("when_superseded", steps is None))
    return Plan(
        (Expire(targets=_ids(targets), after_steps=steps, when_superseded=superseded, params=params_of(action)),)
    )


def _compact(action: Action, view: View, kit: Kit, targets: Sequence[Target]) -> Plan:
    summary = str(action.params.get("summary") or "").strip()
    if not summary:
        return Plan(refused=("compact needs params.summary",))
    ids = tuple(t.name if t.address.edit else t.slot.id for t in sorted(targets, key=lambda t: t.address.index))
    return Plan(
        (Compact(targets=ids, summary=summary, mode=str(action.params.get("mode") or ""), params=params_of(action)),)
    )


_PLANNERS: Mapping[str, Callable[[Action, View, Kit, Sequence[Target]], Plan]] = {
    "elide": _elide,
    "fold": _fold,
    "truncate": _truncate,
    "compress": _compress,
    "summarize": _summarize,
    "reload": _reload,
    "offload": offload,
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
    return Plan((kind(targets=tuple(draft.texts), texts=draft.texts, params=params_of(action)),), refused)


def _ids(targets: Sequence[Target]) -> tuple[str, ...]:
    return tuple(target.name if target.address.edit else target.id for target in targets)
