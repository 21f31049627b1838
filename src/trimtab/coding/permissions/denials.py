"""Every guise of a command in which a rule of denial looks for its words.

    sudo -u me /usr/bin/git -C . push ──carriers──▶ /usr/bin/git -C . push ──base name──▶ git -C . push ──options──▶ git push

A rule that allows is compared with the words as they stand; a rule that denies with all guises, and where it isn't clear where the
carried command begins, with each place it may. Words that only the shell knows (`$X push`, an alias, a script that runs git) stay
unseen: a denial is a fence for a model that means well, no sandbox.
"""

import os.path
import re
from collections.abc import Iterator, Sequence

from trimtab.coding.permissions.programs import Carrier, programs
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.permissions.shell import Command, Unclear, Word, parse

_MAX_DEPTH = 20
_MAX_PLACES = 20
"""At how many places behind an option that nobody knows a carried command may begin."""

_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh"})
_SCRIPT_OPTION = re.compile(r"-[A-Za-z]*c[A-Za-z]*")
_FIND_RUNS = frozenset({"-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.ASCII | re.DOTALL)

Words = tuple[Word, ...]


def denied(commands: Sequence[Command], rules: Sequence[Rule]) -> tuple[Words, Rule] | None:
    """Return the words of the first command that one of `rules` fits in some guise, and that rule; None when there is none.

    Raises `Unclear` for a script inside that can't be read.
    """
    for command in commands:
        for words in carried(command.words):
            if rule := next((rule for rule in rules if _fits(rule, words)), None):
                return words, rule
    return None


def _fits(rule: Rule, words: Words) -> bool:
    if rule.argument is None:
        return True
    program, *rest = rule.argument.split()
    plain = Rule(rule.tool, " ".join((_base(program), *rest)))
    guises = (words, _by_base_name(words), _without_options(words))
    return rule.fits_command(words) or any(plain.fits_command(guise) for guise in guises)


def carried(words: Words) -> Iterator[Words]:
    """Yield `words`, then the words of every command that they carry, however deep, each once."""
    pending = [(words, 0)]
    seen: dict[tuple[int, int], Words] = {}  # by last word and length: all are ends of few word lists
    while pending:
        here, depth = pending.pop()
        key = (id(here[-1]), len(here)) if here else (0, 0)
        if not here or key in seen:
            continue
        if depth > _MAX_DEPTH:
            raise Unclear("programs run programs that run programs, too deeply")
        seen[key] = here
        yield here
        pending += [(inner, depth + 1) for inner in _inside(here)]


def _inside(words: Words) -> Iterator[Words]:
    name, arguments = _base(words[0].text) if words[0].known else "", words[1:]
    if name in _SHELLS and (script := _script(arguments)) is not None:
        yield from (command.words for command in parse(script))
    elif name == "eval" and all(word.known for word in arguments):
        yield from (command.words for command in parse(" ".join(word.text for word in arguments)))
    elif name in ("find", "fd"):
        places = [at + 1 for at, word in enumerate(arguments) if word.text in _FIND_RUNS]
        if len(places) > _MAX_PLACES:
            raise Unclear(f"{name} runs too many programs")
        yield from (arguments[place:] for place in places)
    elif name.startswith("-"):
        yield from _behind(words, Carrier())  # what follows the keyword `time`
    elif carrier := programs().carriers.get(name):
        yield from _behind(arguments, carrier)


def _script(arguments: Words) -> str | None:
    """The script of `sh -c SCRIPT`, when it is known."""
    options = 0
    while options < len(arguments) and arguments[options].text.startswith(("-", "+")):
        if _SCRIPT_OPTION.fullmatch(arguments[options].text):
            script = next((word for word in arguments[options + 1 :] if not word.text.startswith("-")), None)
            return script.text if script and script.known else None
        options += 1
    return None


def _behind(arguments: Words, carrier: Carrier) -> Iterator[Words]:
    """Yield the carried command; from an option of unknown shape on, all that it may be."""
    at, operands = 0, carrier.operands
    while at < len(arguments):
        text = arguments[at].text
        if text in carrier.values:
            at += 2
        elif text.startswith("-"):
            yield from (arguments[place:] for place in range(at + 1, min(at + 1 + _MAX_PLACES, len(arguments))))
            return
        elif _ASSIGNMENT.fullmatch(text):
            at += 1
        elif operands:
            operands, at = operands - 1, at + 1
        else:
            break
    yield arguments[at:]


def _by_base_name(words: Words) -> Words:
    first = words[0]
    return (Word(_base(first.text), first.known, first.loose, first.quoted), *words[1:])


def _without_options(words: Words) -> Words:
    """Leave out what stands between a program and its subcommand."""
    program, *_ = _by_base_name(words)
    values = programs().values.get(program.text, ())
    at = 1
    while at < len(words) and words[at].text.startswith(("-", "+")):
        at += 2 if words[at].text in values else 1
    return (program, *words[at:])


def _base(program: str) -> str:
    return os.path.basename(program) or program
