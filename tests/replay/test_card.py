"""What the report card counts."""

from support.recordings import answered, call, compacted, paid, recording, result, said
from trimtab.context.counting.counter import Counter
from trimtab.sessions.replay.card import Breaks, CardRow, Compactions, row_of, summed
from trimtab.sessions.replay.models import Terms, model_of
from trimtab.sessions.replay.steps import steps_of
from trimtab.types.messages import Assistant, Text
from trimtab.types.models import Price
from trimtab.types.usage import Usage

PRICE = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5)


def row(*events):
    session = recording(*events, answered(text="done"))
    model = model_of(session, Terms(price=PRICE))
    return row_of(session, steps_of(session.events), model, Counter(model))


def reported(read, written, fresh=0):
    event = answered(text="hi")
    usage = Usage(input=fresh, output=10, cache_read=read, cache_write=written)
    return type(event)(Assistant((Text("hi"),), "stop", usage=usage, model="m"))


def test_a_call_that_read_under_half_of_what_was_sent_before_is_a_break_and_costs_the_difference():
    found = row(said("go"), reported(0, 10_000), reported(10_000, 100), reported(0, 10_200), reported(10_200, 100))
    assert found.breaks.calls == 1
    assert found.breaks.tokens == 10_100
    assert abs(found.breaks.usd - 10_100 * (12.5 - 1.0) / 1e6) < 1e-9


def test_what_a_break_writes_for_an_hour_costs_the_price_of_that():
    session = recording(said("go"), paid(10_000, hour=10_000), paid(10_200, hour=10_200), answered(text="done"))
    dear = Price(input=10.0, output=50.0, cache_read=1.0, cache_write=12.5, cache_write_1h=20.0)
    model = model_of(session, Terms(price=dear))
    found = row_of(session, steps_of(session.events), model, Counter(model))
    assert abs(found.breaks.usd - found.breaks.tokens * (20.0 - 1.0) / 1e6) < 1e-9


def test_the_first_call_behind_a_compaction_is_no_break():
    assert row(said("go"), reported(0, 10_000), compacted("short"), reported(0, 3_000)).breaks.calls == 0


def test_a_file_that_is_read_again_unchanged_is_a_repeated_read():
    read = [(answered(call("Read", f"c{n}", file_path="a.py")), result(f"c{n}", "text of a")) for n in range(3)]
    changed = (answered(call("Edit", "e", file_path="a.py", old_string="x", new_string="y")), result("e", "ok"))
    assert row(said("go"), *read[0], *read[1]).results.repeated_reads == 1
    assert row(said("go"), *read[0], *changed, *read[1], *read[2]).results.repeated_reads == 1


def test_a_large_result_of_which_nothing_was_used_is_unused():
    body = "\n".join(f"def handler_{n}(): pass  # something long enough to count" for n in range(60))
    events = (said("go"), answered(call("Read", "c1", path="a")), result("c1", body))
    used = answered(call("Bash", "c2", command="grep handler_7 ."))
    assert (row(*events).results.count, row(*events).results.unused) == (1, 1)
    assert row(*events, used).results.unused == 0


def test_facts_behind_a_compaction_stood_in_the_summary_or_were_fetched_again():
    found = row(
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "src/parser.py src/lexer.py"),
        compacted("the parser is in src/parser.py"),
        answered(call("Read", "c2", path="src/parser.py")),
        result("c2", "text"),
        answered(call("Grep", "c3", pattern="x")),
        result("c3", "src/lexer.py"),
        answered(call("Read", "c4", path="src/lexer.py")),
    )
    assert found.compactions == Compactions(count=1, facts=2, in_summary=1, fetched_again=1)


def test_rows_add_up_and_an_unknown_price_makes_the_sum_unknown():
    known, unknown = (
        CardRow(requests=1, paid_usd=2.0),
        CardRow(requests=2, paid_usd=None, breaks=Breaks(calls=1, usd=None)),
    )
    assert summed([known, known]).paid_usd == 4.0
    total = summed([known, unknown])
    assert (total.requests, total.paid_usd, total.breaks.calls, total.breaks.usd) == (3, None, 1, None)
