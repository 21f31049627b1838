"""Tests that a turn seems to have taken out."""

from pathlib import Path

import pytest

from trimtab.coding.verify.turn_changes import FileChange
from trimtab.coding.verify.weakened import is_test, weakened

ROOT = Path("/tests/p")


@pytest.mark.parametrize(
    ("path", "test"),
    [
        ("tests/test_a.py", True),
        ("src/a_test.go", True),
        ("src/a.test.tsx", True),
        ("src/AppTests.cs", True),
        ("tests/check.sh", True),
        ("spec/models/user_spec.rb", True),
        ("tests/data/big.json", False),
        ("src/latest.py", False),
        ("src/contest.py", False),
        ("src/attestation/a.py", False),
    ],
)
def test_tests_are_known_by_their_names(path: str, test: bool) -> None:
    assert is_test(path) is test


@pytest.mark.parametrize(
    ("path", "was", "now"),
    [
        ("tests/test_a.py", "def test_a(): ...\n", "@pytest.mark.skip\ndef test_a(): ...\n"),
        ("a.test.ts", "it('a', f)\n", "it.skip('a', f)\n"),
        ("a.test.ts", "it('a', f)\n", "xit('a', f)\n"),
        ("a_test.go", "func TestA() {}\n", "func TestA() { t.Skip() }\n"),
        ("tests/a.rs", "#[test]\n", "#[test]\n#[ignore]\n"),
        ("ATest.java", "@Test\n", "@Disabled @Test\n"),
    ],
)
def test_marks_that_skip_are_seen_and_their_going_is_none(path: str, was: str, now: str) -> None:
    assert weakened([FileChange(f"/tests/p/{path}", "", was, now)], ROOT) == (
        f"{path} has 1 more mark that skips tests",
    )
    assert weakened([FileChange(f"/tests/p/{path}", "", now, was)], ROOT) == ()
    assert weakened([FileChange(f"/tests/p/{path}", "", "", now)], ROOT) == ()


def test_a_test_that_was_moved_is_not_taken_out() -> None:
    gone = FileChange("/tests/p/tests/test_a.py", "", "x = 1\n", "", gone=True)
    assert weakened([gone], ROOT) == ("tests/test_a.py was deleted",)
    assert weakened([gone, FileChange("/tests/p/tests/unit/test_a.py", "", "", "x = 1\n")], ROOT) == ()
    assert weakened([FileChange("/tests/p/src/a.py", "", "x", "", gone=True)], ROOT) == ()


def test_without_texts_the_diff_tells() -> None:
    diff = "--- a\n+++ b\n+@pytest.mark.xfail\n def test_a(): ...\n"
    assert weakened([FileChange("/tests/p/tests/test_a.py", diff)], ROOT) == (
        "tests/test_a.py has 1 more mark that skips tests",
    )
