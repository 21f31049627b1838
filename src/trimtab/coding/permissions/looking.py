"""Which files may not be shown: rules of `deny` and `ask` about reading, by path.

    path of read, grep, find, ls ─┐
    operands of cat, head, sed, … ─┼─▶ its real path, and the path as it is written ─▶ a rule that names it, or a folder around it
    `< file`                      ─┘

It sees files that a command names, as `denials` sees words: a fence for a model that means well, no sandbox. The one rule: what can't be told to be a file's name is
taken for one where a reader could take it so.
"""

import os.path
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

from trimtab.coding.permissions.denials import carried
from trimtab.coding.permissions.policy import Paths, Policy
from trimtab.coding.permissions.rules import LOOKING, Rule, Rules
from trimtab.coding.permissions.shell import Command, Word

READERS = frozenset(
    [
        "cat",
        "tac",
        "nl",
        "head",
        "tail",
        "less",
        "more",
        "bat",
        "batcat",
        "view",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "sed",
        "awk",
        "gawk",
        "mawk",
        "jq",
        "yq",
        "cut",
        "sort",
        "uniq",
        "rev",
        "strings",
        "od",
        "xxd",
        "hexdump",
        "base64",
        "base32",
        "diff",
        "cmp",
        "comm",
        "paste",
        "join",
        "column",
        "fold",
        "fmt",
        "tr",
        "wc",
        "source",
        ".",
        "cp",
        "mv",
        "ln",
        "install",
        "dd",
        "tar",
        "zip",
        "gzip",
        "zcat",
        "rsync",
        "scp",
        "curl",
        "wget",
        "openssl",
        "gpg",
        "perl",
        "tee",
    ]
)
"""Programs that show or copy what is in the files that their words name."""
_SCRIPT_FIRST = frozenset({"grep", "egrep", "fgrep", "rg", "ag", "sed", "awk", "gawk", "mawk", "jq", "yq"})
"""Of those the ones whose first operand is a pattern or a script, unless an option gives it."""
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*[ef].*|--(?:regexp|file|expression|from-file).*", re.DOTALL)
_HOME = re.compile(r"(?:~|\$HOME|\$\{HOME\})(?=/|$)")
_REMEMBERED = 4096


def reading_rule(rules: tuple[Rule, ...], names: tuple[str, ...], policy: Policy) -> Rule | None:
    """The first rule about reading that names one of the absolute paths, or a folder around one."""
    return _rule(rules, names, policy.project, policy.home)


def _rule(rules: tuple[Rule, ...], names: tuple[str, ...], project: str, home: str) -> Rule | None:
    places = [place for name in names for place in _around(name)]
    return next(
        (
            rule
            for rule in rules
            if rule.argument is not None and rule.tool in LOOKING
            if any(rule.fits_path(place, project=project, home=home) for place in places)
        ),
        None,
    )


def _around(path: str) -> Iterator[str]:
    while path not in ("/", ""):
        yield path
        path = os.path.dirname(path)


@dataclass(frozen=True, slots=True)
class Closed:
    """For the tools themselves: which files no tool opens or lists, and which no search shows unless it was about them. Told by real path and by name."""

    denied: Callable[[str], bool]
    held: Callable[[str], bool]


def closed_by(rules: Rules, project: str, home: str) -> Closed | None:
    """What `rules` close; None when they close nothing."""

    def closes(some: tuple[Rule, ...]) -> Callable[[str], bool]:
        @lru_cache(_REMEMBERED)
        def found(path: str) -> bool:
            names = (os.path.realpath(path), os.path.normpath(path))
            return _rule(some, names, project, home) is not None

        return found if some else lambda path: False

    return Closed(closes(rules.deny), closes(rules.ask)) if rules.deny or rules.ask else None


def names_of_tool(text: str, policy: Policy, paths: Paths) -> tuple[str, ...]:
    """The real path of what a reading tool is asked for, and the one that is written."""
    real = paths.of_tool(text, "read")
    plain = policy.home.rstrip("/") + text[1:] if text == "~" or text.startswith("~/") else text.removeprefix("@")
    return () if real is None else (real, os.path.normpath(os.path.join(policy.project, plain)))


def files_read(command: Command, policy: Policy, paths: Paths) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The files that a command may show, as they are written, each with its absolute paths. Raises `Unclear` for a script inside that can't be read."""
    words = [*command.reads, *(word for inner in carried(command.words) for word in _operands(inner))]
    for word in words:
        for text in _texts(word, policy.home):
            if real := paths.of_shell(text):
                yield word.text, (real, os.path.normpath(os.path.join(policy.project, text)))


def _operands(words: tuple[Word, ...]) -> Iterator[Word]:
    name = os.path.basename(words[0].text) if words[0].known else ""
    if name not in READERS:
        return
    rest = words[1:]
    skips = name in _SCRIPT_FIRST and not any(_SCRIPT_OPTION.fullmatch(word.text) for word in rest)
    for word in rest:
        if skips and not word.text.startswith("-"):
            skips = False
            continue
        yield word


def _texts(word: Word, home: str) -> Iterator[str]:
    """What of a word may be a name: all of it, and what follows a `=` or an `@` (`if=x`, `-d @x`)."""
    text = word.text
    if not word.known:
        text, found = _HOME.subn(lambda _: home.rstrip("/"), text, count=1)
        if not found or re.search(r"[$`*?\[{]", text):
            return
    yield text
    for mark in ("=", "@"):
        if mark in text:
            yield text.rpartition(mark)[2]
