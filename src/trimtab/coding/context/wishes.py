"""What a person wants done about the context of a saved session: restore, pin, unpin, take an edit back.

    name ──resolve──▶ item or edit ──does it fit?──▶ the engine's plan, author `user` ──▶ the log

Each wish is checked like a model's, and on top of that it must not leave a request that can't be sent: then nothing is written, and the refusal says the numbers.
"""

import dataclasses
import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trimtab.coding.context.saved import SavedContext
from trimtab.context.actions import Action, ActionName
from trimtab.context.counting.estimate import Estimate
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.look import Look
from trimtab.context.editing.applying import Done
from trimtab.context.editing.planning import plan
from trimtab.context.naming import body_of, name_of
from trimtab.context.reasons import all_in_words
from trimtab.context.recall.pages import item_room, page_ends
from trimtab.context.telling.pinned import kept_as_they_stand
from trimtab.context.telling.story import grown
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Edit, Expire, Pin, Unpin
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import ToolResult

_CLOSE = 0.6
_NEAR = 3
LEAST_PREFIX = 4
"""Characters of the start of an id that are enough to mean it."""


class WishRefused(TrimtabError):
    """What was wanted can't be done; nothing was written."""


@dataclass(frozen=True, slots=True)
class Granted:
    """What came of a wish. `names` are those of the items that it touches; `unchanged` says why nothing had to be written. `before` and `after` are the
    next request, counted as `trimtab context show` counts it, of at most `limit` tokens; `pinned` are tokens of all pinned items.
    """

    done: tuple[Done, ...]
    names: tuple[str, ...]
    revert: str | None
    before: Estimate
    after: Estimate
    limit: int
    pinned: int
    unchanged: str = ""
    unseen: str = ""
    """Why what was taken back changes nothing that is shown."""
    notes: tuple[str, ...] = ()
    """What a person may have expected otherwise."""


def restore(saved: SavedContext, name: str, *, page: int | None = None, reason: str = "") -> Granted:
    """Bring an item back: whole, or one page of it. Raises `UsageError` for an unknown name or a page that it hasn't, and `WishRefused`."""
    target = item_named(saved, name)
    slot = _slot(saved.view, target)
    if page is None and slot.shown == slot.recorded.shown:
        return _granted(saved, saved.look(), unchanged=f"{name_of(slot)} is shown whole already")
    params: dict[str, object] = {}
    if page is not None:
        _require_page(saved, target, page)
        params["page"] = page
    action = Action("reload", (target,), params, reason or "a person wants it back")
    if page is not None and _changes_nothing(saved, target, action):
        return _granted(saved, saved.look(), unchanged=f"page {page} of {name_of(slot)} is shown already")
    return _act(saved, action)


def pin(saved: SavedContext, name: str, *, reason: str = "") -> Granted:
    """Keep an item from every policy. Raises as `restore` does."""
    return _mark(saved, name, "pin", reason or "a person wants it kept")


def unpin(saved: SavedContext, name: str, *, reason: str = "") -> Granted:
    """Let policies have an item again. Raises as `restore` does."""
    return _mark(saved, name, "unpin", reason)


def revert(saved: SavedContext, name: str, *, reason: str = "") -> Granted:
    """Take an edit, or an earlier revert, back; everything later stays. Raises as `restore` does."""
    target = edit_named(saved, name)
    before, view = saved.look(), saved.view
    made = saved.drive(saved.engine.revert(view, saved.request, target, author="user", reason=reason))
    if isinstance(made, str):
        raise WishRefused(made, hint=_ONE_ITEM if "may be sent" in made else _hold_again(view, target))
    saved.view = made
    return dataclasses.replace(_granted(saved, before, revert=target), unseen=unseen(view, made, target))


def _hold_again(view: View, target: str) -> str:
    """What makes an edit hold again that was taken back; nothing for one that holds."""
    standing = [r.id for r in view.reverts if r.target == target and r.id not in view.reverted]
    back = standing[-1] if standing else ""
    return f"trimtab context revert SESSION {back} takes that back, so that it holds again." if back else ""


def unseen(before: View, after: View, target: str) -> str:
    """Say why `after`, in which `target` was taken back, shows what `before` did; nothing where it shows something else, or the edit only marks items."""
    edit = after.edit(after.edit_behind(target))
    if edit is None or isinstance(edit.edit, Pin | Unpin | Expire) or before.messages() != after.messages():
        return ""
    tops = (_top_edit(after, place, but=edit.id) for place in edit.slots)
    over = _few(dict.fromkeys(top for top in tops if top))
    return f"nothing that is shown changes: {over} holds over it" if over else "nothing that is shown changes"


def _top_edit(view: View, place: int, *, but: str) -> str:
    """The latest edit of a slot that holds and decides what it shows."""
    standing = (o.edit for o in reversed(view.slots[place].overlays) if o.edit not in view.reverted and o.edit != but)
    return next((edit for edit in standing if not isinstance(_kind(view, edit), Pin | Unpin | Expire)), "")


def _kind(view: View, edit_id: str) -> Edit | None:
    applied = view.edit(edit_id)
    return None if applied is None else applied.edit


