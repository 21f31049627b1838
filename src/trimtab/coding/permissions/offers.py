"""The rule that would let a refused command run: as wide as is harmless, else word for word.

`pytest -q x` is offered as `pytest`, `npm test -- --watch` as `npm test`, `rm -rf build` as just that with `$`, the end. No rule is offered that would
open a dangerous program as a whole, nor for words that a rule can't say (blanks, wildcards, what only the shell knows).
"""

import re

from trimtab.coding.permissions.programs import programs
from trimtab.coding.permissions.rules import END
from trimtab.coding.permissions.shell import Word

_PLAIN = re.compile(r"[\w@%+=:,./-]+", re.ASCII)
_PYTHON = re.compile(r"python[\d.]*")
_LONGEST = 100


def offer(words: tuple[Word, ...]) -> str:
    """Return the words for `tools.bash.allow` that cover a command with these words; "" when no rule is fit."""
    facts = programs().offer
    name, second, third = ([word.text for word in words[:3] if word.known] + ["", "", ""])[:3]
    if name in facts.alone:
        return name
    if second in facts.subcommands.get(name, ()):
        return f"{name} {second}"
    if _PYTHON.fullmatch(name) and second == "-m" and third in facts.modules:
        return f"{name} -m {third}"
    return word_for_word(words)


def word_for_word(words: tuple[Word, ...]) -> str:
    """Return the words that cover a command with just these words; "" when a rule can't say them, or none should."""
    facts = programs().offer
    plain = bool(words) and all(word.known and _PLAIN.fullmatch(word.text) for word in words)
    whole = " ".join(word.text for word in words)
    fit = plain and "=" not in words[0].text and whole not in facts.never and len(whole) <= _LONGEST
    return f"{whole} {END}" if fit else ""
