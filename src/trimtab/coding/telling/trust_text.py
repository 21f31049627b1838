"""What a project brings, in lines for people: what there is, what of it is a link or nothing one can read, and the texts themselves with what is hidden in them."""

import os
import re
import stat
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path

from trimtab.coding.telling.hidden import hidden_text
from trimtab.coding.telling.printable import one_path
from trimtab.coding.telling.tables import counted
from trimtab.coding.trust.inputs import Input, contents
from trimtab.coding.trust.standing import Standing

_READ = 20_000
"""Bytes of one file that are shown at most."""
_SHOWN = 100_000
"""Characters that are shown in all."""
_MEANING = (
    (re.compile(r"(.*/)?(AGENTS|CLAUDE|CLAUDE\.local)\.md", re.S), "instructions for the model"),
    (re.compile(r"(.*/)?\.mcp\.json", re.S), "servers to start"),
    (re.compile(r"(.*/)?\.trimtab/config\.toml", re.S), "settings, permissions and models among them"),
    (re.compile(r"(.*/)?\.trimtab/(APPEND_)?SYSTEM\.md", re.S), "the system prompt"),
    (re.compile(r"(.*/)?\.trimtab/extensions/.*", re.S), "code"),
    (re.compile(r"(.*/)?\.(trimtab|agents|claude)/skills/.*", re.S), "a skill"),
)
_LEFT = frozenset("\n\t")
_UNSEEN = frozenset({"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"})


def input_lines(root: Path, inputs: Sequence[Input]) -> tuple[str, ...]:
    """A line for each input, and for what lies in those that are folders."""
    lines: list[str] = []
    for one in inputs:
        lines.append(_line(one))
        if one.own and os.path.isdir(one.path):
            within, whole = contents(root, one.path)
            lines += [_line(inner) for inner in within if inner.kind != "folder"]
            lines += [] if whole else [f"{one_path(one.name)}: and more"]
    return tuple(lines)


def _line(one: Input) -> str:
    name = one_path(one.name)
    match one.kind:
        case "link" if one.own:
            return f"{name}: a link to {one_path(one.target)}{_meaning(one)}"
        case "link":
            return f"{name}: a link to {one_path(one.target)}, which is no part of this project; not used unless that is trusted too"
        case "special":
            return f"{name}: a pipe, device or socket; not used"
        case "folder" if not one.own:
            return f"{name}/: a repository of its own; not used unless that is trusted too"
        case "folder":
            return f"{name}/"
        case _:
            return f"{name}: {counted(one.size, 'byte')}{_meaning(one)}"


def _meaning(one: Input) -> str:
    return next((f", {words}" for pattern, words in _MEANING if pattern.fullmatch(one.name)), "")


def input_texts(root: Path, inputs: Sequence[Input]) -> tuple[str, ...]:
    """The texts of the inputs' own files, each behind its name, as far as there is room. Characters that no one sees are written as `<U+202E>`."""
    lines: list[str] = []
    room = _SHOWN
    for one in _files(root, inputs):
        if room <= 0:
            lines.append("and more; look into the files themselves")
            break
        plain = _text(one)
        text = revealed(plain)
        hidden = [f"  hidden in it: {finding}" for finding in hidden_text(plain)]
        lines += [f"── {one_path(one.name)}", *hidden, *(f"  {line}" for line in text[:room].split("\n"))]
        room -= len(text)
    return tuple(lines) or ("there is no text in it",)


def _files(root: Path, inputs: Sequence[Input]) -> Iterator[Input]:
    for one in inputs:
        within = contents(root, one.path)[0] if one.own and os.path.isdir(one.path) else ()
        yield from (file for file in (one, *within) if file.own and os.path.isfile(file.path))


def _text(one: Input) -> str:
    real = os.path.realpath(one.path)
    try:
        fd = os.open(real, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as e:
        return f"(can't be read: {e.strerror})"
    with os.fdopen(fd, "rb") as file:
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            return "(no file)"
        try:
            data = file.read(_READ + 1)
        except OSError as e:
            return f"(can't be read: {e.strerror})"
    if b"\0" in data:
        return "(no text)"
    more = f"\n(and more; {counted(one.size, 'byte')} in all)" if len(data) > _READ else ""
    return data[:_READ].decode("utf-8", "replace").rstrip("\n") + more


def revealed(text: str) -> str:
    """`text` with each character that can't be seen, or that a terminal or an eye would be led astray by, written out."""
    return "".join(f"<U+{ord(c):04X}>" if _is_unseen(c) else c for c in text.replace("\r\n", "\n"))


def _is_unseen(c: str) -> bool:
    return c not in _LEFT and (unicodedata.category(c) in _UNSEEN or "\ufe00" <= c <= "\ufe0f" or c >= "\U000e0100")


def standing_lines(project: Standing) -> tuple[str, ...]:
    """What holds for a project, and what it brings."""
    root = one_path(project.root)
    by = "" if project.by == str(project.root) else f", by the answer for {one_path(project.by)}"
    match project.trusted:
        case True:
            said = f"{root} is trusted{by}"
        case False:
            said = f"{root} is not trusted, as you answered{by}"
        case None:
            said = f"{root} is not trusted: nobody has answered" + (f" ({project.reason})" if project.reason else "")
    brings = input_lines(project.root, project.inputs) or ("it brings nothing that would act",)
    return (said, *(f"  {line}" for line in brings), *(f"  trusted code: {one_path(name)}" for name in project.code))