def item_named(saved: SavedContext, name: str) -> str:
    """The name of the one item that `name` can mean: handle, call id, entry id or the start of one, `ENTRY#N`, label. Raises `UsageError`."""
    view = saved.view
    labelled = {label: target for target, label in saved.log.archive.labels.items()}
    plain = labelled.get(name, name)
    if view.find(plain) is None:
        # A name may be copied with the brackets around it, or with the key of the marker that it was read in.
        plain = name.strip().strip("[]").partition("~")[0]
    address = view.find(plain)
    if address is not None:
        if address.edit is not None and (made := view.edit(plain)) is not None:
            raise _is_no_item(
                plain, "a summary that an edit put there" if isinstance(made.edit, Compact) else "an edit"
            )
        return plain
    known = [name for slot in view.slots for name in _names(slot)]
    return _by_start(saved, plain, known, what="item")


def _is_no_item(name: str, what: str) -> UsageError:
    return UsageError(
        f"{name} is {what}, not an item",
        hint=f"trimtab context revert SESSION {name} takes it back; trimtab context explain SESSION {name} names its items.",
    )


def named_by_blame(saved: SavedContext, what: str) -> str:
    """What `blame` is to look for: the target of a label, else `what` itself, which may be a text. Raises `UsageError` for what the log lists and no item belongs to."""
    labels = {label: target for target, label in saved.log.archive.labels.items()}
    name = _begun_by(saved, labels.get(what, what))
    entry = saved.log.archive.get(name)
    if entry is None or saved.view.find(name) is not None:
        return name
    applied = saved.view.edit(saved.view.edit_behind(name))
    if applied is not None and not applied.slots:
        raise UsageError(
            f"edit {applied.id} touches no item; it only says something at the end",
            hint=f"trimtab context explain SESSION {applied.id} says more.",
        )
    if applied is None and (other := _of_another_kind(saved, name, what="item")):
        raise other
    return name


def _begun_by(saved: SavedContext, name: str) -> str:
    """The one name that `name` is the start of; else itself, which is a text then."""
    view = saved.view
    if view.find(name) is not None or saved.log.archive.get(name) is not None or len(name) < LEAST_PREFIX:
        return name
    known = {one for slot in view.slots for one in _names(slot)}
    known |= {applied.id for applied in view.applied} | {revert.id for revert in view.reverts}
    fitting = [one for one in known if one.startswith(name)]
    return fitting[0] if len(fitting) == 1 else name


def edit_named(saved: SavedContext, name: str) -> str:
    """The id of the one edit or revert of the path that `name` can mean: an id, the start of one, or `last`. Raises `UsageError`."""
    view = saved.view
    known = [*(applied.id for applied in view.applied), *(revert.id for revert in view.reverts)]
    if name == "last":
        standing = [applied.id for applied in view.applied if applied.id not in view.reverted]
        if not standing:
            raise UsageError("no edit of this session holds", hint="trimtab context log SESSION lists all of them.")
        return standing[-1]
    return name if name in known else _by_start(saved, name, known, what="edit")


def _by_start(saved: SavedContext, name: str, known: Sequence[str], *, what: str) -> str:
    fitting = sorted({k for k in known if len(name) >= LEAST_PREFIX and k.startswith(name)})
    if len(fitting) == 1:
        return fitting[0]
    session = saved.log.header.id
    if fitting:
        raise UsageError(
            f"{name!r} fits {len(fitting)} {what}s of session {session}", hint=f"Those are {_few(fitting)}."
        )
    if other := _of_another_kind(saved, name, what=what):
        raise other
    near = difflib.get_close_matches(name, known, n=_NEAR, cutoff=_CLOSE)
    listing = "log" if what == "edit" else "show"
    guess = f"Near: {', '.join(near)}. " if near else ""
    raise UsageError(
        f"there is no {what} {name!r} in session {session}",
        hint=f"{guess}trimtab context {listing} SESSION lists what there is.",
    )


def _of_another_kind(saved: SavedContext, name: str, *, what: str) -> UsageError | None:
    """What to say of a name that means something, but no `what`: which command takes it. None: it means nothing."""
    view, matches = saved.view, saved.log.archive.matches(name)
    if what == "edit" and view.find(name.strip().strip("[]")) is not None:
        return UsageError(
            f"{name} is an item, not an edit",
            hint=f"trimtab context explain SESSION {name} names the edits that touch it; trimtab context restore SESSION {name} brings it back.",
        )
    if not matches:
        return None
    on_path = {entry.id: entry for entry in saved.path}
    found = [on_path[match] for match in matches if match in on_path]
    if not found:
        return UsageError(
            f"{name!r} is on another branch of session {saved.log.header.id}",
            hint="Commands of trimtab context act on the branch in use; trimtab context show SESSION lists what is there.",
        )
    if len(found) == 1 and (entry := found[0]).type in ("edit", "revert"):
        return _is_no_item(entry.id, "an edit" if entry.type == "edit" else "a revert")
    if len(found) == 1 and found[0].type == "custom":
        return UsageError(
            f"{found[0].id} is a note of the log, not an {what}",
            hint=f"trimtab context explain SESSION {found[0].id} says what it tells.",
        )
    return UsageError(
        f"{name!r} is no {what} of session {saved.log.header.id}",
        hint="It is a record of the session that no model sees; trimtab context show SESSION lists the items, trimtab context log SESSION the edits.",
    )


