"""Tables as data: how a number is told, and what its files hold."""

import csv
import io
import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.lab.corpora.intervals import Interval
from trimtab.lab.report.table import Column, Form, Table, told

NAN = math.nan


@pytest.mark.parametrize(
    ("cell", "form", "text"),
    [
        (None, "share", "–"),
        ("rules", "text", "rules"),
        (1234.4, "count", "1,234"),
        (0.1234, "share", "12.3 %"),
        (-0.045, "change", "−4.5 %"),
        (0.0312, "points", "+3.1"),
        (-0.0001, "signed", "0.000"),
        (0.00001, "change", "0.0 %"),
        (1.234, "decimal", "1.23"),
        (NAN, "number", "–"),
        (Interval(0.5, 0.25, 0.75), "share", "50.0 % [25.0, 75.0]"),
        (Interval(0.5, NAN, NAN), "number", "0.500 [–]"),
        (Interval(NAN, NAN, NAN), "number", "–"),
    ],
)
def test_a_cell_is_told_as_its_form_says(cell: object, form: Form, text: str) -> None:
    assert told(cell, form) == text  # type: ignore[arg-type]


@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(["share", "change", "points", "signed"]))
def test_no_number_is_told_with_a_hyphen_or_as_minus_nothing(value: float, form: Form) -> None:
    text = told(value, form)
    assert "-" not in text
    assert text.strip("−+0.% ") or not text.startswith(("−", "+"))


TABLE = Table(
    "t",
    "Title",
    (Column("arm", "arm"), Column("success", "success", "share", "mean"), Column("edits", "edits", "count")),
    ({"arm": "a,b", "success": Interval(0.5, 0.25, NAN), "edits": 3}, {"arm": "c", "success": None}),
    "T0 · n = 2",
)


def test_the_csv_file_has_an_interval_in_three_columns() -> None:
    rows = list(csv.DictReader(io.StringIO(TABLE.as_csv())))
    assert rows[0] == {"arm": "a,b", "success": "0.5", "success_low": "0.25", "success_high": "", "edits": "3"}
    assert rows[1] == {"arm": "c", "success": "", "success_low": "", "success_high": "", "edits": ""}


def test_the_json_file_says_what_it_is_about() -> None:
    value = json.loads(TABLE.as_json())
    assert (value["name"], value["scope"], value["columns"]["success"]) == ("t", "T0 · n = 2", "mean")
    assert value["rows"][0] == {"arm": "a,b", "success": 0.5, "success_low": 0.25, "success_high": None, "edits": 3}


def test_a_table_without_rows_keeps_its_columns_and_its_reason() -> None:
    empty = Table("t", "Title", TABLE.columns, (), missing="Nobody played.")
    assert empty.as_csv() == "arm,success,edits\n"
    assert json.loads(empty.as_json())["missing"] == "Nobody played."
