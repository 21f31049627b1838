"""Whether a command is known to change nothing: the table `read_only.toml`, read for one simple command at a time.

    Command ──unwrap──▶ the commands it really runs (`timeout 5 ls`, `xargs wc`, `sh -c '…'`) ──is_read_only──▶ yes or no

The one rule: an argument whose value isn't known may be any option, so commands that have options to refuse get none of those.
"""

import functools
import os.path
import re
import tomllib
from importlib import resources
from itertools import takewhile

import msgspec

from trimtab.coding.permissions.shell import Command, Word, parse

_SHELLS = frozenset({"sh", "bash", "dash"})
SYSTEM_FOLDERS = ("/bin/", "/usr/bin/", "/usr/local/bin/")
_SMALL_NAME = re.compile(r"(?!.*_proxy$|npm_)[a-z][a-z0-9_]*", re.ASCII)
_VERSION = ("--version", "--help")
_SED_ADDRESS = r"(?:\d+|\$|\+\d+|\d+~\d+|/[^/\\;\n]*/)"
_SED_STEP = re.compile(
    rf"\s*(?:{_SED_ADDRESS}(?:,{_SED_ADDRESS})?)?\s*!?(?:[pdq=]|s([/|#,])(?:(?!\1)[^\\\n]|\\.)*\1(?:(?!\1)[^\\\n]|\\.)*\1[gpiI\d]*)?\s*"
)
_SED_FLAGS = re.compile(r"-[nErsuz]+|--quiet|--silent|--regexp-extended")


