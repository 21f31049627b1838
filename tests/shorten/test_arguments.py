"""Large texts in arguments give way to pointers, and no other byte changes."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.markers import known_markers, marker_key, pointer, refuse_markers
from trimtab.context.shorten.arguments import offload_arguments, pointers_in, string_values

BIG = "x" * 100


def count(text: str) -> int:
    """A token for every byte."""
    return len(text.encode("utf-8", "surrogatepass"))


def test_only_the_large_text_changes_and_all_else_stays_byte_for_byte():
    raw = '{ "path" :"a\\u0062.py",\n\t"n": 1.50e0, "content":"' + BIG + '\\n" , "mode": null }'
    made = offload_arguments(
        raw, min_tokens=50, count=count, pointer_for=lambda path, value: f"[{path[0]} {len(value)}]"
    )
    assert made == '{ "path" :"a\\u0062.py",\n\t"n": 1.50e0, "content":"[content 101]" , "mode": null }'


def test_texts_inside_lists_and_objects_are_found_with_their_path():
    raw = json.dumps({"path": "p", "edits": [{"old": "a", "new": BIG}, {"old": BIG, "new": "b"}]})
    seen: list[tuple[str | int, ...]] = []

    def pointer(path: tuple[str | int, ...], value: str) -> str | None:
        assert value == BIG
        seen.append(path)
        return "P" if path[-1] == "new" else None

    made = offload_arguments(raw, min_tokens=50, count=count, pointer_for=pointer)
    assert made == json.dumps({"path": "p", "edits": [{"old": "a", "new": "P"}, {"old": BIG, "new": "b"}]})
    assert seen == [("edits", 0, "new"), ("edits", 1, "old")]


def test_a_name_is_never_replaced():
    raw = json.dumps({BIG: "a"})
    assert offload_arguments(raw, min_tokens=50, count=count, pointer_for=lambda path, value: "P") is None


def test_arguments_that_are_no_object_stay_as_they_came():
    for raw in (
        f'"{BIG}"',
        f'["{BIG}"]',
        f'{{"content": "{BIG}',
        "",
        "null",
        f'{{"a": "{BIG}"}} trailing',
        '{"a":' * 5000,
        "[" * 100_000,
    ):
        assert offload_arguments(raw, min_tokens=5, count=count, pointer_for=lambda path, value: "P") is None


def test_a_pointer_longer_than_the_text_is_not_taken():
    raw = json.dumps({"content": "x" * 30})
    assert offload_arguments(raw, min_tokens=5, count=count, pointer_for=lambda path, value: "P" * 31) is None


def test_a_pointer_is_encoded_so_that_the_arguments_stay_json():
    made = offload_arguments(
        json.dumps({"c": BIG}), min_tokens=5, count=count, pointer_for=lambda path, value: 'C:\\x "é"\n'
    )
    assert made == '{"c": "C:\\\\x \\"é\\"\\n"}'


def test_control_characters_that_a_model_left_bare_do_not_hinder():
    raw = '{"a": "one\ttwo", "content": "' + "line\n" * 30 + '"}'
    assert (
        offload_arguments(raw, min_tokens=50, count=count, pointer_for=lambda path, value: "P")
        == '{"a": "one\ttwo", "content": "P"}'
    )


def test_a_content_of_ten_megabytes_is_replaced_in_one_pass():
    raw = json.dumps({"content": 'quote " and \\ back\n' * 500_000, "path": "p"})
    assert (
        offload_arguments(raw, min_tokens=50, count=count, pointer_for=lambda path, value: "P")
        == '{"content": "P", "path": "p"}'
    )


def test_ten_writes_of_five_thousand_tokens_become_ten_pointers_that_name_file_and_hash():
    for n in range(10):
        text = f"line of file {n}\n" * 1_250
        raw = json.dumps({"path": f"src/file_{n}.py", "content": text})
        key = marker_key(f"e{n}#1", size=5_000, salt="s")
        instead = pointer(
            name=f"e{n}#1", key=key, tokens=5_000, lines=1_250, digest=f"sha256-{n:08x}", way_back=f"src/file_{n}.py"
        )
        made = offload_arguments(
            raw,
            min_tokens=1_000,
            count=count,
            pointer_for=lambda path, _, p=instead: p if path == ("content",) else None,
        )
        assert made is not None
        assert made == f'{{"path": "src/file_{n}.py", "content": "{instead}"}}'
        assert pointers_in(made, raw) == (instead,)
        known = known_markers(pointers_in(made, raw))
        assert known == {key: f"read path=src/file_{n}.py"}
        assert refuse_markers(json.loads(made), known) is not None
        assert refuse_markers(json.loads(raw), known) is None


def test_a_pointer_that_the_call_itself_held_is_not_one_of_ours():
    fake = pointer(name="e1#1", key="aaaaaaaa", tokens=9)
    raw = json.dumps({"note": fake, "content": BIG * 4})
    made = offload_arguments(raw, min_tokens=300, count=count, pointer_for=lambda path, value: "P")
    assert made is not None
    assert pointers_in(made, raw) == ("P",)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


@st.composite
def raws(draw: st.DrawFn) -> str:
    """Objects as JSON in one of the ways in which models and libraries write it."""
    value = draw(st.dictionaries(st.text(max_size=5), JSON, max_size=5))
    return json.dumps(
        value,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 0, 2])),
        separators=draw(st.sampled_from([None, (",", ":"), (" , ", " : ")])),
    )


def texts(value: object, path: tuple[str | int, ...] = ()) -> list[tuple[tuple[str | int, ...], str]]:
    """Every string value with its path, by the parser's own account."""
    if isinstance(value, str):
        return [(path, value)]
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [found for name, inner in pairs for found in texts(inner, (*path, name))]


def replaced(value: object, least: int) -> object:
    """`value` with its large strings replaced, made the slow way."""
    if isinstance(value, str):
        return "P" if count(value) >= least and len(json.dumps(value)) > 3 else value
    if isinstance(value, dict):
        return {name: replaced(inner, least) for name, inner in value.items()}
    return [replaced(inner, least) for inner in value] if isinstance(value, list) else value


@given(raws())
def test_the_scan_finds_what_the_parser_finds(raw):
    assert [(path, json.loads(raw[start:end])) for start, end, path in string_values(raw)] == texts(json.loads(raw))


@given(raw=raws(), least=st.integers(4, 40))
def test_offloading_is_replacing_values_and_doing_it_twice_changes_nothing_more(raw, least):
    made = offload_arguments(raw, min_tokens=least, count=count, pointer_for=lambda path, value: "P")
    expected = replaced(json.loads(raw), least)
    if made is None:
        assert expected == json.loads(raw)
        return
    assert json.loads(made) == expected
    assert len(made.encode()) < len(raw.encode())
    assert offload_arguments(made, min_tokens=least, count=count, pointer_for=lambda path, value: "P") is None


@given(st.one_of(raws(), st.text(max_size=30), st.text('{}[]:,"\\ a1', max_size=20)), raws())
def test_there_are_no_pointers_in_what_was_not_made_from_the_call(shown, raw):
    assert all(isinstance(text, str) for text in pointers_in(shown, raw))
    assert pointers_in(raw, raw) == ()


@pytest.mark.parametrize("shown", ["", "}}}", "[]", '{"a": "x"', '{"b": "x"}', '{"a": "x", "b": "y"}', "[" * 100_000])
def test_a_text_of_another_shape_than_its_call_holds_no_pointers(shown):
    assert pointers_in(shown, '{"a": "long"}') == ()
    assert pointers_in('{"a": "long"}', shown) == ()
