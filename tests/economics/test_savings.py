"""What edits saved and cost."""

import pytest

from trimtab.context.economics import Bill, Savings


def test_the_account_adds_requests_and_batches_and_takes_the_price_of_summaries_off() -> None:
    account = (
        Savings()
        .with_request(Bill(80, 20, 0, 0.02), Bill(180, 20, 0, 0.05), broken=400)
        .with_batch(3, text_tokens=100, text_usd=0.01)
        .with_request(Bill(90, 10, 0, 0.01), Bill(200, 10, 0, 0.04))
    )
    assert (account.requests, account.edits, account.batches, account.broken_tokens) == (2, 3, 1, 400)
    assert (account.prompt_tokens, account.read_tokens, account.saved_tokens) == (200, 170, 210)
    assert account.text_tokens == 100
    assert account.saved_usd == pytest.approx(0.05)


def test_edits_that_cost_more_than_they_saved_show_as_a_loss() -> None:
    account = Savings().with_request(Bill(0, 90, 0, 0.09), Bill(100, 0, 0, 0.01)).with_batch(1)
    assert account.saved_usd == pytest.approx(-0.08)


def test_a_price_that_is_not_known_makes_the_money_unknown_and_nothing_else() -> None:
    account = Savings().with_request(Bill(0, 0, 90, None), Bill(0, 0, 100, None))
    assert (account.saved_tokens, account.saved_usd, account.usd) == (10, None, None)


def test_the_figures_are_plain_data() -> None:
    figures = Savings().with_request(Bill(0, 0, 5, 0.5), Bill(0, 0, 9, 0.9)).as_data()
    assert (figures["saved_tokens"], figures["kept_usd"], figures["edits"]) == (4, 0.9, 0)
    assert figures["saved_usd"] == pytest.approx(0.4)
