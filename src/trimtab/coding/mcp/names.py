"""The names that a model and a person's rules know a server's tools by: `mcp__SERVER__TOOL`.

Providers take letters, digits, `_` and `-`, 64 at most; what doesn't fit is changed and, where two would then be one, told apart by a hash of
what it was. Pure, and the same in each session, whatever order things come in.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping

LONGEST = 64
_MARK = 6


def tool_names(tools: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], str]:
    """A name for each pair of server and tool, no name twice."""
    names: dict[tuple[str, str], str] = {}
    taken: set[str] = set()
    for pair in sorted(set(tools), key=lambda pair: (_plain(pair) != _raw(pair), pair)):
        name = _plain(pair)
        if len(name) > LONGEST or name in taken:
            name = f"{name[: LONGEST - _MARK - 1]}_{_hash(pair)}"
        names[pair] = name
        taken.add(name)
    return names


def server_part(server: str) -> str:
    """A server's name as it stands in the names of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", server) or "_"


def _raw(pair: tuple[str, str]) -> str:
    return f"mcp__{pair[0]}__{pair[1]}"


def _plain(pair: tuple[str, str]) -> str:
    return f"mcp__{server_part(pair[0])}__{server_part(pair[1])}"


def _hash(pair: tuple[str, str]) -> str:
    return hashlib.sha256("\0".join(pair).encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
