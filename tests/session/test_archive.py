"""The tree in memory."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from support.sessions import line, say
from trimtab.context.archive import Archive, Damage, Parked
from trimtab.types.codec import Entry, decode_line, entry_of
from trimtab.types.entries import (
    CustomEntry,
    KnownEntry,
    LabelEntry,
    LeafEntry,
    MessageEntry,
    ModelChangeEntry,
    SessionInfoEntry,
    ThinkingChangeEntry,
)

T = "2026-01-01T00:00:00.000Z"


def decoded(raw: bytes) -> Entry:
    entry = decode_line(raw)
    assert entry is not None
    return entry


def tree(*items: Entry | KnownEntry | bytes) -> Archive:
    archive = Archive()
    for number, item in enumerate(items, 2):
        entry = item if isinstance(item, Entry) else decoded(item) if isinstance(item, bytes) else entry_of(item)
        archive.add(entry, line=number)
    return archive


def path_ids(archive: Archive, leaf: str | None = None) -> list[str]:
    return [entry.id for entry in archive.path(leaf)]


def test_messages_chain_and_the_last_one_is_the_leaf():
    archive = tree(line("a", None), line("b", "a"))
    assert (archive.leaf, path_ids(archive), archive.children("a"), archive.damage) == ("b", ["a", "b"], ("b",), [])


def test_a_leaf_entry_moves_the_leaf_and_the_next_message_starts_a_branch():
    archive = tree(line("a", None), line("b", "a"), LeafEntry(id="l", parent="b", time=T, target="a"), line("c", "a"))
    assert path_ids(archive) == ["a", "c"]
    assert archive.children("a") == ("b", "c")
    assert path_ids(archive, "b") == ["a", "b"]


def test_the_leaf_can_move_before_the_first_entry():
    archive = tree(line("a", None), LeafEntry(id="l", parent="a", time=T, target=None))
    assert (archive.leaf, list(archive.path())) == (None, [])


def test_an_unknown_type_never_becomes_the_leaf_but_chains_through_it_hold():
    archive = tree(line("a", None), b'{"type":"hologram","id":"h","parent":"a","time":"","x":[1]}')
    assert archive.leaf == "a"
    archive.add(decoded(line("b", "h")), line=4)
    assert path_ids(archive) == ["a", "h", "b"]


def test_an_edit_of_a_later_release_becomes_the_leaf_as_that_release_would_have_it():
    assert tree(line("a", None), b'{"type":"edit","id":"e","parent":"a","time":""}').leaf == "e"


def test_a_missing_parent_hangs_the_entry_on_the_leaf():
    archive = tree(line("a", None), line("c", "lost"))
    assert path_ids(archive) == ["a", "c"]
    assert archive.damage == [Damage("bad_parent", 3, "c: no earlier entry 'lost'")]


def test_cycles_are_cut_where_they_point_forward():
    archive = tree(line("a", "c"), line("b", "a"), line("c", "b"), line("d", "d"))
    assert path_ids(archive) == ["a", "b", "c", "d"]
    assert [(d.kind, d.line) for d in archive.damage] == [("bad_parent", 2), ("bad_parent", 5)]


def test_the_first_entry_of_an_id_wins_and_the_second_is_renamed_not_lost():
    archive = tree(line("a", None, "one"), line("a", None, "two"), line("b", "a"))
    assert path_ids(archive) == ["a", "b"]
    assert archive.children(None) == ("a", "a~3")
    assert archive.damage == [Damage("duplicate_id", 3, "a")]


def test_an_exact_copy_of_an_entry_is_one_entry():
    archive = tree(line("a", None), line("b", "a"), line("a", None))
    assert (len(archive), archive.leaf, archive.damage) == (2, "b", [])


def test_an_entry_without_an_id_is_named_after_its_line():
    archive = tree(b'{"type":"message","time":"","message":{"role":"user","parts":[]}}')
    assert (path_ids(archive), archive.damage) == (["line-2"], [Damage("missing_id", 2, "message")])


def test_a_leaf_entry_that_points_nowhere_is_damage():
    archive = tree(line("a", None), LeafEntry(id="l", parent="a", time=T, target="gone"))
    assert (archive.leaf, [d.kind for d in archive.damage]) == ("a", ["bad_leaf"])


def test_labels_name_entries_until_they_are_taken_away():
    archive = tree(
        line("abc", None), line("abd", "abc"), LabelEntry(id="l", parent="abd", time=T, target="abc", label="x")
    )
    assert (archive.labels, archive.matches("x"), archive.matches("ab"), archive.matches("abd")) == (
        {"abc": "x"},
        ("abc",),
        ("abc", "abd"),
        ("abd",),
    )
    archive.add(entry_of(LabelEntry(id="m", parent="abd", time=T, target="abc", label="")))
    assert (archive.labels, archive.matches("x"), archive.matches("")) == ({}, (), ())


def test_title_and_folder_are_the_last_ones_said_field_by_field():
    archive = tree(
        SessionInfoEntry(id="i", parent=None, time=T, title="one", cwd="/a"),
        SessionInfoEntry(id="j", parent="i", time=T, title="two"),
    )
    assert (archive.title, archive.cwd) == ("two", "/a")


def test_the_window_is_the_one_that_was_said_last_and_only_one_that_can_be():
    archive = tree(
        SessionInfoEntry(id="i", parent=None, time=T, window=5_400, max_output=800),
        SessionInfoEntry(id="j", parent="i", time=T, window=9_000),
        SessionInfoEntry(id="k", parent="j", time=T, window=-1, max_output=0),
        SessionInfoEntry(id="l", parent="k", time=T, policy="none"),
    )
    assert (archive.window, archive.max_output) == (9_000, None)


def test_model_and_thinking_are_those_of_the_path_in_use():
    archive = tree(
        ModelChangeEntry(id="m", parent=None, time=T, provider="p", model="one"),
        ThinkingChangeEntry(id="t", parent="m", time=T, level="high"),
        ModelChangeEntry(id="n", parent="t", time=T, provider="p", model="two"),
    )
    assert (archive.model, archive.thinking) == (("p", "two"), "high")
    archive.add(entry_of(LeafEntry(id="l", parent="n", time=T, target="m")))
    assert (archive.model, archive.thinking) == (("p", "one"), None)


def test_a_parked_call_waits_until_its_result_is_on_the_path():
    archive = tree(
        line("a", None),
        CustomEntry(id="p", parent="a", time=T, kind="parked", call_id="c1", data={"question": "may I?"}),
    )
    assert archive.parked == (Parked("c1", "may I?", "p"),)
    done = b'{"role":"tool","call_id":"c1","tool_name":"t","parts":[],"is_error":false}'
    archive.add(decoded(b'{"type":"message","id":"r","parent":"p","time":"","message":' + done + b"}"))
    assert archive.parked == ()


def test_call_ids_are_those_of_every_branch_and_of_voided_answers():
    def answer(entry_id: str, parent: str | None, call_id: str, *, superseded: bool = False) -> KnownEntry:
        message = replace(say("", call_id), superseded=superseded)
        return MessageEntry(id=entry_id, parent=parent, time=T, message=message)

    archive = tree(
        answer("a", None, "one"),
        LeafEntry(id="l", parent="a", time=T, target=None),
        answer("b", None, "two", superseded=True),
        line("c", "b", text='no "tool_call" of anybody'),
    )
    assert (path_ids(archive), archive.call_ids()) == (["b", "c"], {"one", "two"})


@given(st.lists(st.tuples(st.sampled_from(["message", "model", "thinking", "move", "look"]), st.integers(0, 30))))
def test_the_model_and_the_thinking_level_are_those_that_a_walk_over_the_whole_path_finds(steps: list[tuple[str, int]]):
    archive = Archive()
    for n, (what, number) in enumerate(steps, 2):
        envelope: dict[str, Any] = {"id": f"e{n}", "parent": archive.leaf, "time": T}
        known = [entry.id for entry in archive]
        made: KnownEntry
        if what == "message":
            made = MessageEntry(**envelope, message=say("hm"))
        elif what == "model":
            made = ModelChangeEntry(**envelope, provider="p", model=f"m{number}")
        elif what == "thinking":
            made = ThinkingChangeEntry(**envelope, level=f"l{number}")
        elif what == "move":
            made = LeafEntry(**envelope, target=known[number % len(known)] if known else None)
        else:
            values = [entry.value for entry in reversed(archive.path())]
            models = (value.model for value in values if isinstance(value, ModelChangeEntry))
            levels = (value.level for value in values if isinstance(value, ThinkingChangeEntry))
            model = archive.model
            assert (model and model[1], archive.thinking) == (next(models, None), next(levels, None))
            continue
        archive.add(entry_of(made), line=n)
