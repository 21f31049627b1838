"""How a file was and how it is now, as git writes it.

states, contents ──▶ "diff --git a/NAME b/NAME", modes, hunks ──▶ a person, `git apply`, `patch -p1` in the project

The one rule: what no patch can hold is a line in brackets, which both programs pass over.
Source: the section "Generating patch text with -p" of git-diff(1): names, quotes, modes.
"""

import os
from collections.abc import Callable
from pathlib import Path

from trimtab.coding.checkpoints.states import FileState, State
from trimtab.coding.tools.diffs import unified

_DIFF_CHARS = 200_000
_LINK = "120000"
_ESCAPES = {"\t": "\\t", "\n": "\\n", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def shown_from(path: str, root: Path) -> str:
    """`path` as it is called in the project `root`; outside of it, whole."""
    base = os.path.realpath(root)
    inside = path.startswith(base.rstrip("/") + "/")
    return os.path.relpath(path, base) if inside else path


def patch_of(path: str, root: Path, was: State, now: State, text_of: Callable[[FileState], str | None]) -> str:
    """The change from `was` to `now`; "" when there is none. `text_of` gives a content, None for what is no text or wasn't kept. Folders show nothing."""
    name = shown_from(path, root)
    was, now = (None if state is not None and state.folder else state for state in (was, now))
    if was is None or now is None or was.link == now.link:
        return _one(name, was, now, text_of)
    return _one(name, was, None, text_of) + _one(
        name, None, now, text_of
    )  # git has no word for a file that became a link


def _one(name: str, was: State, now: State, text_of: Callable[[FileState], str | None]) -> str:
    if (was is None and now is None) or (was is not None and was.unknown):
        return ""
    head = f"diff --git {_quoted('a', name)} {_quoted('b', name)}\n"
    modes = _modes(was, now)
    if was is not None and now is not None and was.same_content(now):
        if modes or was.mode == now.mode:
            return head + modes if modes else ""
        return f"({_plain(name)}: permissions {was.mode:o}, now {now.mode:o})\n"
    before, after = ("" if state is None else text_of(state) for state in (was, now))
    if before is None or after is None:
        what = "new" if was is None else "gone" if now is None else "changed"
        return f"({_plain(name)}: {what}; no text, or too large to be kept)\n"
    body = unified(before, after, size=_DIFF_CHARS)
    if body is None:
        return f"({_plain(name)}: too large to be shown)\n"
    if not body:
        return head + modes
    return f"{head}{modes}--- {_side('a', name, was)}\n+++ {_side('b', name, now)}\n{body}"


def _modes(was: State, now: State) -> str:
    if now is None or was is None:
        state = was if now is None else now
        return "" if state is None else f"{'deleted' if now is None else 'new'} file mode {_mode(state)}\n"
    old, new = _mode(was), _mode(now)
    return "" if old == new else f"old mode {old}\nnew mode {new}\n"


def _mode(state: FileState) -> str:
    """As git keeps it: a link, or a file that its owner may run or not."""
    return _LINK if state.link else "100755" if state.mode & 0o100 else "100644"


def _side(side: str, name: str, state: State) -> str:
    if state is None:
        return "/dev/null"
    quoted = _quoted(side, name)
    return f"{quoted}\t" if " " in quoted and not quoted.startswith('"') else quoted  # where a name with blanks ends


def _quoted(side: str, name: str) -> str:
    """The name on one side: in quotes where it holds a control character or a quote. One outside of the project keeps its own."""
    whole = name if name.startswith("/") else f"{side}/{name}"
    plain = _plain(whole)
    return whole if plain == whole else f'"{plain}"'


def _plain(name: str) -> str:
    return "".join(
        _ESCAPES.get(one) or (f"\\{ord(one):03o}" if ord(one) < 32 or ord(one) == 127 else one) for one in name
    )
