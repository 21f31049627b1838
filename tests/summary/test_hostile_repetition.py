"""Texts made to be slow: every reader of foreign text takes time that grows with the length, not with its square.

A reader that doesn't would need minutes for one of these and so hit the time limit of the tests.
"""

import pytest

from trimtab.context.asks import Summary
from trimtab.context.summary.accept import judge
from trimtab.context.summary.audit import audit
from trimtab.context.summary.blocks import compress_source
from trimtab.context.summary.facts import facts_in, rules_in
from trimtab.context.summary.language import language_of
from trimtab.context.summary.redact import redact
from trimtab.context.summary.reply import parse_reply
from trimtab.context.summary.serialize import escape

UNITS = [
    "x",
    "a_",
    "a/",
    "1,",
    "1.1:",
    "eyJ-",
    "a.b",
    "A1",
    "aB",
    "< ",
    "<\t",
    "-",
    "| -",
    "key: ",
    "password is ",
    "://a:",
    '"',
    "`",
    "```\n",
]
UNITS += [
    "[",
    "{",
    '{"a":',
    "<summary>",
    "<analysis>",
    "</",
    "E",
    "never ",
    "\n",
    " ",
    "。",
    "!",
    "0x",
    "@+",
    "--a",
    "\\a",
    "$1",
    "é",
    "字",
]
READERS = {
    "redact": redact,
    "escape": escape,
    "facts": lambda text: list(facts_in(text)),
    "rules": rules_in,
    "language": language_of,
    "reply": parse_reply,
    "verdict": lambda text: judge(Summary(text), replaces_tokens=10, count=len),
    "blocks": lambda text: compress_source(text, max_tokens=100, count=len),
    "audit": lambda text: audit(text, ()),
}


@pytest.mark.parametrize("reader", READERS)
def test_repetition_does_not_make_a_reader_slow(reader):
    for unit in UNITS:
        READERS[reader](unit * (15_000 // len(unit)) + "\x01")
        READERS[reader]("<" + unit * (15_000 // len(unit)))
