"""Long sources made short along their structure."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.talk import hostile
from trimtab.context.summary.blocks import compress_source
from trimtab.context.summary.structure import blocks_of, kind_of


def quarter(text: str) -> int:
    return (len(text) + 3) // 4


def shop(number: int) -> str:
    """A product document: what is needed is short, what fills it is reviews."""
    review = {"user": "someone", "text": "a very good product that I would buy again " * 6}
    products = [
        {
            "sku": f"P{n:03}",
            "name": f"Lamp {n}",
            "price": 10.5 + n,
            "stock": n % 9,
            "reviews": [review] * 8,
            "about": "bright " * 60,
        }
        for n in range(number)
    ]
    return json.dumps({"shop": "Lamps", "products": products})


def test_the_needed_fields_of_every_row_survive_and_reviews_go():
    made = compress_source(shop(120), max_tokens=4_000, count=quarter, keep_fields=["price", "stock"])
    assert (made.kept, made.total, made.complete) == (120, 120, False)
    products = json.loads(made.text)["products"]
    assert [(p["sku"], p["price"], p["stock"]) for p in products] == [(f"P{n:03}", 10.5 + n, n % 9) for n in range(120)]
    assert "buy again" not in made.text


def test_without_named_fields_every_row_keeps_its_short_ones():
    made = compress_source(shop(120), max_tokens=4_000, count=quarter)
    assert made.kept == 120
    for n in range(120):
        assert f"P{n:03}" in made.text
        assert str(10.5 + n) in made.text


def test_of_rows_that_cannot_all_stay_the_wanted_ends_stay_and_the_rest_is_counted():
    made = compress_source(shop(2_000), max_tokens=500, count=quarter, keep_fields=["stock"], keep_first=5, keep_last=3)
    assert "P000" in made.text
    assert "P004" in made.text
    assert "P1999" in made.text
    assert f"{2_000 - made.kept:,} of 2,000 rows left out" in made.text


def test_a_needed_field_deep_inside_is_found_by_its_path():
    rows = [
        {"id": n, "offer": {"price": {"amount": n}, "text": "words " * 40}, "text": {"amount": -1}} for n in range(50)
    ]
    made = compress_source(json.dumps(rows), max_tokens=700, count=quarter, keep_fields=["price.amount"])
    assert [row["offer"]["price"]["amount"] for row in json.loads(made.text)] == list(range(50))


def test_json_lines_are_rows():
    text = "\n".join(json.dumps({"id": n, "stock": n, "note": "long " * 50}) for n in range(40))
    made = compress_source(text, max_tokens=400, count=quarter, keep_fields=["stock"])
    assert (made.kind, made.kept, made.total) == ("jsonl", 40, 40)


@pytest.mark.parametrize("separator", ["|", ",", "\t"])
def test_of_a_table_the_needed_columns_stay_in_every_row(separator):
    rows = [["name", "price", "review"], *([f"Lamp {n}", f"{n}.50", "so very good " * 30] for n in range(60))]
    lines = [f"| {' | '.join(r)} |" if separator == "|" else separator.join(r) for r in rows]
    if separator == "|":
        lines.insert(1, "|---|---|---|")
    made = compress_source("\n".join(lines), max_tokens=600, count=quarter, keep_fields=["Price"])
    assert (made.kind, made.kept, made.total) == ("table", 60, 60)
    assert "59.50" in made.text
    assert "very good" not in made.text


def test_of_a_log_the_failures_stay_whole_and_repeats_are_counted():
    ok = "\n".join(f"2026-01-01T10:00:{n % 60:02} INFO request {n} done in {n} ms" for n in range(2_000))
    bad = "2026-01-01T10:01:00 ERROR payment refused\n  at pay (src/pay.ts:41)\n  code E4711"
    made = compress_source(f"{ok}\n{bad}\n{ok}", max_tokens=300, count=quarter)
    assert made.kind == "log"
    assert bad in made.text
    assert "[× 4000, alike but for numbers]" in made.text


def log(number: int) -> str:
    """A log of two shapes."""
    return "\n".join(
        f"2026-01-01 00:{n // 60:02}:{n % 60:02} INFO step {n} did {n * 7} things {'abc' if n % 3 else 'xyz'}"
        for n in range(number)
    )


def test_records_of_a_log_that_were_asked_for_stay_however_alike_they_are_and_repeats_fill_the_room():
    made = compress_source(
        log(500), max_tokens=400, count=quarter, keep_first=3, keep_last=3, keep_fields=["step 250 "]
    )
    assert [n for n in (0, 1, 2, 250, 497, 498, 499) if f" step {n} did {n * 7} " not in made.text] == []
    assert "alike but for numbers]" in made.text
    assert quarter(made.text) > 350
    assert made.total == 500


def test_failures_that_fit_stand_each_for_itself_and_too_many_are_counted():
    bad = "\n".join(f"2026-01-01 01:00:{n % 60:02} ERROR job {n} failed" for n in range(6))
    made = compress_source(f"{log(300)}\n{bad}\n{log(300)}", max_tokens=300, count=quarter)
    assert all(f"ERROR job {n} failed" in made.text for n in range(6))
    many = "\n".join(f"2026-01-01 01:00:{n % 60:02} ERROR job {n} failed" for n in range(600))
    made = compress_source(f"{many}\n2026-01-01 02:00:00 FATAL the disk is full", max_tokens=300, count=quarter)
    assert "[× 600, alike but for numbers]" in made.text
    assert "FATAL the disk is full" in made.text


@pytest.mark.parametrize("room", [500, 3_000, 6_000])
def test_first_and_last_rows_that_were_asked_for_are_whole_while_there_is_room(room):
    rows = [{"id": n, "name": f"item {n}", "price": n * 1.5, "note": f"note {n}: " + "lorem ipsum " * 12} for n in range(200)]  # fmt: skip
    text = json.dumps(rows)
    made = compress_source(text, max_tokens=room, count=quarter, keep_first=2, keep_last=2, keep_fields=["id", "price"])
    whole = [json.dumps(row, separators=(",", ":")) for row in (*rows[:2], *rows[-2:])]
    assert [row for row in whole if row not in made.text] == []
    assert json.dumps(rows[2], separators=(",", ":")) not in made.text
    assert quarter(made.text) <= room


def test_rows_that_were_asked_for_give_way_where_they_alone_fill_the_room():
    rows = [{"id": n, "note": "lorem ipsum " * 400} for n in range(20)]
    made = compress_source(json.dumps(rows), max_tokens=1_000, count=quarter, keep_first=1, keep_fields=["id"])
    assert [row["id"] for row in json.loads(made.text)] == list(range(20))


def test_the_cells_of_table_rows_that_were_asked_for_are_whole():
    lines = ["sku,note", *(f"S{n}," + f"word{n} " * 20 for n in range(100))]
    made = compress_source("\n".join(lines), max_tokens=2_500, count=quarter, keep_first=1, keep_last=1)
    shown = made.text.split("\n")
    assert (shown[1], shown[-1], made.kept) == (lines[1], lines[-1], 100)
    assert shown[2] != lines[2]


def test_of_code_the_symbols_stay_and_the_one_that_was_asked_for_is_whole():
    body = "\n".join(f"    value = value + {n} * value" for n in range(80))
    wanted = "def price_of(item):\n    return item.net * (1 + RATE)"
    code = "\n".join((*(f"def other_{n}(value):\n{body}\n" for n in range(10)), wanted))
    made = compress_source(code, max_tokens=300, count=quarter, keep_fields=["price_of"])
    assert made.kind == "code"
    assert wanted in made.text
    assert all(f"def other_{n}(value):" in made.text for n in range(10))


def test_of_markdown_every_heading_stays():
    text = "\n".join(f"## Section {n}\n" + "plain words without much in them\n" * 60 for n in range(12))
    made = compress_source(text, max_tokens=300, count=quarter)
    assert made.kind == "markdown"
    assert all(f"## Section {n}" in made.text for n in range(12))
    assert "lines left out" in made.text


def test_lines_with_a_needed_word_stay_in_any_text():
    text = (
        "\n\n".join("plain words that say nothing\n" * 20 for _ in range(30))
        + "\n\nThe deposit is 40 EUR.\n\n"
        + "more of it\n" * 200
    )
    assert "The deposit is 40 EUR." in compress_source(text, max_tokens=60, count=quarter, keep_fields=["deposit"]).text


def test_a_few_endless_lines_keep_their_ends_and_fill_their_room():
    made = compress_source("begin " + "word " * 20_000 + "end", max_tokens=400, count=quarter)
    assert made.text.startswith("begin word")
    assert made.text.endswith("word end")
    assert quarter(made.text) > 200


def test_a_text_that_fits_is_complete_and_unchanged():
    made = compress_source("short", max_tokens=10, count=quarter)
    assert (made.text, made.complete) == ("short", True)


def test_ten_megabytes_on_one_line_are_counted_in_small_pieces_only():
    longest = 0

    def count(text: str) -> int:
        nonlocal longest
        longest = max(longest, len(text))
        return len(text) // 4

    made = compress_source("x" * 10_000_000, max_tokens=1_000, count=count)
    assert quarter(made.text) <= 1_001
    assert longest < 20_000


SOURCES = st.one_of(
    hostile,
    st.recursive(
        st.none() | st.integers() | hostile,
        lambda inside: (
            st.lists(inside, max_size=4) | st.dictionaries(st.sampled_from(["id", "price", "x"]), inside, max_size=3)
        ),
        max_leaves=20,
    ).map(json.dumps),
    st.lists(
        st.lists(st.sampled_from(["a", "b c", "ERROR x", "# h", "def f():"]), min_size=2, max_size=2), max_size=8
    ).map(lambda rows: "\n".join(",".join(row) for row in rows)),
    st.lists(st.sampled_from(["2026-01-01 10:00 a", "ERROR b", "# head", "def f():", "", "x" * 50]), max_size=12).map(
        "\n".join
    ),
)


@settings(max_examples=50)
@given(SOURCES, st.integers(0, 40), st.integers(0, 2), st.integers(0, 2), st.sampled_from([(), ("price",), ("a", "f")]))
def test_any_source_ends_within_its_limit_and_the_same_every_time(text, max_tokens, first, last, fields):
    made = compress_source(
        text, max_tokens=max_tokens, count=quarter, keep_first=first, keep_last=last, keep_fields=fields
    )
    assert quarter(made.text) <= max_tokens
    assert made.kept <= made.total
    assert made == compress_source(
        text, max_tokens=max_tokens, count=quarter, keep_first=first, keep_last=last, keep_fields=fields
    )


@given(SOURCES)
def test_blocks_are_the_text(text):
    kind = kind_of(text)
    assert "\n".join(block.text for block in blocks_of(text, kind)) == text
