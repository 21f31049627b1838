"""Compress keeps what tells most for its size, and refuses what would be wrong with parts missing."""

from collections.abc import Sequence

from trimtab.context.shorten.compress import Extractive, compress, distinct_strings
from trimtab.context.shorten.guarded import Guarded
from trimtab.context.shorten.pieces import Refused, Shortened

KEY = "4kq2m7xa"
NOISE = [f"INFO worker did one more of its many usual things, number {i % 7}\n" for i in range(300)]
FACTS = ["ERROR disk full at /var/lib/store-7/seg_0012.bin\n", "using port 8443 on db-primary-7.internal\n"]
LOG = "".join([*NOISE[:150], FACTS[0], *NOISE[150:], FACTS[1], *NOISE[:9]])


def count(text: str) -> int:
    """A token for every four characters begun."""
    return -(-len(text) // 4)


def shown(text: str, share: float, *, words: Sequence[str] = ()) -> str:
    """What the built-in compressor leaves of a tool's result."""
    made = compress(text, role="tool", share=share, compressor=Extractive(count), words=words, key=KEY)
    assert isinstance(made, Shortened)
    return made.text


def test_errors_identifiers_and_numbers_stay_and_repeated_lines_go():
    text = shown(LOG, 0.05)
    assert FACTS[0] in text
    assert FACTS[1] in text
    assert count(text) <= 0.05 * count(LOG)


def test_every_shown_line_is_recorded_or_a_mark_that_counts():
    lines = LOG.splitlines()
    at = 0
    for line in shown(LOG, 0.1).splitlines():
        if line.startswith("[… "):
            at += int(line.split()[1].replace(",", ""))
        else:
            assert line == lines[at]
            at += 1
    assert at == len(lines)


def test_words_of_the_goal_decide_between_lines_that_tell_as_much():
    names = ["amber", "birch", "cedar", "daisy", "ebony", "fern", "grape", "hazel", "ivory", "jade"]
    text = "".join(f"the {name} lamp hides in the {name} room\n" for name in names for _ in range(3))
    for name in names:
        assert f"the {name} lamp hides in the {name} room\n" in shown(text, 0.15, words=[name.upper()])


def test_one_long_line_is_chosen_from_by_sentence():
    filler = "It was a day like many others and nothing came of it. "
    text = filler * 20 + "The key is stored in vault-eu-1 under id 4711-AB. " + filler * 20
    made = shown(text, 0.3)
    assert "vault-eu-1 under id 4711-AB. " in made
    assert "\n" not in made


def test_a_code_block_inside_prose_stays_whole():
    block = "```python\n" + "".join(f"value_{i} = {i}\n" for i in range(5)) + "```\n"
    prose = "".join(f"It was day {i} and nothing much came of it, as ever.\n" for i in range(60))
    assert block in shown(prose + block + prose, 0.1)


def test_code_diffs_and_a_persons_words_are_refused_with_what_to_do_instead():
    code = "import os\n\n\ndef main() -> None:\n    for name in os.listdir('.'):\n        print(name)\n\n\nif __name__ == '__main__':\n    main()\n"
    diff = "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n-a = 1\n+a = 2\n b = 3\n"
    compressor = Extractive(count)
    for text, role, start in (
        (code * 9, "tool", "this is code"),
        (diff, "tool", "this is a diff"),
        (LOG, "user", "a person's words"),
    ):
        made = compress(text, role=role, share=0.5, compressor=compressor)
        assert isinstance(made, Refused)
        assert made.reason.startswith(start)
        assert "archive" in made.reason


def test_numbered_code_is_code_too():
    code = "".join(f"{i:6}→\tif err := run({i}); err != nil {{\n" for i in range(30))
    assert isinstance(compress(code, role="tool", share=0.5, compressor=Extractive(count)), Refused)


def test_a_share_that_is_none_is_refused():
    for share in (0.0, 1.0, -1.0, 30.0, float("nan")):
        assert isinstance(compress(LOG, role="tool", share=share, compressor=Extractive(count)), Refused)


class Shouting:
    """A compressor of somebody else."""

    def __init__(self, text: str) -> None:
        self.text = text

    def compress(self, text: str, *, share: float, words: Sequence[str] = (), key: str = "") -> Shortened:
        """The fixed text."""
        return Shortened(self.text)


def test_another_compressor_plugs_in_and_one_that_makes_it_longer_is_not_heard():
    assert compress(LOG, role="tool", share=0.5, compressor=Shouting("SHORT")) == Shortened("SHORT")
    assert compress("tiny", role="tool", share=0.5, compressor=Shouting("LONGER THAN THAT")) == Shortened("tiny")


def test_distinct_strings_have_eight_characters_and_more_than_small_letters():
    text = "see src/app.py:12 and RuntimeError in something UPPERCASE ordinary ./-:abcdefg1:- v1.2 user@example.org"
    assert distinct_strings(text) == ["src/app.py:12", "RuntimeError", "abcdefg1", "user@example.org"]


class Counting:
    """A compressor that keeps account of what it was asked."""

    def __init__(self):
        self.asked = []

    def compress(self, text, *, share, words=(), key=""):
        self.asked.append((text, share, words, key))
        if text.startswith("bad"):
            raise KeyError(text)
        return Shortened(f"short \ud800 {text}"[:9])


def test_a_guarded_compressor_is_asked_once_for_one_text_and_one_wish_and_forgets_in_time():
    theirs, told = Counting(), []
    guarded = Guarded(theirs, instead=Shouting("OURS"), tell=told.append)
    for share in (0.5, 0.5, 0.3, 0.5):
        assert guarded.compress("a text", share=share, words=["b"]) == Shortened("short \ufffd a")
    assert [share for _, share, _, _ in theirs.asked] == [0.5, 0.3]
    for number in range(40):
        guarded.compress(f"another {number}", share=0.5)
    guarded.compress("a text", share=0.5, words=["b"])
    assert len(theirs.asked) == 43
    assert told == []


def test_a_guarded_compressor_that_fails_gives_way_for_that_text_and_is_asked_again_for_the_next():
    theirs, told = Counting(), []
    guarded = Guarded(theirs, instead=Shouting("OURS"), tell=told.append)
    assert [guarded.compress(text, share=0.5).text for text in ("bad 1", "good", "bad 2")] == [
        "OURS",
        "short \ufffd g",
        "OURS",
    ]
    assert told == ["the compressor raised KeyError: 'bad 1'; the built-in one stands in for what it fails at"]
