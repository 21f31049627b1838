"""What bash runs of a script is among the commands that were read in it, and what it writes among the targets.

A script is made of pieces, and where it isn't refused, bash runs it in an empty folder and with no program at all: each command that it
looks for in vain is noted with its words.
"""

import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from trimtab.coding.permissions.shell import Command, Unclear, Word, parse

BASH = shutil.which("bash") or ""
# One write a note, so that those of commands that run side by side don't mix.
_PRELUDE = r"""
command_not_found_handle() { local r; printf -v r '%s\037' "$@"; printf '%s\036' "$r" >>"$NOTES"; return "${#1}"; }
v='p  q' w='*'
"""

_WORDS = [
    "a",
    "bb",
    "'c d'",
    '"e  f"',
    "g\\ h",
    "''",
    '""',
    "$v",
    '"$v"',
    "${w}",
    '"x$v"',
    "x*",
    "x{1,2}",
    "i#j",
    "\\;",
    "'|'",
    "if",
    "in",
    "-o",
    "k=l",
]
_INNER = [
    "$(a b)",
    '"$(a "b c")"',
    "`bb c`",
    '"`a b`"',
    "<(a b)",
    "$(a $(bb c))",
    "$(a; bb)",
    '"$(a <<< "x y")"',
    "x$(a)y",
]
_PLAIN = st.sampled_from(_WORDS + _INNER)
_WRITES = [
    ">f1",
    "> f2",
    "2>f3",
    "&>f4",
    ">>'f 5'",
    ">|f6",
    "2>&1",
    "</dev/null",
    "<<<x",
    "<<< 'y z'",
    "1>f7",
    ">/dev/null",
]
_SEPARATORS = ["; ", " ;", "&&", " || ", " | ", "|&", "\n", " & ", "\n\n", " # no\n", ";\n", " \\\n "]
_ODD = [
    "(",
    ")",
    "{ ",
    " ; }",
    "!",
    "then ",
    "fi",
    "do ",
    "done",
    "$",
    "<<E\n",
    "E\n",
    "\\",
    "'",
    '"',
    "`",
    "=",
    "A=",
    "&",
    ">",
    "<",
    "}",
    "{",
    "((",
    "[[",
    "$(",
    "<(",
    "${v:-x}",
    "$((",
    "case a in ",
    "esac",
    "for y in a",
    "\\\n",
    "$'x'",
    "~",
    "a[0]=b",
    "\t",
    '"$(',
    "2>",
    "3>",
    "<&",
    ">&",
    "<<-'E F'\n",
    "E F\n",
    "a(",
    "<<<",
    "elif ",
    "else ",
    "time ",
    "{a,",
    "[",
    "]",
    "%",
    "**",
    "?",
]

_COMMAND = st.lists(_PLAIN | st.sampled_from(_WRITES), min_size=1, max_size=4).map(" ".join)
_ASSIGNED = st.builds(" ".join, st.tuples(st.sampled_from(["A=1", "B='x y'", "C=$(a)", "D+=e"]), _COMMAND))


def _around(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        inner.map("({})".format),
        inner.map("{{ {}; }}".format),
        inner.map("if {}; then a; fi".format),
        inner.map("if a; then bb; else {}; fi >f8".format),
        inner.map("for y in 1 $(bb) x*; do {}; done".format),
        inner.map('echo "$({})"'.format),
        inner.map("cat <<'E'\n{}\nE\n".format),
        inner.map("cat <<-E | bb\n\ttext\n\tE\n{}".format),
        inner.map("! {}".format),
        inner.map("time {}".format),
        st.tuples(inner, st.sampled_from(_SEPARATORS), inner).map("".join),
    )


_SCRIPT = st.recursive(_COMMAND | _ASSIGNED, _around, max_leaves=4)
_SOUP = st.lists(_PLAIN | st.sampled_from([*_SEPARATORS, *_WRITES, *_ODD, " ", " "]), max_size=9).map("".join)


def ran(script: str) -> tuple[list[list[str]], set[str]]:
    """The commands that bash looked for, each with its words, and the files that it made."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder, "work")
        work.mkdir()
        notes = Path(folder, "notes")
        notes.touch()
        subprocess.run(
            [BASH, "--norc", "--noprofile", "-c", f"ulimit -t 5\n{_PRELUDE}{script}\nwait"],
            cwd=work,
            env={"PATH": "/nowhere", "NOTES": str(notes)},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=20,
            check=False,
        )
        noted = notes.read_bytes().decode().split("\x1e")[:-1]
        return [note.split("\x1f")[:-1] for note in noted], {path.name for path in work.iterdir()}


def may_be(words: Sequence[Word], argv: Sequence[str]) -> bool:
    """Whether these words can have become `argv`: a word that isn't known may be any number of them."""
    if not words:
        return not argv
    if words[0].known:
        return bool(argv) and argv[0] == words[0].text and may_be(words[1:], argv[1:])
    return any(may_be(words[1:], argv[size:]) for size in range(len(argv) + 1))


def check(script: str) -> None:
    try:
        commands: tuple[Command, ...] = parse(script)
    except Unclear:
        return
    found, files = ran(script)
    for argv in found:
        assert any(may_be(command.words, argv) for command in commands), (script, argv)
    assert files <= {target.text for command in commands for target in command.writes}, script


@pytest.mark.skipif(not BASH, reason="there is no bash")
@settings(max_examples=120, deadline=None)
@given(_SCRIPT)
@example("a <<'E' ; bb\n$(c)\nE\na")
@example("a\\\n bb;a#b\n#a\n")
def test_every_command_that_bash_runs_of_a_script_was_read(script: str) -> None:
    check(script)


@pytest.mark.skipif(not BASH, reason="there is no bash")
@settings(max_examples=120, deadline=None)
@given(_SOUP)
@example("2>&1 if")
def test_whatever_the_pieces_bash_runs_nothing_that_was_not_read(script: str) -> None:
    check(script)
