"""The feed: numbers, times, joins, what may be lost and what may not."""

import anyio
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trimtab.agent import Feed
from trimtab.agent.events import MessageDelta, Notice, ToolUpdate, TurnStarted
from trimtab.agent.feed import FeedStatistics

pytestmark = pytest.mark.anyio


def delta(text, *, part=0, message_id="m", kind="text", **more):
    return MessageDelta(message_id=message_id, part=part, kind=kind, text=text, **more)


async def test_events_are_numbered_and_dated_to_the_millisecond_in_utc():
    clock = iter([0.0, 0.0, 1_700_000_000.9876])
    feed = Feed(now=lambda: next(clock))
    watcher = feed.subscribe()
    for text in ("a", "b", "c"):
        await feed.publish(Notice(message=text))
    assert watcher.pending() == (
        Notice(message="a", seq=1, time="1970-01-01T00:00:00.000Z"),
        Notice(message="b", seq=2, time="1970-01-01T00:00:00.000Z"),
        Notice(message="c", seq=3, time="2023-11-14T22:13:20.987Z"),
    )


async def test_a_feed_without_a_clock_gives_no_time():
    feed = Feed()
    watcher = feed.subscribe()
    await feed.publish(TurnStarted())
    assert watcher.pending() == (TurnStarted(seq=1),)


async def test_consecutive_deltas_of_one_part_arrive_as_one_with_the_last_number():
    feed = Feed()
    watcher = feed.subscribe()
    for event in (
        delta("a"),
        delta("b"),
        delta("c", part=1),
        delta("d", part=1, kind="thinking"),
        delta("e", message_id="n"),
        ToolUpdate(call_id="x", text="f"),
        ToolUpdate(call_id="x", text="g"),
        ToolUpdate(call_id="y", text="h"),
        delta("i"),
        Notice(message="j"),
        delta("k"),
    ):
        await feed.publish(event)
    assert watcher.pending() == (
        delta("ab", seq=2),
        delta("c", part=1, seq=3),
        delta("d", part=1, kind="thinking", seq=4),
        delta("e", message_id="n", seq=5),
        ToolUpdate(call_id="x", text="fg", seq=7),
        ToolUpdate(call_id="y", text="h", seq=8),
        delta("i", seq=9),
        Notice(message="j", seq=10),
        delta("k", seq=11),
    )


async def test_a_watcher_that_keeps_up_sees_every_delta_as_it_comes():
    feed = Feed()
    seen = []

    async def watch(watcher):
        async for event in watcher:
            seen.append(event.text)

    async with anyio.create_task_group() as group:
        group.start_soon(watch, feed.subscribe())
        for text in "abc":
            await anyio.wait_all_tasks_blocked()
            await feed.publish(delta(text))
        feed.close()
    assert seen == ["a", "b", "c"]


async def test_deltas_over_the_bound_are_dropped_and_counted_and_endings_are_not():
    feed = Feed(patience_s=0.0)
    by_size = feed.subscribe(max_delta_chars=5)
    by_count = feed.subscribe(max_events=1)
    for text in ("abc", "de", "f"):
        await feed.publish(delta(text))
    await feed.publish(delta("x", part=1))
    assert [e.text for e in by_size.pending()] == ["abcde"]
    assert [e.text for e in by_count.pending()] == ["abcdef"]
    assert (by_size.dropped_deltas, by_count.dropped_deltas) == (2, 1)
    assert feed.statistics() == FeedStatistics(published=4, watchers=2, dropped_deltas=3, dropped_watchers=0)
    by_size.close()
    await feed.publish(delta("y"))
    assert [e.text for e in by_count.pending()] == ["y"]
    assert feed.statistics() == FeedStatistics(published=5, watchers=1, dropped_deltas=3, dropped_watchers=0)


async def test_room_for_deltas_comes_back_when_they_are_read():
    feed = Feed()
    watcher = feed.subscribe(max_delta_chars=3)
    await feed.publish(delta("abc"))
    assert [e.text for e in watcher.pending()] == ["abc"]
    await feed.publish(delta("def"))
    assert [e.text for e in watcher.pending()] == ["def"]