def _few(names: Iterable[str]) -> str:
    names = list(names)
    return ", ".join(names[:_NEAR]) + (", …" if len(names) > _NEAR else "")


def _names(slot: Slot) -> list[str]:
    base = slot.base
    if isinstance(base, ToolResult):
        return [name for name in (base.handle, base.call_id, slot.id) if name]
    return [slot.id]


def _slot(view: View, name: str) -> Slot:
    address = view.find(name)
    assert address is not None
    return view.slots[address.index]


def _mark(saved: SavedContext, name: str, action: ActionName, reason: str) -> Granted:
    target = item_named(saved, name)
    slot = _slot(saved.view, target)
    if slot.pinned == (action == "pin"):
        return _granted(
            saved, saved.look(), unchanged=f"{name_of(slot)} is {'pinned already' if slot.pinned else 'not pinned'}"
        )
    if action == "pin" and slot.state == "gone":
        raise WishRefused(
            f"{name_of(slot)} isn't in the context itself (a summary stands for it, or it was taken out), so a pin would keep nothing",
            hint=f"Bring it back first: trimtab context restore SESSION {name_of(slot)}.",
        )
    return _act(saved, Action(action, (target,), reason=reason))


def _require_page(saved: SavedContext, name: str, number: int) -> None:
    """Raise `UsageError` for a page behind the last one."""
    address = saved.view.find(name)
    assert address is not None
    slot, kit = saved.view.slots[address.index], saved.engine.manager.kit
    named = slot.id if address.part is None else f"{slot.id}#{address.part}"
    room = item_room(named, kit.page_tokens, kit.count)
    pages = len(page_ends(body_of(slot.base, address.part), room, kit.count))
    if number > pages:
        has = "one page" if pages == 1 else f"{pages} pages"
        raise UsageError(
            f"{name_of(slot)} has {has}, so there is no page {number}", hint=f"Name one from 1 to {pages}."
        )


def _changes_nothing(saved: SavedContext, name: str, action: Action) -> bool:
    """Whether an item would look as it does."""
    view = saved.view
    for number, edit in enumerate(plan(action, view, saved.engine.manager.kit).edits):
        view = view.with_edit(f"?{number}", edit)
    return _slot(view, name).shown == _slot(saved.view, name).shown


def _act(saved: SavedContext, action: Action) -> Granted:
    before = saved.look()
    hint = _NO_PAGE_FITS if "page" in action.params else _ONE_PAGE
    _require_room(before, plan(action, saved.view, saved.engine.manager.kit).edits, hint=hint)
    outcome = saved.drive(saved.engine.act(saved.view, saved.request, [action], author="user"))
    if not outcome.done:
        raise WishRefused(outcome.failed or all_in_words(outcome.refused) or "nothing came of it")
    saved.view = outcome.view
    return _granted(saved, before, done=outcome.done)


def _require_room(before: Look, edits: Sequence[Edit], *, hint: str) -> None:
    """Refuse what would leave a request over the limit, or, for a pin, one that nothing could make fit."""
    trial, limit = before.view, before.budget.hard
    for number, edit in enumerate(edits):
        trial = trial.with_edit(f"?{number}", edit)
    if any(isinstance(edit, Pin) for edit in edits):
        floor = floor_of(dataclasses.replace(before, view=trial))
        if floor.total > limit:
            raise WishRefused(
                f"with it, what must stay has {floor.total:,} tokens (pinned items {floor.pinned:,}), and a request may have {limit:,}",
                hint="Unpin something first; trimtab context show SESSION marks what is pinned.",
            )
    elif (used := before.used + grown(before, trial)) > limit and used > before.used:
        raise WishRefused(f"with it the context has up to {used:,} tokens, and {limit:,} may be sent", hint=hint)


_ROOM = "trimtab context show SESSION lists what takes the room."
_ONE_PAGE = f"Bring back one page (restore --page 1), or let the model read it with recall; {_ROOM}"
_NO_PAGE_FITS = f"Unpin something first, or let the model read it with recall; {_ROOM}"
_ONE_ITEM = (
    f"Bring back one of the items that it hides (trimtab context restore SESSION NAME --page 1) instead; {_ROOM}"
)


def _granted(
    saved: SavedContext, before: Look, *, done: tuple[Done, ...] = (), revert: str | None = None, unchanged: str = ""
) -> Granted:
    after = saved.look()
    targets = [target for one in done for target in one.entry.edit.targets]
    names = tuple(name_of(_slot(saved.view, target)) for target in targets)
    pinned = floor_of(after).pinned
    notes = kept_as_they_stand(saved.view, (one.entry.edit for one in done))
    return Granted(
        done, names, revert, before.estimate, after.estimate, before.budget.hard, pinned, unchanged, notes=notes
    )
