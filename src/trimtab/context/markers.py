"""Markers: the texts that stand in a request where something else was recorded.

    stub      [archived r7~4kq2m7xa: bash, error, 4,812 tokens, 312 lines; to read it: recall id=r7]     a whole body
    head      [folded r7~4kq2m7xa: 40 of 312 lines; all of it: recall id=r7]                             above a shortened body
    gap       [… 272 lines, 21-292 ~4kq2m7xa]                                                            inside a shortened body
    pointer   [not the content: archived e9#1~m2c5tq7d: 5,120 tokens; to read it: read path=notes.md]    one argument of a call

Each carries a key, `~` and eight characters: a hash over the session's salt, the name and the size. So the same marker has the same
bytes on every replay, and a model that imitates the form can't hit a key of its session. Two directions, kept apart:

    a text that an edit rendered ──hides──▶ what it hides and the way back (trusted: it comes from the log)
    any other text ──live_markers──▶ keys in it that the session knows
                   └─only_markers──▶ the names in a text that is nothing but the form, whatever its keys

The one rule: nothing is ever done *because* a text holds a marker, except refusing to write it. What is refused is

- a live key, anywhere. It is found however it was wrapped, escaped or widened; the form around it doesn't matter, because a copy that lost its
  bracket would be written into a file just the same;
- a text that is nothing but markers by their form, with made-up keys or none: a single one as the content of a file or a memo always, for then
  nothing else would be kept; several, or a part of a file, only where one names an item of this session;
- content that begins with such a line about an item of this session: the head of a shortened body, a stub with its summary.

Everything else that looks like a marker is plain text, so a file that tells about markers (this one, its tests) can be written and changed.
"""

import base64
import hashlib
import re
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

RECALL = "recall"
"""The way back where the model has the tool of that name."""
KEPT_OUTSIDE = "kept outside this conversation"
"""The way back where the model has no tool that reads the text, but whoever runs it has: a marker says so and names no call."""
MarkerKind = Literal["archived", "summarized", "folded", "truncated", "compressed"]
"""What was done to the text that a marker stands for."""

_KEY = re.compile(r"~([a-z2-7]{8})")
"""40 bits: among a thousand live keys, an invented one hits once in a billion tries."""
_HEAD = re.compile(
    r"\[(?P<kind>archived|summarized|folded|truncated|compressed|not the content: archived) (?P<name>\S+)~(?P<key>[a-z2-7]{8}):"
    r"(?:[^\n]*; (?:to read it|all of it): (?P<way>(?:recall id|memo action=read key|read path)=[^\n]+)|[^\n]*)\](?:\n|\Z)"
)
_FORM = re.compile(
    r"\[(?:archived|summarized|folded|truncated|compressed|not the content: archived) (?P<name>[^\s:~\]]+)[^\n:]{0,80}:"
    r"(?=[^\n]*(?:\d tokens?|\d of [\d,]+|to read it|all of it|kept outside))[^\n]*\]"
)
"""The line of a stub, a head or a pointer as a model may write it: with another key, or with none."""
_POINTER = re.compile(
    r"\[not the content: archived (?P<name>\S+?)~[a-z2-7]{8}: (?P<facts>[^\"\n]*?); "
    rf"(?:to read it: [^\"\n]*?|{KEPT_OUTSIDE})\](?=\"|\Z)"
)
_GAP_KEY = re.compile(r"^(\[… [^\]\n]{1,80}) ~[a-z2-7]{8}(?=\]$)", re.M)
_DONE = {"archived": "hidden", "summarized": "summarized"}
_WRAPPING = " \t\r\n`\"'"
BODIES = frozenset({"content"})
"""Fields whose text is the whole of what is written."""
_LONGEST_HEAD = 8_000
"""No head is longer, and a body that is no head is judged in bounded time."""
_UNPRINTED = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]+"
)
_ESCAPED = re.compile(r"\\+(?:u00|x)([0-7][0-9a-fA-F])")
_BREAK = re.compile(r"\\+[nrt]")
_TILDES = dict.fromkeys("\u02dc\u223c\u223d\u2053\u301c\uff5e", "~")


@dataclass(frozen=True, slots=True)
class Hidden:
    """What a rendered text stands for. `way_back` is the call that reads it, such as `recall id=r7`; None: it names none, for the model has no such tool."""

    kind: str
    name: str
    key: str
    way_back: str | None


def marker_key(name: str, *, size: int, salt: str) -> str:
    """Return the key of `name` (a handle, call id or address) with `size` tokens in the session that `salt` names."""
    digest = hashlib.sha256(f"{salt}\0{name}\0{size}".encode("utf-8", "surrogatepass")).digest()
    return base64.b32encode(digest[:5]).decode("ascii").lower()


