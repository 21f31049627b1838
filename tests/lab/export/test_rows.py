"""Rows on disk: what is written is read, and what is wrong is said with its line and field."""

import gzip
import json
import math

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.rollout_trees import grown_trees
from support.snapshot_rows import ORIGIN, explored, rows, sound_rows
from trimtab.lab.credit.advantage import CONTEXTPILOT, CreditRule, credit
from trimtab.lab.credit.tree import Row, Tree
from trimtab.lab.export.files import BadRow, RowFile, read_rows, write_rows
from trimtab.lab.export.piece import Piece, Said
from trimtab.lab.export.row import SnapshotRow, why_wrong
from trimtab.lab.export.snapshots import snapshot_rows
from trimtab.types.messages import Assistant, Text, user


@settings(max_examples=40)
@given(st.lists(sound_rows(), max_size=4), st.sampled_from(["rows.jsonl", "rows.jsonl.gz"]))
def test_what_is_written_is_read(tmp_path_factory, made, name):
    path = tmp_path_factory.mktemp("rows") / name
    assert write_rows(path, made) == len(made)
    assert list(read_rows(path)) == made
    first = path.read_bytes()
    write_rows(path, made)
    assert path.read_bytes() == first


def test_every_field_of_a_row_stands_in_its_line(tmp_path):
    write_rows(tmp_path / "rows.jsonl", rows()[:1])
    line = json.loads((tmp_path / "rows.jsonl").read_text())
    assert set(line) == set(SnapshotRow.__struct_fields__)
    assert line["format"] == 1


def test_a_field_of_a_later_version_is_overlooked(tmp_path):
    path = tmp_path / "rows.jsonl"
    later = {**msgspec.to_builtins(rows()[0]), "mood": "good"}
    path.write_text(json.dumps(later) + "\n\n")
    assert list(read_rows(path)) == [rows()[0]]


def changed(**fields):
    return {**msgspec.to_builtins(rows()[1]), **fields}


WRONG = {
    "prefix": changed(prefix=["root", "elsewhere"]),
    "votes": changed(votes=99),
    "value": changed(value=0.123),
    "terminals": changed(terminals=[]),
    "weight": changed(weight=-1.0),
    "log_prob": changed(log_prob=0.5),
    "mask": changed(mask=[1, 1, 1, 1]),
    "completion": changed(completion=[], mask=[]),
    "messages": changed(messages=[]),
}


@pytest.mark.parametrize("field", WRONG)
def test_a_row_that_contradicts_itself_is_named_by_line_and_field(tmp_path, field):
    path = tmp_path / "rows.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in (changed(), WRONG[field])))
    with pytest.raises(BadRow) as found:
        list(read_rows(path))
    assert (found.value.line, found.value.field) == (2, field)
    assert f"rows.jsonl, line 2, {field}" in found.value.message


def test_a_value_of_the_wrong_type_is_named_by_its_path(tmp_path):
    path = tmp_path / "rows.jsonl"
    row = changed()
    row["messages"][0]["role"] = "narrator"
    path.write_text(json.dumps(row))
    with pytest.raises(BadRow) as found:
        list(read_rows(path))
    assert (found.value.line, found.value.field) == (1, "messages[0].role")


@pytest.mark.parametrize("line", ["{torn", "\x00", "[1]", '"x"'])
def test_a_line_that_is_no_row_is_told(tmp_path, line):
    path = tmp_path / "rows.jsonl"
    path.write_text(line)
    with pytest.raises(BadRow, match="line 1"):
        list(read_rows(path))


def test_bytes_that_are_no_text_are_told(tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xff\xfe{}\n")
    with pytest.raises(BadRow, match="line 1"):
        list(read_rows(path))


def test_a_result_must_answer_a_call_that_was_made():
    row = rows()[0]
    assert why_wrong(row) is None
    stray = msgspec.structs.replace(row.completion[1], tool_call_id="nobody's")
    broken = msgspec.structs.replace(row, completion=(row.completion[0], stray, *row.completion[2:]))
    assert why_wrong(broken) == ("completion[1]", 'answers call "nobody\'s", which nobody made before')


def test_a_file_that_fails_on_the_way_leaves_what_was_there(tmp_path):
    path = tmp_path / "rows.jsonl"
    write_rows(path, rows()[:2])
    before = path.read_bytes()
    with pytest.raises(BadRow, match="line 2"):
        write_rows(path, [rows()[0], msgspec.structs.replace(rows()[1], votes=99)])
    with pytest.raises(ZeroDivisionError), RowFile(path):
        raise ZeroDivisionError
    assert path.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["rows.jsonl"]


def test_rows_are_written_as_they_come(tmp_path):
    path = tmp_path / "rows.jsonl.gz"
    with RowFile(path) as file:
        for row in rows():
            file.write(row)
        assert file.count == len(rows())
    with gzip.open(path) as packed:
        assert len(packed.readlines()) == len(rows())


def test_rows_say_what_the_tree_says():
    tree = explored().tree
    found = credit(tree, CONTEXTPILOT).rows
    made = list(snapshot_rows(tree, ORIGIN, CONTEXTPILOT))
    assert [row.node for row in made] == list(found)
    for row in made:
        assert row.prefix == tree.prefix(row.node)
        assert (row.value, row.votes) == (tree.value(row.node), tree.votes(row.node))
        assert (row.advantage, row.weight) == (found[row.node].advantage, found[row.node].weight)
        assert [t.reward for t in row.terminals] == [leaf.reward for leaf in tree.ends(row.node)]
        assert (row.query, row.seed, row.sampler, row.price.cache_read) == ("otter/1", 7, "scripted/reader", 0.3)
        assert why_wrong(row) is None


def piece(name):
    return Piece("be brief", (), (user(name),), (Said(Assistant((Text("yes"),), "stop"), trained=True),))


@given(grown_trees(), st.sampled_from(["snapshot", "traj", "parent"]), st.booleans())
def test_any_tree_gives_sound_rows_and_forced_ones_weigh_nothing_unless_they_are_wanted(grown, variant, forced):
    told = [Row(r.before, r.after, r.rollout, piece(r.after), r.log_prob, r.forced) for r in grown.rows]
    tree = Tree.of("q", told, grown.leaves)
    rule = CreditRule(variant, weighting="siblings", skip_flat=True, forced_rows=forced)
    made = list(snapshot_rows(tree, ORIGIN, rule))
    assert all(why_wrong(row) is None for row in made)
    by_node = {row.node: row for row in made}
    if variant != "traj":
        assert set(by_node) == {row.after for row in grown.rows if tree.votes(row.after)}
    assert forced or all(row.weight == 0 for row in made if row.forced)
    assert all(math.isfinite(row.advantage) for row in made)