async def test_an_ending_waits_for_a_slow_watcher_and_loses_nothing():
    feed = Feed(patience_s=30)
    watcher = feed.subscribe(max_events=1)
    seen = []

    async def slow():
        async for event in watcher:
            seen.append(event.message)
            await anyio.sleep(0.001)

    async with anyio.create_task_group() as group:
        group.start_soon(slow)
        for n in range(20):
            await feed.publish(Notice(message=str(n)))
        feed.close()
    assert seen == [str(n) for n in range(20)]
    assert not watcher.dropped


async def test_a_watcher_that_stalls_is_dropped_after_patience_and_the_others_get_everything():
    feed = Feed(patience_s=0.01)
    stalled, good = feed.subscribe(max_events=2), feed.subscribe()
    for n in range(5):
        await feed.publish(Notice(message=str(n)))
    assert (stalled.dropped, good.dropped) == (True, False)
    assert [e.message for e in good.pending()] == ["0", "1", "2", "3", "4"]
    assert [e async for e in stalled] == []
    assert feed.statistics() == FeedStatistics(published=5, watchers=1, dropped_deltas=0, dropped_watchers=1)


async def test_two_publishers_blocked_by_one_watcher_keep_the_order_of_numbers():
    feed = Feed(patience_s=30)
    watcher = feed.subscribe(max_events=1)
    seen = []

    async def publish(name):
        for n in range(5):
            await feed.publish(Notice(message=f"{name}{n}"))

    async with anyio.create_task_group() as group:
        group.start_soon(publish, "a")
        group.start_soon(publish, "b")
        await anyio.wait_all_tasks_blocked()
        async for event in watcher:
            seen.append(event.seq)
            if len(seen) == 10:
                break
    assert seen == list(range(1, 11))


async def test_one_watcher_that_stalls_is_dropped_once_by_two_publishers():
    feed = Feed(patience_s=0.01)
    feed.subscribe(max_events=1)
    async with anyio.create_task_group() as group:
        for n in range(3):
            group.start_soon(feed.publish, Notice(message=str(n)))
    assert feed.statistics().dropped_watchers == 1


async def test_a_closed_watcher_gets_no_more_frees_the_publisher_and_can_still_be_read():
    feed = Feed(patience_s=30)
    with feed.subscribe(max_events=1) as watcher:
        async with anyio.create_task_group() as group:
            group.start_soon(feed.publish, Notice(message="1"))
            group.start_soon(feed.publish, Notice(message="2"))
            await anyio.wait_all_tasks_blocked()
            watcher.close()
    await feed.publish(Notice(message="3"))
    assert sorted([e.message async for e in watcher]) == ["1", "2"]


async def test_a_cancelled_read_loses_no_event():
    feed = Feed()
    watcher = feed.subscribe()
    with anyio.move_on_after(0.001):
        await anext(watcher)
    await feed.publish(Notice(message="kept"))
    assert (await anext(watcher)).message == "kept"


KINDS = st.one_of(
    st.builds(delta, st.text(max_size=3), part=st.integers(0, 1)),
    st.builds(lambda c, t: ToolUpdate(call_id=c, text=t), st.sampled_from("xy"), st.text(max_size=3)),
    st.builds(lambda m: Notice(message=m), st.text(max_size=3)),
)


@given(st.lists(st.tuples(KINDS, st.booleans()), max_size=30))
@settings(deadline=None)
def test_whatever_is_published_and_read_in_between_no_text_is_lost_or_reordered(script):
    async def run():
        feed = Feed()
        watcher = feed.subscribe()
        got = []
        for event, read in script:
            await feed.publish(event)
            if read:
                got.extend(watcher.pending())
        return got + list(watcher.pending())

    def flat(events):
        joined = []
        for e in events:
            key = (e.part,) if isinstance(e, MessageDelta) else (e.call_id,) if isinstance(e, ToolUpdate) else None
            if key is None:
                joined.append((None, e.message))
            elif joined and joined[-1][0] == key:
                joined[-1] = (key, joined[-1][1] + e.text)
            else:
                joined.append((key, e.text))
        return joined

    got = anyio.run(run)
    assert flat(got) == flat([event for event, _ in script])
    assert [e.seq for e in got] == sorted(e.seq for e in got)
