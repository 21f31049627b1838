"""Globs mean what the docstring says, and no text is too odd to be one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.tools.glob import compile_glob, is_wild


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("*.py", ["a.py", "x/y/a.py", ".py"], ["a.pyc", "a/py"]),
        ("src/*.py", ["src/a.py"], ["src/x/a.py", "y/src/a.py", "a.py"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["srcx/a.py"]),
        ("**/a.py", ["a.py", "x/a.py"], ["xa.py"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "srcx/a"]),
        ("*.{ts,tsx}", ["a.ts", "x/a.tsx"], ["a.t", "a.ts,tsx"]),
        ("a{1,{2,3}}", ["a1", "a2", "a3"], ["a", "a{1"]),
        ("[!a]?", ["bc"], ["ac", "b"]),
        ("[]a]", ["]", "a"], ["b"]),
        ("[^x]", ["^", "x"], ["y"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("a,b", ["a,b"], ["a", "b"]),
        ("a{b", ["a{b"], ["ab"]),
        ("./x", ["x", "y/x"], ["./y"]),
        ("a\nb", ["a\nb"], ["ab"]),
    ],
)
def test_a_glob_matches(pattern: str, yes: list[str], no: list[str]) -> None:
    matches = compile_glob(pattern)
    assert [matches(path) for path in yes + no] == [True] * len(yes) + [False] * len(no)


@given(st.text(alphabet="a.*?[]!^-{},\\/&~|(+$", max_size=12), st.text(alphabet="a./", max_size=6))
def test_no_pattern_is_refused(pattern: str, path: str) -> None:
    assert compile_glob(pattern)(path) in (True, False)


@given(
    st.text(alphabet="ab.-_ (+$^|/", min_size=1, max_size=12).filter(
        lambda t: t.strip("/") == t and not t.startswith("./")
    )
)
def test_a_pattern_without_wildcards_matches_itself(name: str) -> None:
    assert not is_wild(name)
    assert compile_glob(name)(name)
