"""What stories are made of."""

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.counting.tokenizers import guess
from trimtab.lab.tasks.material import documents, logs, prose, tables
from trimtab.lab.tasks.material.names import amount, code, fresh, unlike
from trimtab.lab.tasks.material.pages import CHARS, page

seeds = st.integers(0, 10_000).map(Random)
keys = st.lists(st.sampled_from(["<one>", "<two>", "<three>"]), unique=True)


@given(seeds, st.sampled_from(["QTE-######-@", "hold_&&&&&&&&", "abcdef"]))
def test_a_decoy_of_a_code_has_its_length_and_is_another(rng, pattern):
    text = code(rng, pattern)
    other = unlike(rng, text)
    assert (len(other), other != text) == (len(text), True)
    assert sum(a != b for a, b in zip(text, other, strict=True)) == 1


@given(seeds, keys, st.integers(0, 4_000), st.sampled_from(["\n", "\n\n"]))
def test_a_page_holds_its_keys_in_their_order_as_lines_of_their_own(rng, wanted, chars, gap):
    lines = page(rng, prose.paragraph, chars, wanted, gap=gap).split(gap)
    assert [line for line in lines if line in wanted] == wanted


@given(seeds, st.integers(2_000, 9_000))
def test_a_page_has_about_its_characters(rng, chars):
    assert abs(len(page(rng, prose.paragraph, chars, gap="\n\n")) - chars) <= 60
    assert abs(len(page(rng, tables.ledger_row, chars)) - chars) <= 160


@given(seeds)
def test_characters_make_about_the_tokens_that_a_material_says(rng):
    for name, line in (("log", logs.Log(rng).line), ("measures", tables.measure_row), ("document", documents.note)):
        text = page(rng, line, 6_000)
        assert 0.85 < len(text) / guess(text, "o200k_base") / CHARS[name] < 1.15


@given(seeds)
def test_lines_that_were_put_into_a_log_get_times_in_order_and_keep_their_words(rng):
    log = logs.Log(rng)
    late = log.broken("E1-2345", "cart-api")
    text = "\n".join([late, *(log.line(rng) for _ in range(5)), late])
    told = logs.in_order(text).split("\n")
    times = [line[: len("04-01 00:00:00.000")] for line in told]
    assert times == sorted(times)
    assert [line[18:] for line in told] == [line[18:] for line in text.split("\n")]


def test_what_is_taken_is_not_drawn_again():
    rng, taken = Random(1), set()
    drawn = [fresh(rng, lambda r: str(r.randint(1, 20)), taken) for _ in range(20)]
    assert sorted(map(int, drawn)) == list(range(1, 21))


@given(seeds)
def test_an_amount_has_two_decimals_and_thousands(rng):
    text = amount(rng, 1_000, 9_000_000)
    assert f"{float(text.replace(',', '')):,.2f}" == text
