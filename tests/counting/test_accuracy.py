"""Measuring predictions on recordings."""

import pytest

from counting.kit import answer, result, words
from trimtab.context.counting.counter import Counter
from trimtab.sessions.accuracy import ErrorStats, error_stats, percentile, predicted_vs_reported
from trimtab.sessions.recorded import Answered, Came, Compacted, Event, Recording
from trimtab.types.messages import Message, user
from trimtab.types.models import ModelInfo


def make(provider: str, model: str) -> Counter:
    return Counter(ModelInfo(provider, model, "openai-responses"))


class Session:
    """Builds a recording whose reports are exactly `hidden` and what is visible."""

    def __init__(self, model: str = "gpt-5.4", *, hidden: int = 8_000) -> None:
        self.events: list[Event] = []
        self.model = model
        self.hidden = hidden
        self.shown: list[Message] = []

    def came(self, message: Message, *, injected: bool = False) -> None:
        self.events.append(Came(message, injected=injected))  # type: ignore[arg-type]
        self.shown.append(message)

    def answered(self, *, off: float = 1.0, usage: bool = True) -> None:
        counter = make("openai", self.model)
        prompt = self.hidden + round(off * counter.request_size(self.shown).plain)
        said = answer(words(40), prompt=prompt if usage else 0, output=45 if usage else 0, model=self.model)
        self.events.append(Answered(said))
        self.shown.append(said)

    def step(self, tokens: int = 600, *, off: float = 1.0, usage: bool = True) -> None:
        self.came(result(words(tokens)))
        self.answered(off=off, usage=usage)

    @property
    def recording(self) -> Recording:
        return Recording("f", "test", self.model, tuple(self.events), "openai")


def test_a_session_that_reports_what_we_count_has_no_errors_to_speak_of():
    session = Session()
    for _ in range(12):
        session.step()
    (errors,) = predicted_vs_reported(session.recording, make).values()
    stats = errors.stats()
    assert {name: s.n for name, s in stats.items()} == {"anchored": 9, "increment": 9, "unanchored": 9}
    assert all(s.p95_abs_pct is not None and s.p95_abs_pct < 0.5 for s in stats.values())


def test_the_first_three_calls_are_not_predicted():
    session = Session()
    for _ in range(3):
        session.step()
    assert predicted_vs_reported(session.recording, make) == {}


def test_calls_without_usage_are_neither_counted_nor_predicted():
    session = Session()
    for step in range(10):
        session.step(usage=step % 2 == 0)
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert len(errors.anchored) == 2


def test_small_steps_have_no_error_of_their_own():
    session = Session()
    for _ in range(8):
        session.step(50)
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert (len(errors.anchored), len(errors.increment)) == (5, 0)


def test_the_first_call_after_a_compaction_is_left_out_and_the_next_start_from_its_report():
    session = Session()
    for _ in range(5):
        session.step()
    session.events.append(Compacted(summary=words(100)))
    session.shown = [user(words(100), origin="summary")]
    for _ in range(3):
        session.step()
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert len(errors.anchored) == 4
    assert max(errors.unanchored) < 0.5


def test_a_recorded_replacement_is_what_is_shown_after_a_compaction():
    session = Session()
    for _ in range(5):
        session.step()
    session.shown = [user(words(300)), user(words(200))]
    session.events.append(Compacted(replacement=tuple(session.shown)))
    for _ in range(3):
        session.step()
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert max(errors.anchored) < 0.5


def test_models_are_measured_apart_and_the_first_call_of_a_model_is_left_out():
    session = Session()
    for _ in range(5):
        session.step()
    session.model = "gpt-5.5"
    for _ in range(3):
        session.step()
    found = predicted_vs_reported(session.recording, make)
    assert {model: len(errors.anchored) for model, errors in found.items()} == {"gpt-5.4": 2, "gpt-5.5": 2}


def test_a_model_that_counts_a_quarter_more_is_learned_within_the_session():
    session = Session()
    for step in range(20):
        session.step(600 + 20 * step, off=1.25)
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert errors.increment[-1] < errors.increment[0] < 25
    assert errors.increment[-1] < 5


def test_what_a_client_injects_ends_no_turn():
    session = Session()
    session.came(user("go"))
    for _ in range(5):
        session.step()
    session.came(user(words(10)), injected=True)
    session.step()
    (errors,) = predicted_vs_reported(session.recording, make).values()
    assert max(errors.anchored) < 0.5


@pytest.mark.parametrize(("share", "value"), [(0.0, 1.0), (0.5, 2.5), (1.0, 4.0)])
def test_percentiles_are_interpolated(share, value):
    assert percentile([1.0, 2.0, 3.0, 4.0], share) == value


def test_no_errors_have_no_statistics():
    assert error_stats([]) == ErrorStats(0, None, None, None)
