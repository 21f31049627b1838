"""Which memories come with another."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.context.recall.related import related, score
from trimtab.context.stores.memory_log import Memory

GATEWAY = Memory(
    "gateway",
    "takes requests",
    entities=("Port 4711", "nginx"),
    relations=("the gateway calls the ledger",),
    updated="3",
)


def test_a_shared_entity_counts_three_whatever_its_case():
    assert score(GATEWAY, Memory("proxy", "", entities=("NGINX",))) == 3


def test_a_relation_that_names_the_other_counts_three():
    assert score(GATEWAY, Memory("ledger", "")) == 3
    assert score(Memory("x", "", relations=("the ledgers call",)), Memory("ledger", "")) == 0


def test_a_shared_date_or_episode_counts_two():
    one = Memory("a", "", episodes=("2026-03-01: moved", "the outage"))
    assert score(one, Memory("b", "", episodes=("2026-03-01: hired",))) == 2
    assert score(one, Memory("b", "", episodes=("2026-03-01: hired", "The  outage"))) == 4


def test_a_shared_word_of_the_keys_counts_one():
    assert score(Memory("build_linux", ""), Memory("build on macOS", "")) == 1


def test_the_closest_come_first_and_strangers_not_at_all():
    others = (
        Memory("weather", "sunny"),
        Memory("gateway-old", "", updated="1"),
        Memory("gateway-new", "", updated="2"),
        Memory("proxy", "", entities=("nginx",)),
        GATEWAY,
    )
    assert [m.key for m in related(GATEWAY, others)] == ["proxy", "gateway-new", "gateway-old"]
    assert [m.key for m in related(GATEWAY, others, 1)] == ["proxy"]


NAMES = st.lists(
    st.sampled_from(["ledger", "nginx", "a b", "2026-03-01: x", "(", ""]) | st.text(max_size=5), max_size=3
)
MEMORY = st.builds(
    lambda key, *lists: Memory(key, "", "", *(tuple(names) for names in lists)),
    st.text(max_size=8),
    NAMES,
    NAMES,
    NAMES,
)


@given(MEMORY, MEMORY)
def test_having_to_do_with_each_other_is_mutual(one, other):
    assert score(one, other) == score(other, one) >= 0