def stub(
    *,
    name: str,
    key: str,
    tokens: int,
    lines: int,
    tool: str,
    is_error: bool,
    summary: str = "",
    way_back: str = "recall",
) -> str:
    """Return the line that stands for a whole body, with `summary` below it when there is one.

    `way_back` is `recall` when that tool is on, else the path of the archived body, which `read` may open, or `KEPT_OUTSIDE`.
    """
    facts = (_line(tool), "error" if is_error else "", _count(tokens, "token"), _count(lines, "line") if lines else "")
    said = ", ".join(fact for fact in facts if fact)
    head = f"[archived {_word(name)}~{key}: {said}; {_way('to read it', name, way_back)}]"
    return f"{head}\n{summary.strip()}" if summary.strip() else head


def shortened_head(kind: MarkerKind, *, name: str, key: str, shown: str, way_back: str = "recall") -> str:
    """Return the line above a body that was shortened; `shown` says how much of it is left, such as `40 of 312 lines`."""
    return f"[{kind} {_word(name)}~{key}: {_line(shown)}; {_way('all of it', name, way_back)}]"


def pointer(
    *,
    name: str,
    key: str,
    tokens: int,
    lines: int = 0,
    memo: str = "",
    digest: str = "",
    summary: str = "",
    way_back: str = "recall",
) -> str:
    """Return the text that takes the place of one argument's content; nothing in it needs an escape in JSON.

    `memo` is the key of a memo, `digest` the hash of what was written. `way_back` is `recall`, `memo`, a path for `read`, or `KEPT_OUTSIDE`.
    """
    facts = (
        _count(tokens, "token"),
        _count(lines, "line") if lines else "",
        f"key {memo}" if memo else "",
        digest,
        f"summary: {summary}" if summary.strip() else "",
    )
    way = f"to read it: memo action=read key={memo}" if way_back == "memo" else _way("to read it", name, way_back)
    said = ", ".join(fact for fact in facts if fact)
    return _plain(f"[not the content: archived {_word(name)}~{key}: {said}; {way}]")


def gap_mark(count: int, unit: str, *, key: str = "", first: int | None = None, fenced: bool = False) -> str:
    """Return the mark where `count` of `unit` (`lines`, `chars`) are left out; `first` is the number of the first, from 1.

    `fenced` says that a code block was cut there.
    """
    what = f"{count:,} {unit if count != 1 else unit[:-1]}{' of a code block' if fenced else ''}"
    if first is not None:
        what += f", {first}-{first + count - 1}" if count > 1 else f", {first}"
    return f"[… {what}{f' ~{key}' if key else ''}]"


def hides(text: str) -> Hidden | None:
    """Return what a text that an edit rendered stands for; None when it is no marker.

    Only for texts out of the log's edits: the form alone proves nothing about any other text.
    """
    found = _HEAD.match(text[:_LONGEST_HEAD])
    if found is None:
        return None
    return Hidden(found["kind"].split()[-1], found["name"], found["key"], found["way"])


def rendered_in_words(text: str, *, what: str) -> str:
    """Return a text that an edit rendered without the forms of markers: `what` it stands for and what became of that, then what stands below its head.

    A text without a head is returned as it is.
    """
    found = _HEAD.match(text[:_LONGEST_HEAD])
    if found is None:
        return text
    head = f"({what}, {_DONE.get(found['kind'].split()[-1], 'shortened')})"
    rest = _GAP_KEY.sub(r"\1", text[found.end() :]).strip("\n")
    return f"{head}\n{rest}" if rest else head


def pointers_in_words(raw: str) -> str:
    """Return the JSON of arguments that an edit rendered, with words in place of its pointers; it stays JSON."""
    return _POINTER.sub(lambda found: f"(hidden, {found['name']}: {found['facts']})", raw)


def known_markers(rendered: Iterable[str]) -> dict[str, str]:
    """Return key → way back of texts that edits rendered (of arguments: `pointers_in`): what `refuse_markers` asks for."""
    found = (hides(text) for text in rendered)
    return {hidden.key: hidden.way_back or f"recall id={hidden.name}" for hidden in found if hidden is not None}


def live_markers(text: str, is_known: Callable[[str], bool]) -> tuple[str, ...]:
    """Return the keys in `text` that `is_known` to the session, each once, in order.

    Found through line breaks, indents, JSON escapes, invisible characters and full-width forms. A key that the session doesn't
    know is part of a look-alike, and those are inert: whoever wrote them may keep them.
    """
    if text.isascii() and "~" not in text and "\\" not in text:
        return ()
    return tuple(dict.fromkeys(key for key in _candidates(text) if is_known(key)))


