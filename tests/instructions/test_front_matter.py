"""Front matter, friendly and hostile."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.coding.instructions.front_matter import BadFrontMatter, split

BOMB = "a: &a [x,x,x,x,x,x,x,x,x]\n" + "".join(
    f"{chr(98 + n)}: &{chr(98 + n)} [{','.join(['*' + chr(97 + n)] * 9)}]\n" for n in range(9)
)


@pytest.mark.parametrize(
    ("text", "fields", "rest"),
    [
        ("no fields\n---\n", {}, "no fields\n---\n"),
        ("---\nname: x\n---\nbody\n", {"name": "x"}, "body\n"),
        ("\n---\na: 1\nb: yes\nc: 2024-01-01\n---", {"a": "1", "b": "yes", "c": "2024-01-01"}, ""),
        ("---\nd: |\n  one\n  two\ne: >\n  a\n  b\n---\n", {"d": "one\ntwo\n", "e": "a b\n"}, ""),
        ("---\nd: Use when: it rains # often\n---\n", {"d": "Use when: it rains # often"}, ""),
        ("---\nhint: [a] [b]\nd: 'q'\n---\n", {"hint": "[a] [b]", "d": "q"}, ""),
        ("---\nm:\n  k: v\nl: [a, b]\n---\n", {"m": {"k": "v"}, "l": ["a", "b"]}, ""),
        ("---\nd: !!python/object/apply:os.system ['x']\n---\n", {"d": ["x"]}, ""),
        ("---\nd: !!timestamp x\ne: !!bool y\n---\n", {"d": "x", "e": "y"}, ""),
    ],
)
def test_fields_are_texts_and_the_rest_is_the_rest(text: str, fields: dict[str, object], rest: str) -> None:
    assert split(text) == (fields, rest)


@pytest.mark.parametrize(
    ("block", "why"),
    [
        (BOMB, "anchors or aliases"),
        ("a: " + "[" * 50 + "]" * 50, "nested too deeply"),
        ("a: " + "x" * 20_000, "more than 16,384 characters"),
        ("- a\n- b", "no table of fields"),
        ("", "no table of fields"),
        ("a:\n - b\n c", "no YAML"),
        ("? [a, b]\n: c", "no YAML"),
    ],
    ids=["bomb", "deep", "long", "list", "empty", "open", "key"],
)
def test_what_is_no_table_of_texts_is_refused_with_a_reason(block: str, why: str) -> None:
    with pytest.raises(BadFrontMatter, match=why):
        split(f"---\n{block}\n---\nbody")


@pytest.mark.parametrize("block", ["a: " + "[" * 8_000, "- " * 8_000, "{a: " * 4_000, "? " * 8_000])
def test_what_nests_without_end_stops_nothing(block: str) -> None:
    try:
        fields, _ = split(f"---\n{block}\n---\n")
    except BadFrontMatter:
        return
    assert all(isinstance(value, str) for value in fields.values())


@given(st.text(max_size=300))
def test_any_block_is_read_or_refused(block: str) -> None:
    try:
        fields, _ = split(f"---\n{block}\n---\n")
    except BadFrontMatter:
        return
    assert isinstance(fields, dict)