class _Spec(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    refuse: tuple[str, ...] = ()
    every: str | None = None
    max_operands: int | None = None
    subcommands: "dict[str, _Spec] | None" = None
    options: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    bare: bool = False


class _Wrapper(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    flags: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    operands: int = 0
    assigns: bool = False
    appends: bool = False
    bare: bool = False


class _Table(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    safe: frozenset[str]
    version_only: dict[str, tuple[str, ...]]
    variables: frozenset[str]
    commands: dict[str, _Spec]
    wrappers: dict[str, _Wrapper]


@functools.cache
def _table() -> _Table:
    text = resources.files(__package__).joinpath("read_only.toml").read_text("utf-8")
    return msgspec.convert(tomllib.loads(text), _Table)


def unsafe_variables(command: Command) -> tuple[str, ...]:
    """Return the variables that the command sets and that could change what programs do."""
    allowed = _table().variables
    return tuple(name for name in command.assigns if name not in allowed and not _SMALL_NAME.fullmatch(name))


def unwrap(command: Command) -> tuple[Command, ...] | None:
    """Return the commands that a wrapper (`timeout`, `xargs`, `sh -c`, …) runs; None when it is no wrapper.

    Raises `Unclear` for a script inside that can't be read.
    """
    words = command.words
    name = _name(words)
    if name in _SHELLS and len(words) == 3 and words[1].text == "-c" and words[2].known:
        return parse(words[2].text)
    wrapper = _table().wrappers.get(name)
    if wrapper is None:
        return None
    rest, assigns = _after_own_arguments(words[1:], wrapper)
    if rest is None:
        return None
    if not rest:
        return (Command(assigns=assigns),) if wrapper.bare else None
    more = (Word("…", known=False, loose=True),) if wrapper.appends else ()
    return (Command((*rest, *more), assigns),)


def is_read_only(words: tuple[Word, ...]) -> bool:
    """Tell whether a command with these words is known to change nothing."""
    table, name, arguments = _table(), _name(words), words[1:]
    if name in table.version_only and len(arguments) == 1 and arguments[0].known:
        return arguments[0].text in (*_VERSION, *table.version_only[name])
    if name == "sed":
        return _is_printing_sed(arguments)
    if name == "command" and arguments and arguments[0].text in ("-v", "-V"):
        return True
    spec = table.commands.get(name)
    return _fits(arguments, spec) if spec else name in table.safe


def git_folder(words: tuple[Word, ...]) -> str | None:
    """For a git command that is known to change nothing, the folder that its options `-C` name, "" without; None for any other command."""
    if _name(words) != "git":
        return None
    values, folder, at = _table().commands["git"].values, "", 1
    while at < len(words) and words[at].text.startswith("-"):
        if words[at].text in values and at + 1 < len(words):
            folder = os.path.join(folder, words[at + 1].text)
            at += 1
        at += 1
    return folder


def _name(words: tuple[Word, ...]) -> str:
    if not words or not words[0].known:
        return ""
    text = words[0].text
    folder, _, name = text.rpartition("/")
    return name if folder and f"{folder}/" in SYSTEM_FOLDERS else text


def _fits(arguments: tuple[Word, ...], spec: _Spec) -> bool:
    if spec.subcommands is not None:
        return _fits_subcommand(arguments, spec)
    if (spec.refuse or spec.every or spec.max_operands is not None) and any(_may_be_option(a) for a in arguments):
        return False
    if spec.every is not None and not all(a.known and re.fullmatch(spec.every, a.text) for a in arguments):
        return False
    if spec.max_operands is not None and not (
        all(a.known for a in arguments) and _operands(arguments) <= spec.max_operands
    ):
        return False  # `x*` and `x{1,2}` may be several
    return not any(_is_refused(a.text, refused) for a in arguments for refused in spec.refuse)


def _operands(arguments: tuple[Word, ...]) -> int:
    """At most how many of `arguments` are operands: after the first one, a dash may begin an operand too (`uniq - -x`)."""
    options = takewhile(lambda a: a.text.startswith("-") and a.text not in ("-", "--"), arguments)
    rest = arguments[sum(1 for _ in options) :]
    return len(rest) - (bool(rest) and rest[0].text == "--")


def _may_be_option(word: Word) -> bool:
    return word.loose or (not word.known and word.text.startswith("-"))


def _fits_subcommand(arguments: tuple[Word, ...], spec: _Spec) -> bool:
    at = 0
    while at < len(arguments) and arguments[at].known and arguments[at].text.startswith("-"):
        if arguments[at].text in spec.values:
            at += 1
            if at == len(arguments) or not arguments[at].known:
                return False
        elif arguments[at].text not in spec.options:
            return False
        at += 1
    if at == len(arguments):
        return spec.bare
    below = (spec.subcommands or {}).get(arguments[at].text) if arguments[at].known else None
    return below is not None and _fits(arguments[at + 1 :], below)


def _is_refused(argument: str, refused: str) -> bool:
    if refused.startswith("--"):
        given = argument.partition("=")[0]
        return len(given) > 2 and refused.startswith(given)
    if len(refused) == 2:
        return argument.startswith("-") and not argument.startswith("--") and refused[1] in argument[1:]
    return argument == refused


def _after_own_arguments(words: tuple[Word, ...], wrapper: _Wrapper) -> tuple[tuple[Word, ...] | None, tuple[str, ...]]:
    """Skip a wrapper's own arguments; return the rest (None: an option nobody knows) and the variables it sets."""
    at, operands = 0, wrapper.operands
    assigns: list[str] = []
    while at < len(words):
        word = words[at]
        if not word.known:
            return None, ()
        if word.text in wrapper.values:
            at += 2
        elif word.text in wrapper.flags or word.text.startswith(wrapper.values):
            at += 1
        elif word.text.startswith("-"):
            return None, ()
        elif wrapper.assigns and "=" in word.text:
            assigns.append(word.text.partition("=")[0])
            at += 1
        elif operands:
            operands -= 1
            at += 1
        else:
            break
    return words[at:], tuple(assigns)


def _is_printing_sed(arguments: tuple[Word, ...]) -> bool:
    scripts: list[Word] = []
    operands: list[Word] = []
    expects = False
    for argument in arguments:
        if _may_be_option(argument):
            return False
        if expects:
            scripts.append(argument)
            expects = False
        elif argument.text in ("-e", "--expression"):
            expects = True
        elif argument.text.startswith("-"):
            if not _SED_FLAGS.fullmatch(argument.text):
                return False
        else:
            operands.append(argument)
    scripts = scripts or operands[:1]
    steps = [step for script in scripts for step in re.split(r"[;\n]", script.text)]
    return bool(scripts) and all(s.known for s in scripts) and all(_SED_STEP.fullmatch(step) for step in steps)
