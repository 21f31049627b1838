"""`@docs/x.md` within a `CLAUDE.md`: another file whose text belongs to it.

    text ──lines outside of code──▶ "docs/x.md", "~/mine.md"        what is in `…`, between ``` or ~~~, and behind a letter (a@b) is none

The one rule: nothing here looks at a disk.
"""

import re
from collections.abc import Iterator

from trimtab.coding.mentions import Mention, mentions

DEEPEST = 5
"""Files one behind the other that are followed."""
MOST = 50
"""Files that are followed in all."""
_FENCE = re.compile(r" {0,3}(?:[-*+] +|> ?)*(`{3,}|~{3,})")
_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")


def imports_of(text: str) -> Iterator[Mention]:
    """What a text imports, each once, in its order."""
    yield from dict.fromkeys(mention for line in _outside_code(text) for mention in mentions(_SPAN.sub("", line)))


def _outside_code(text: str) -> Iterator[str]:
    fence = ""
    for line in text.splitlines():
        found = _FENCE.match(line)
        if fence:
            closes = found is not None and found[1].startswith(fence) and not line[found.end() :].strip()
            fence = "" if closes else fence
        elif found is not None:
            fence = found[1]
        else:
            yield line
