"""Globs as models write them: `*.py`, `src/**/test_*.py`, `{a,b}.ts`.

    *  any characters but /      ?  one character but /     [ab] [!ab]  one of, none of
    ** any characters, / too     {x,y}  either              \\c  the character c

A pattern without a slash is about the name alone, at any depth; one with a slash is about the whole relative path.
"""

import re
from collections.abc import Callable
from typing import TypeAlias

Matches: TypeAlias = Callable[[str], bool]
_WILD = re.compile(r"[*?\[{\\]")
_TOKEN = re.compile(r"/\*\*/|^\*\*/|\*\*|\*|\?|\[!?\]?[^\]/]*\]|\\.|[{},]|[^*?\[\\{},/]+|.", re.DOTALL)


def is_wild(pattern: str) -> bool:
    """Tell whether `pattern` can match more than one path."""
    return _WILD.search(pattern) is not None


def compile_glob(pattern: str) -> Matches:
    """Return a predicate on relative paths with `/` (no leading `./`). Never raises: what is no glob is literal."""
    pattern = pattern.removeprefix("./")
    by_name = "/" not in pattern.strip("/")
    regex = re.compile(_translate(pattern.strip("/")), re.DOTALL)
    if by_name:
        return lambda path: regex.fullmatch(path.rpartition("/")[2]) is not None
    return lambda path: regex.fullmatch(path) is not None


def _translate(pattern: str) -> str:
    tokens = _TOKEN.findall(pattern)
    braced = tokens.count("{") == tokens.count("}")
    depth, parts = 0, []
    for token in tokens:
        depth += braced * ((token == "{") - (token == "}" and depth > 0))
        parts.append(_token(token, in_braces=braced and (depth > 0 or token == "}")))
    translated = "".join(parts)
    try:
        re.compile(translated)
    except re.error:
        return re.escape(pattern)
    return translated


def _token(token: str, *, in_braces: bool) -> str:
    if in_braces and token in ("{", "}", ","):
        return {"{": "(?:", "}": ")", ",": "|"}[token]
    fixed = {"/**/": "/(?:.*/)?", "**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    if token in fixed:
        return fixed[token]
    if token[0] == "[" and token[-1] == "]" and len(token) > 2:
        inside = token[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("&&", "&\\&").replace("~~", "~\\~")
        if inside[0] == "!":
            return f"[^/{inside[1:]}]"
        return "[" + (r"\^" + inside[1:] if inside[0] == "^" else inside) + "]"
    return re.escape(token[1:] if token[0] == "\\" and len(token) == 2 else token)
