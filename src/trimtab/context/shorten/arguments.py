"""Arguments: pointers in place of the large texts that a call carried, every other byte as it streamed.

Re-encoding the rest would change the bytes of the request in front of the pointer and break its cache; so the raw JSON is never written
anew. Its strings are found with their positions, and the large ones are replaced where they stand.
"""

import json
import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

from trimtab.context.shorten.cap import Count

Path: TypeAlias = tuple[str | int, ...]
"""Where a value stands: names of fields and, in lists, numbers from 0."""
PointerFor = Callable[[Path, str], str | None]
"""What takes the place of the text at a path; None: it stays."""

_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}\[\]:,]', re.DOTALL)


def offload_arguments(raw: str, *, min_tokens: int, count: Count, pointer_for: PointerFor) -> str | None:
    """Return `raw` with the texts of at least `min_tokens` that `pointer_for` answers replaced; None when nothing gets shorter.

    Also None when `raw` is no JSON object: a call that could not be parsed is shown as it came.
    """
    if not _is_object(raw):
        return None
    out: list[str] = []
    done = 0
    for start, end, path in string_values(raw):
        if _bytes(raw[start:end]) - 2 < min_tokens:  # no token is less than a byte
            continue
        value = json.loads(raw[start:end], strict=False)
        if count(value) < min_tokens or (text := pointer_for(path, value)) is None:
            continue
        shown = json.dumps(text, ensure_ascii=False)
        if _bytes(shown) < _bytes(raw[start:end]):
            out += [raw[done:start], shown]
            done = end
    return "".join([*out, raw[done:]]) if out else None


def string_values(raw: str) -> Iterator[tuple[int, int, Path]]:
    """Yield start, end (quotes included) and path of every string in valid JSON that is a value, in order."""
    path: list[str | int] = []
    in_object: list[bool] = []
    naming = False
    for token in _TOKEN.finditer(raw):
        match token[0]:
            case "{":
                in_object.append(True)
                path.append("")
                naming = True
            case "[":
                in_object.append(False)
                path.append(0)
            case "}" | "]":
                in_object.pop()
                path.pop()
                naming = False
            case ",":
                naming = in_object[-1]
                last = path[-1]
                if isinstance(last, int):
                    path[-1] = last + 1
            case ":":
                naming = False
            case text if naming:
                path[-1] = str(json.loads(text, strict=False))
            case _:
                yield token.start(), token.end(), tuple(path)


def pointers_in(shown: str, raw: str) -> tuple[str, ...]:
    """Return the texts that `offload_arguments` put into `shown`, made from `raw`. What the call itself held is none of them.

    None either where `shown` was not made from `raw`, as an edit in a file that another program wrote may have it.
    """
    if not (_is_object(shown) and _is_object(raw)):
        return ()
    new, old = list(string_values(shown)), list(string_values(raw))
    if [path for _, _, path in new] != [path for _, _, path in old]:
        return ()
    texts = ((shown[a:b], raw[c:d]) for (a, b, _), (c, d, _) in zip(new, old, strict=True))
    return tuple(json.loads(there, strict=False) for there, before in texts if there != before)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _is_object(raw: str) -> bool:
    try:
        return isinstance(json.loads(raw, strict=False), dict)
    except (ValueError, RecursionError):
        return False
