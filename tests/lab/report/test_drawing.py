"""Plots that are really drawn. They need the extra `report`."""

import re
from pathlib import Path

import pytest

pytest.importorskip("altair", reason="plots need the extra `report`")
pytest.importorskip("vl_convert", reason="plots need the extra `report`")

from support.bench_rows import ablation, row, rows_of
from trimtab.lab.bench.steps import with_arms
from trimtab.lab.report import drawing
from trimtab.lab.report.page import Facts
from trimtab.lab.report.reading import Found
from trimtab.lab.report.sections import Figure, Report, report_of
from trimtab.lab.report.writing import NotWritten, write
from trimtab.types.errors import UsageError

FACTS = Facts({"trimtab": "1"}, "trimtab report lab")


@pytest.fixture(scope="module")
def report() -> Report:
    """The smallest that has every kind of plot."""
    rows = (*rows_of("T0", "test", stories=2, seeds=(0,), steps=12), *rows_of("T1", "eval", stories=1, seeds=(0,), steps=12))  # fmt: skip
    return report_of(Found(rows, ablation()), with_arms({"supervised": "supervised", "rl": "rl"}))


@pytest.fixture(scope="module")
def pictures(report: Report) -> dict[str, str]:
    """One picture of each kind, the last of it on the page."""
    charts = drawing.charts()
    parts = [part for section in report.sections for part in section.parts]
    figures = {part.kind: part for part in parts if isinstance(part, Figure) and part.table.rows}
    assert figures.keys() == charts.CHARTS.keys()
    return {
        kind: drawing.drawn(
            charts.CHARTS[kind](figure.table, dict(figure.roles)).spec,
            name=kind,
            title=figure.table.title,
            roles=charts.ROLES,
        )
        for kind, figure in figures.items()
    }


def test_a_picture_takes_its_colors_from_the_page(pictures: dict[str, str]) -> None:
    for kind, svg in pictures.items():
        assert "#0a00" not in svg, kind
        assert "var(--" in svg, kind


def test_a_picture_says_what_it_is_and_what_its_marks_say(pictures: dict[str, str]) -> None:
    for kind, svg in pictures.items():
        assert re.match(r'<svg role="img" aria-label="[^"]+" width="\d+" height="\d+" viewBox="[\d ]+">', svg), kind
    assert re.search(r"<title>rl: cost [\d.]+ %, success [\d.]+ %</title>", pictures["pareto"])
    assert re.search(r"<title>RL: [\d.]+ % \[–\]</title>", pictures["path"])


def test_names_of_two_pictures_do_not_meet() -> None:
    svg = (
        '<svg class="m" width="1" height="1" viewBox="0 0 1 1"><clipPath id="clip0"/><g clip-path="url(#clip0)"/></svg>'
    )
    placed = drawing.placed(svg, name="curves", title="Curves", roles={})
    assert 'id="curves-clip0"' in placed
    assert "url(#curves-clip0)" in placed


def test_the_same_rows_give_the_same_bytes_and_every_table_a_file(report: Report, tmp_path: Path) -> None:
    first = write(report, FACTS, tmp_path / "a" / "page.html")
    write(report, FACTS, tmp_path / "b" / "page.html")
    one, two = ((tmp_path / name / "page.html").read_bytes() for name in "ab")
    assert one == two
    names = {path.name for path in first.tables.iterdir()}
    assert names == {f"{table.name}.{end}" for table in report.tables for end in ("csv", "json")}
    assert (first.size, first.count) == (len(one), len(report.tables))
    assert len(one) < 2_000_000


def test_one_row_alone_is_drawn_too(tmp_path: Path) -> None:
    assert write(report_of(Found((row("none"),))), FACTS, tmp_path / "page.html").plots > 0


def test_a_page_that_can_not_be_written_is_an_error_before_anything_is_drawn(report: Report, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    drawn: list[str] = []
    with pytest.raises(NotWritten, match=r"page\.html can't be written: .*Name a file in a folder"):
        write(report, FACTS, tmp_path / "file" / "page.html", told=drawn.append)
    assert drawn == []


def test_a_page_is_html_and_replaces_no_rows(report: Report, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"rows\.jsonl doesn't end in \.html"):
        write(report, FACTS, tmp_path / "rows.jsonl")


def test_a_name_with_what_no_picture_may_hold_is_drawn_all_the_same() -> None:
    spec = {
        "data": {"values": [{"arm": "a\x1b[31m<b>\u202e", "y": 1}]},
        "mark": "bar",
        "encoding": {"x": {"field": "arm", "type": "nominal"}, "y": {"field": "y", "type": "quantitative"}},
    }
    svg = drawing.drawn(spec, name="odd", title="Odd", roles={})
    assert "\x1b" not in svg
    assert "a\ufffd[31m" in svg
