"""A whole session, step by step: every third step somebody wants an old result gone. At once, never, or when the gate says so."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest

from support.requests_made import EXPLICIT, PREFIX, PRICE, exactly, mark_edited, request, segment
from trimtab.context.economics import (
    CacheState,
    MarkedEdit,
    Remaining,
    Situation,
    bill,
    decide,
    remaining,
)
from trimtab.types.models import CacheRules

STEPS = 108
Gate = Callable[[list[MarkedEdit], Situation], tuple[str, ...]]


@dataclass
class Account:
    """What a session cost: `rewritten` are cached tokens that edits made worthless, `batches` the steps that edited something."""

    usd: float = 0.0
    rewritten: int = 0
    batches: int = 0
    edits: int = 0
    at: list[int] = field(default_factory=list)


def drive(gate: Gate, row: CacheRules, likely: Callable[[int], Remaining], *, pause_at: int | None = None) -> Account:
    account, wanted = Account(), list[MarkedEdit]()
    shape, state = request(4_000, 500), CacheState()
    for step in range(STEPS):
        cold = step == pause_at
        state = CacheState() if cold else state
        answer = segment(f"answer {step}", 150, markable=False)
        shape = shape.extended([answer, segment(f"result {step}", 900)])
        if step >= 8 and step % 3 == 0:
            index = 2 + 2 * (step - 8) + 1
            wanted.append(MarkedEdit(str(index), index, 900, 40))
        apply = gate(
            wanted, Situation(shape, state, row, likely(step), (PRICE,), growth=1_050, arriving=860 / 3, cold=cold)
        )
        if apply:
            kept = bill(state, shape, row, PRICE).read
            shape = shape.edited({int(i): segment(f"stub {i}", 40) for i in apply})
            shape = mark_edited(shape, map(int, apply), state.written(), row)
            account.rewritten += kept - bill(state, shape, row, PRICE).read
            account.at.append(step)
            wanted = [e for e in wanted if e.id not in apply]
        account.usd += bill(state, shape, row, PRICE).usd or 0.0
        account.batches += bool(apply)
        account.edits += len(apply)
        state = state.after(shape, row)
    return account


def at_once(edits: list[MarkedEdit], situation: Situation) -> tuple[str, ...]:
    return tuple(e.id for e in edits)


def never(edits: list[MarkedEdit], situation: Situation) -> tuple[str, ...]:
    return ()


def gated(edits: list[MarkedEdit], situation: Situation) -> tuple[str, ...]:
    return decide(edits, situation).apply


def known(step: int) -> Remaining:
    return exactly(STEPS - step)


@pytest.mark.parametrize("row", [PREFIX, EXPLICIT])
@pytest.mark.parametrize("likely", [known, remaining])
def test_thirty_six_edit_events_do_not_rewrite_the_cache_thirty_six_times(
    row: CacheRules, likely: Callable[[int], Remaining]
) -> None:
    sliding, kept, gate = (drive(g, row, likely) for g in (at_once, never, gated))
    assert (sliding.batches, kept.batches) == (33, 0)
    assert gate.rewritten < sliding.rewritten / 2
    assert gate.batches < sliding.batches / 8
    assert gate.usd < kept.usd < sliding.usd


@pytest.mark.parametrize("row", [PREFIX, EXPLICIT])
def test_waiting_for_a_batch_is_cheaper_than_taking_each_edit_as_soon_as_it_pays(row: CacheRules) -> None:
    def impatient(edits: list[MarkedEdit], situation: Situation) -> tuple[str, ...]:
        return decide(edits, replace(situation, arriving=0.0)).apply

    assert drive(gated, row, known).usd < drive(impatient, row, known).usd


@pytest.mark.parametrize("row", [PREFIX, EXPLICIT])
def test_what_was_marked_is_applied_together_in_the_step_that_finds_the_cache_cold(row: CacheRules) -> None:
    def short(step: int) -> Remaining:
        return exactly(2)

    account = drive(gated, row, short, pause_at=60)
    assert account.at[0] == 60
    assert (account.edits >= 18, account.rewritten) == (True, 0)


def test_without_a_cache_every_edit_is_applied_at_once() -> None:
    assert drive(gated, CacheRules(), known).batches == 33