def only_markers(text: str) -> tuple[str, ...]:
    """Return the names in a text that is nothing but markers by their form, one a line; none for any other text."""
    lines = [
        line.strip(_WRAPPING)
        for line in text[: 10 * _LONGEST_HEAD].strip(_WRAPPING).splitlines()
        if line.strip(_WRAPPING)
    ]
    found = [_FORM.fullmatch(line[:_LONGEST_HEAD]) for line in lines]
    return tuple(form["name"] for form in found if form is not None) if all(found) else ()


def refuse_markers(
    arguments: object,
    known: Mapping[str, str],
    *,
    searched: Collection[str] = (),
    way_to: Callable[[str], str | None] = lambda _name: None,
) -> str | None:
    """Return why a tool that writes must not run with these arguments (any JSON), or None.

    `known` maps each live key to its way back. `searched` are names of fields whose text is only looked for and never written (the
    `old` of an edit): a marker that got into a file before must be removable. `way_to` tells how an item of this session is read, by its name;
    None: there is no such item.
    """
    for path, text in _strings(arguments, "", searched):
        where = path[:80] or "the argument"
        if keys := live_markers(text, known.__contains__):
            ways = ", ".join(dict.fromkeys(f"~{key}: {known[key]}" for key in keys))
            return (
                f"{where} holds {'a marker' if len(keys) == 1 else 'markers'} in place of text that is archived, so nothing was done. "
                f"Read the real text first ({ways}), then call again with that text in full."
            )
        is_body = path.rpartition(".")[2] in BODIES
        names = only_markers(text)
        alone = is_body and len(names) == 1
        named = names or (_first_marker(text) if is_body else ())
        reads = {name: way for name in named if (way := way_to(name)) is not None}
        if reads or alone:
            return _form_refused(where, reads)
    return None


def _first_marker(text: str) -> tuple[str, ...]:
    """The name in the first line, if that is a marker by its form: the head of a shortened body, or a stub with a summary."""
    return only_markers(text.strip(_WRAPPING).partition("\n")[0])


def _form_refused(where: str, reads: Mapping[str, str]) -> str:
    told = ", ".join(f"{name}: {way}" for name, way in reads.items())
    how = (
        f"Read the real text first ({told})"
        if told
        else "Nothing of that name is archived here; find the real text (recall query=…) or make it"
    )
    return (
        f"{where} has a line in place of text that is archived, so nothing was done. {how}, then call again with that text in full. "
        "If that very line is meant, let it follow other text."
    )


def _candidates(text: str) -> Iterator[str]:
    """Whatever has the form of a key once wrapping, escapes and letter forms are undone."""
    if "\\" in text:
        text = _BREAK.sub("", _ESCAPED.sub(lambda m: chr(int(m[1], 16)), text))
    if not text.isascii():
        # Letter by letter: normalising a whole text is quadratic in a run of combining marks.
        forms = {ord(c): _TILDES.get(c) or unicodedata.normalize("NFKC", c) for c in set(text) if not c.isascii()}
        text = text.translate(forms)
    for found in _KEY.finditer(_UNPRINTED.sub("", text).lower()):
        yield found[1]


def _strings(value: object, path: str, searched: Collection[str]) -> Iterator[tuple[str, str]]:
    """Every string in a JSON value with the path to it, names of fields too; without recursion, since a model nests as it likes."""
    todo: list[tuple[object, str]] = [(value, path)]
    while todo:
        value, path = todo.pop()
        if isinstance(value, str):
            yield path, value
        elif isinstance(value, Mapping):
            for name, inner in reversed(list(value.items())):
                if name not in searched:
                    todo.append((inner, f"{path}.{name}" if path else str(name)))
                    todo.append((name, f"a name in {path}" if path else "a name"))
        elif isinstance(value, list | tuple):
            todo.extend((inner, f"{path}[{at}]") for at, inner in reversed(list(enumerate(value))))


def _count(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _line(text: str) -> str:
    """`text` on one line."""
    return " ".join(text.split())


def _word(name: str) -> str:
    """`name` without white space, which would end it; every legal id passes unchanged."""
    return re.sub(r"\s", "_", name)


def _way(what: str, name: str, way_back: str) -> str:
    if way_back == KEPT_OUTSIDE:
        return f"all of it {KEPT_OUTSIDE}" if what == "all of it" else KEPT_OUTSIDE
    return f"{what}: recall id={_word(name)}" if way_back == RECALL else f"{what}: read path={_line(way_back)}"


def _plain(text: str) -> str:
    """`text` without what JSON escapes."""
    joined = _line("".join(c if c.isprintable() else " " for c in text))
    return joined.replace('"', "'").replace("\\", "/")
