"""The names that a model and a person's rules know a server's tools by: `mcp__SERVER__TOOL`.

Providers take letters, digits, `_` and `-`, 64 at most; what doesn't fit is changed and, where two would then be one, told apart by a hash of
what it was. Pure, and the same in each session, whatever order things come in.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.telling.printable import one_line

LONGEST = 64
_MARK = 6
_WHOLE = LONGEST - _MARK - len("mcp____") - 1
"""Characters of a server's name that stand in the name of a tool however long that one is."""


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


def told_apart(first: Sequence[ServerConfig], then: Sequence[ServerConfig]) -> list[ServerConfig]:
    """`then`, each with a problem where its tools would read as those of a server before it: a rule about one may not be one about the other.

    One that a project brings may have no name that could belong to others either, whatever there is today.
    """
    before = list(first)
    apart: list[ServerConfig] = []
    for config in then:
        apart.append(config if config.problem or config.server.disabled else _apart(config, before))
        before.append(config)
    return apart


def _apart(config: ServerConfig, before: Sequence[ServerConfig]) -> ServerConfig:
    part = server_part(config.name)
    wide = bool(config.origin) and ("__" in part or part.endswith("_"))
    alike = next((other for other in before if _counts(other, config) and _alike(server_part(other.name), part)), None)
    if alike is None and not wide:
        return config
    whose = "another server" if alike is None else f"{'the' if alike.origin else 'your'} server {one_line(alike.name)}"
    todo = "its project has to call it otherwise" if config.origin else "call one of them otherwise"
    return replace(config, problem=f"its tools would have names like those of {whose}; {todo}")


def _counts(other: ServerConfig, config: ServerConfig) -> bool:
    """Rules about a server of the person's are kept for it while it is turned off."""
    return bool(config.origin and not other.origin) or not other.server.disabled


def _alike(one: str, other: str) -> bool:
    """Whether a name of a tool could be that of either server."""
    if one == other or one.startswith(f"{other}__") or other.startswith(f"{one}__"):
        return True
    return one[:_WHOLE] == other[:_WHOLE]


def server_part(server: str) -> str:
    """A server's name as it stands in the names of its tools."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", server) or "_"


def _raw(pair: tuple[str, str]) -> str:
    return f"mcp__{pair[0]}__{pair[1]}"


def _plain(pair: tuple[str, str]) -> str:
    return f"mcp__{server_part(pair[0])}__{server_part(pair[1])}"


def _hash(pair: tuple[str, str]) -> str:
    return hashlib.sha256("\0".join(pair).encode("utf-8", "surrogatepass")).hexdigest()[:_MARK]
