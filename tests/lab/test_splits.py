"""Parts that share no family."""

import json
import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.corpora.splits import (
    CrossingFamilies,
    by_split,
    leave_one_project_out,
    prove_apart,
    read_index,
    set_aside,
)
from trimtab.lab.corpora.trajectory import Place
from trimtab.types.errors import SessionError

places = st.lists(
    st.builds(
        lambda number, project: Place(name=f"{project}/{number}", project=project, family=f"{project}{number % 5}"),
        st.integers(0, 30),
        st.sampled_from(("one", "two", "three")),
    ),
    max_size=30,
    unique_by=lambda place: place.name,
)


def index(folder: Path, *rows: tuple[str, str, int]) -> Path:
    path = folder / "index.jsonl"
    lines = [{"file": f, "source": f.split("/")[0], "split": s, "family": n, "model": "m"} for f, s, n in rows]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def test_an_index_names_a_place_for_each_file(tmp_path):
    assert read_index(index(tmp_path, ("p/a", "train", 1), ("q/b", "eval", 2))) == (
        Place(name="p/a", project="p", family="1", split="train"),
        Place(name="q/b", project="q", family="2", split="eval"),
    )


def test_families_of_lines_that_name_one_file_are_one_family_and_so_are_those_joined_through_another(tmp_path):
    path = index(
        tmp_path,
        ("p/a", "train", 1),
        ("p/a", "train", 2),
        ("p/b", "train", 2),
        ("p/b", "train", 3),
        ("p/c", "train", 3),
    )
    assert [(place.name, place.family) for place in read_index(path)] == [("p/a", "1"), ("p/b", "1"), ("p/c", "1")]


def test_an_index_whose_families_cross_its_splits_is_refused(tmp_path):
    with pytest.raises(CrossingFamilies, match="7 in eval, train"):
        read_index(index(tmp_path, ("p/a", "train", 7), ("p/b", "eval", 7)))


def test_a_line_that_is_none_is_named(tmp_path):
    path = index(tmp_path, ("p/a", "train", 1))
    path.write_text(path.read_text() + '{"file": 3}\n')
    with pytest.raises(SessionError, match=re.escape("line 2 of")):
        read_index(path)


def test_an_index_that_nests_without_end_or_is_no_file_is_named(tmp_path):
    path = index(tmp_path, ("p/a", "train", 1))
    path.write_text(path.read_text() + '{"x":' * 100_000)
    with pytest.raises(SessionError, match=re.escape("line 2 of")):
        read_index(path)
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(SessionError, match=r"can't be read: it is no regular file"):
        read_index(path)


def test_a_place_without_a_family_is_its_own():
    prove_apart({"train": [Place(name="a")], "eval": [Place(name="b")]})
    with pytest.raises(CrossingFamilies):
        prove_apart({"train": [Place(name="a")], "eval": [Place(name="a")]})


def test_places_stay_in_the_split_that_they_name():
    train, judged = Place(name="a", split="train"), Place(name="b", split="eval")
    assert by_split([train, judged]) == {"train": (train,), "eval": (judged,)}


def test_projects_that_share_a_family_can_not_be_held_out():
    with pytest.raises(CrossingFamilies):
        list(
            leave_one_project_out([Place(name="a", project="p", family="1"), Place(name="b", project="q", family="1")])
        )


@given(places)
def test_each_project_is_held_out_once_and_the_rest_is_everything_else(found):
    folds = list(leave_one_project_out(found))
    assert [fold.project for fold in folds] == sorted({place.project for place in found})
    for fold in folds:
        assert {place.project for place in fold.held} == {fold.project}
        assert sorted(place.name for place in (*fold.rest, *fold.held)) == sorted(place.name for place in found)
        assert {place.family for place in fold.rest}.isdisjoint(place.family for place in fold.held)


@given(places, st.floats(0, 1), st.integers(0, 3))
def test_what_is_set_aside_shares_no_family_with_what_is_fitted(found, share, seed):
    parts = set_aside(found, share, seed=seed)
    prove_apart(parts)
    assert sorted(p.name for part in parts.values() for p in part) == sorted(p.name for p in found)


@given(places, st.floats(0, 1))
def test_where_a_family_goes_does_not_hang_on_the_others(found, share):
    whole = set_aside(found, share, seed=1)
    for place in found:
        assert place in whole["validation" if set_aside([place], share, seed=1)["validation"] else "fit"]


def test_about_the_share_that_was_asked_for_is_set_aside():
    found = [Place(name=str(n), family=str(n)) for n in range(1_000)]
    assert 150 < len(set_aside(found, 0.2, seed=0)["validation"]) < 250
