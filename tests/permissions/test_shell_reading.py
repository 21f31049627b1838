"""Scripts are read as bash reads them, or refused."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.coding.permissions.shell import MAX_CHARACTERS, Command, Unclear, parse


def words(script: str) -> list[list[str]]:
    return [[word.text for word in command.words] for command in parse(script) if command.words]


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("", []),
        ("ls -la", [["ls", "-la"]]),
        (
            "git diff | grep x && ls || true; pwd & id",
            [["git", "diff"], ["grep", "x"], ["ls"], ["true"], ["pwd"], ["id"]],
        ),
        ("a\nb # c; d\n# e\nf#g", [["a"], ["b"], ["f#g"]]),
        ("a \\\n  b", [["a", "b"]]),
        ("echo 'a b' \"c 'd\" e\\ f ''", [["echo", "a b", "c 'd", "e f", ""]]),
        ("(a; (b)); { c; }", [["a"], ["b"], ["c"]]),
        (
            "echo $(a $(b)) `c d` <(e) >(f)",
            [["b"], ["a", "$(…)"], ["c", "d"], ["e"], ["f"], ["echo", "$(…)", "`…`", "<(…)", "<(…)"]],
        ),
        ('echo "x $(rm y) z"', [["rm", "y"], ["echo", "x $(…) z"]]),
        ("if a; then b; elif c; then d; else e; fi", [["a"], ["b"], ["c"], ["d"], ["e"]]),
        ("for f in *.py $(x); do wc $f; done | sort", [["x"], ["wc", "$f"], ["sort"]]),
        ("while ! a; do b; done", [["a"], ["b"]]),
        ("x=$(a) b=1 c d=2", [["a"], ["c", "d=2"]]),
        ("cat <<'E' | wc\n$(rm) `x`\nE\nls", [["cat"], ["wc"], ["ls"]]),
        ("cat <<-E\n\tx $y\n\tE\nls", [["cat"], ["ls"]]),
        ("a <<< x 2>&1 >&2 </dev/null b", [["a", "b"]]),
        ("echo if then", [["echo", "if", "then"]]),
        ("'if' a", [["if", "a"]]),
        ("X=1 if a", [["if", "a"]]),
        ("2>&1 if a", [["if", "a"]]),
        ("<x { a", [["{", "a"]]),
        ("find . -name '*.py' -exec rm {} \\;", [["find", ".", "-name", "*.py", "-exec", "rm", "{}", ";"]]),
    ],
)
def test_every_command_is_found(script: str, expected: list[list[str]]) -> None:
    assert words(script) == expected


@pytest.mark.parametrize(
    ("script", "writes"),
    [
        ("a > b", ["b"]),
        ("a >>b 2>c", ["b", "c"]),
        ("a &>b; c &>> d", ["b", "d"]),
        ("a >| 'b c'", ["b c"]),
        ("> b", ["b"]),
        ("{ a; } > b", ["b"]),
        ("for x in 1; do a; done > b", ["b"]),
        ("(a) 2> b", ["b"]),
        ("a 2>&1 < b", []),
    ],
)
def test_every_file_that_is_written_is_found(script: str, writes: list[str]) -> None:
    assert [target.text for command in parse(script) for target in command.writes] == writes


@pytest.mark.parametrize(
    ("script", "why"),
    [
        ("ls" + " " * MAX_CHARACTERS, "it is longer than 10,000 characters"),
        ("ls 3>x", "it redirects file descriptor 3"),
        ("ls {fd}>x", "it redirects a file descriptor by name"),
        ("ls >&x", "it redirects with >&x"),
        ("ls <>x", "it opens a file to read and write (<>)"),
        ("cat </dev/tcp/h/1", "it redirects to or from '/dev/tcp/h/1'"),
        ("ls > $x", "it redirects to or from '$x'"),
        ("[[ a =~ b ]]", "it uses '[['"),
        ("case a in a) b;; esac", "it uses 'case'"),
        ("f() { ls; }", "it defines a function or an array"),
        ("a=(x)", "it defines a function or an array"),
        ("(( x ))", "it uses (("),
        ("echo $((1))", "it calculates ($((…)))"),
        ("echo ${x:=y}", "it uses ${…} with an operator"),
        ("echo $'a'", "it uses $'…'"),
        ("for x do rm y; done", "it uses a 'for' of an unknown form"),
        ("cat <<E\n$(rm)\nE", "a here-document expands something"),
        ("cat <<E\nx", "a here-document has no end"),
        ("l\\\ns", "a backslash ends a line inside a word"),
        ('"$\\\n(rm)"', "a backslash ends a line inside a word"),
        ("ls '", "a ' is not closed"),
        ("ls )", "its brackets don't match"),
        ("$(ls", "its brackets don't match"),
        ("ls\rrm", "it holds the invisible character U+000D"),
        ("ls \u202erm", "it holds the invisible character U+202E"),
        ("ls\u3164rm", "it holds the invisible character U+3164"),
        ("ls \U000e0041", "it holds the invisible character U+E0041"),
        ("(" * 30 + "ls" + ")" * 30, "it uses (("),
        ("( " * 30 + "ls" + ")" * 30, "it is nested too deeply"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused(script: str, why: str) -> None:
    with pytest.raises(Unclear) as unclear:
        parse(script)
    assert str(unclear.value) == why


def test_words_that_may_be_options_are_known_as_such() -> None:
    (command,) = parse('x a "$b" c$d "e$f" *g h* {i,j} ~k')
    assert [word.loose for word in command.words] == [False, False, True, True, False, True, False, True, True]


def test_assignments_are_named_and_quoted_ones_are_words() -> None:
    assert parse("A=1 b+=2 c 'D=3'")[0].assigns == ("A", "b")
    assert parse("'A=1' b") == (Command(parse("'A=1' b")[0].words),)


@pytest.mark.parametrize("inner", ["$(echo x\nrm x\nA\n)", '"$(echo x\nrm x\nA\n)"', "<(echo x\nrm x\nA\n)"])
def test_a_document_does_not_begin_inside_brackets(inner: str) -> None:
    with pytest.raises(Unclear, match="here-document"):
        parse(f"cat <<A {inner}\nA\n")


_TOKENS = st.sampled_from(
    [
        "ls",
        "a",
        "'b c'",
        '"d',
        '"',
        "'",
        "$x",
        "$(",
        ")",
        "(",
        "`",
        "|",
        "&&",
        ";",
        "\n",
        ">",
        "2>",
        "<",
        "<<E",
        "#",
        "{",
        "}",
        "\\",
        "if",
        "for",
        " ",
        "&",
        "[",
        "=",
        "A=",
    ]
)


@given(
    st.lists(_TOKENS, max_size=14).map(" ".join) | st.lists(_TOKENS, max_size=10).map("".join) | st.text(max_size=40)
)
def test_any_text_is_read_or_refused(script: str) -> None:
    try:
        commands = parse(script)
    except Unclear:
        return
    assert all(isinstance(command, Command) for command in commands)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            ["echo", "a", "'b c'", '"d e"', "\\f", "'", '"', "''", "#", "g#h", "\\\\", "$", "=", "!", "]", ",", "%"]
        ),
        max_size=6,
    ).map(" ".join)
)
def test_words_are_split_and_unquoted_as_bash_does(arguments: str) -> None:
    script = f"printf '%s\\0' {arguments}"
    try:
        (command,) = parse(script)
    except Unclear:
        return
    bash = shutil.which("bash")
    assert bash
    told = subprocess.run([bash, "-c", script], capture_output=True, check=True).stdout.decode()
    assert [word.text for word in command.words[2:]] == (told.split("\0")[:-1] if len(command.words) > 2 else [])
