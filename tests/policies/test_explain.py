"""Explain and blame: why each word is or isn't there."""

from support.edited import Story
from trimtab.context.telling.blame import blame
from trimtab.context.telling.explain import Change, context_log, price
from trimtab.types.edits import Compact, Drop, EditCost, Elide, Restate, Restore

PORT = "listens on port-4711 of host_alpha"


def told() -> Story:
    """Two results; the first is hidden, brought back and hidden again by a compaction, and its port is used in between."""
    story = Story()
    story.says("find the port")
    story.calls("read", {"path": "conf.ini"}, PORT)
    story.calls("bash", {"command": "uptime"}, "up 3 days, load_average 0.4")
    return story


def hide(story: Story, handle: str, **facts: object) -> str:
    return story.edits(Elide(targets=(handle,), texts={handle: f"[{handle} hidden]"}), **facts)


def rows(story: Story, **options: bool):
    return context_log(story.entries, whole=lambda message: message, **options)


def test_a_row_tells_what_was_changed_why_by_whom_at_what_price_and_which_facts_went():
    story = told()
    cost = EditCost(cache_usd=0.25, model_tokens=30, ms=7)
    edit = hide(story, "r1", reason="old", before_tokens=40, after_tokens=9, cost=cost, batch="2.1")
    (row,) = rows(story)
    assert (row.entry_id, row.step, row.kind, row.targets) == (edit, 2, "elide", ("r1",))
    assert (row.reason, row.author, row.before, row.after, row.cost) == ("old", "policy:rules", 40, 9, cost)
    assert row.lost == ("port-4711", "host_alpha")
    assert price(row.cost) == ", cost $0.2500 of cache, 30 tokens of a model, 7 ms"


def test_a_fact_that_stands_elsewhere_is_not_lost():
    story = told()
    story.answers("it is port-4711")
    hide(story, "r1")
    assert rows(story)[0].lost == ("host_alpha",)


def test_what_a_summary_keeps_is_not_lost():
    story = told()
    story.edits(Compact(targets=("call-1", "call-2"), summary="conf.ini says port-4711"))
    (row,) = rows(story)
    assert row.kind == "compact"
    assert "port-4711" not in row.lost
    assert {"host_alpha", "load_average"} <= set(row.lost)


def test_a_revert_brings_facts_back_and_marks_the_edit_that_it_took_back():
    story = told()
    edit = hide(story, "r1")
    revert = story.reverts(edit)
    hidden, back = rows(story)
    assert hidden.reverted == revert
    assert (back.kind, back.targets, back.regained) == ("revert", (edit,), ("port-4711", "host_alpha"))


def test_a_revert_that_was_reverted_takes_nothing_back():
    story = told()
    edit = hide(story, "r1")
    first = story.reverts(edit)
    second = story.reverts(first)
    hidden, back, _ = rows(story)
    assert hidden.reverted is None
    assert back.reverted == second


def test_notes_of_the_engine_are_rows_and_say_why_nothing_was_done():
    story = told()
    story.notes(event="not_applied", author="policy:rules", reasons=["it is pinned", "nothing to gain"])
    story.notes(event="dry_run", author="policy:dry-run:rules", would=[{"action": "elide"}])
    first, second = rows(story)
    assert (first.kind, first.author, first.reason) == ("not_applied", "policy:rules", "it is pinned; nothing to gain")
    assert second.details == {"would": [{"action": "elide"}]}


def test_a_diff_shows_each_item_before_and_after():
    story = told()
    hide(story, "r1")
    story.edits(Restate(targets=(), text="the goal", label="goal"))
    first, second = rows(story, diff=True)
    assert first.changes == (Change("r1", f"[r1]\n{PORT}", "[r1 hidden]"),)
    assert [change.after for change in second.changes] == ["the goal"]
    assert rows(story)[0].changes == ()


def test_blame_tells_where_a_text_came_up_who_hid_it_and_who_used_it_since():
    story = told()
    edit = hide(story, "r1", reason="old", author="policy:rules", before_tokens=40, after_tokens=9)
    story.calls("bash", {"command": "nc host_alpha 4711"}, "open: host_alpha")
    (found,) = blame("host_alpha", story.view, story.archive)
    assert (found.name, found.role, found.tool, found.step) == ("r1", "result", "read", 1)
    assert (found.shown, found.reachable, found.way) == (False, True, "stub")
    (hidden,) = found.hidden
    assert (hidden.edit, hidden.kind, hidden.author, hidden.reason, hidden.holds) == (
        edit,
        "elide",
        "policy:rules",
        "old",
        True,
    )
    assert [(later.step, later.how) for later in found.later] == [(3, "used"), (3, "shown")]
    assert found.elsewhere == ("e7", "r3")


def test_blame_takes_a_handle_a_call_an_entry_or_a_step():
    story = told()
    for name in ("r2", "call-2"):
        assert [item.name for item in blame(name, story.view, story.archive)] == ["r2"]
    assert [item.name for item in blame("2", story.view, story.archive)] == ["e4", "r2"]
    assert [item.name for item in blame("e1", story.view, story.archive)] == ["e1"]
    assert blame("never said", story.view, story.archive) == ()


def test_blame_of_a_name_counts_only_what_the_item_was_the_first_to_show():
    story = told()
    story.calls("bash", {"command": "cat conf.ini"}, "nothing new")
    story.calls("bash", {"command": "nc port-4711"}, "ok")
    (found,) = blame("r1", story.view, story.archive)
    assert [(later.step, later.how) for later in found.later] == [(4, "used")]


def fetches(story: Story, name: str) -> list[tuple[int, str]]:
    """The steps that fetched an item again, and by which tool."""
    (found,) = blame(name, story.view, story.archive)
    return [(later.step, later.tool) for later in found.later if later.how == "fetched"]


def test_a_result_is_fetched_again_by_what_reads_calls_recalls_or_brings_it_back():
    story = told()
    story.calls("read", {"path": "conf.ini", "offset": 2}, "the end")
    story.calls("bash", {"command": "uptime"}, "up 4 days")
    story.calls("recall", {"id": "[r1]"}, PORT)
    story.edits(Restore(targets=("r2",)), author="user")
    assert fetches(story, "r1") == [(3, "read"), (5, "recall")]
    assert fetches(story, "r2") == [(4, "bash"), (5, "brought back")]


def test_another_file_with_the_same_lines_is_no_fetching_again():
    story = told()
    story.calls("read", {"path": "copy_of.ini"}, PORT)
    story.calls("recall", {"query": "listens"}, f"[r1] {PORT}")
    assert fetches(story, "r1") == []
    (found,) = blame("port-4711", story.view, story.archive)
    assert [(later.step, later.how) for later in found.later] == [(3, "shown"), (4, "shown")]


def test_a_file_read_again_after_it_was_written_is_no_fetching_again():
    story = told()
    story.calls("edit", {"path": "conf.ini"}, "done")
    story.calls("read", {"path": "conf.ini"}, PORT)
    story.calls("bash", {"command": "uptime"}, "up 3 days, load_average 0.4")
    assert fetches(story, "r1") == fetches(story, "r2") == []


def test_words_of_a_user_and_an_answer_are_not_fetched_by_results_that_hold_them():
    story = Story()
    asked = story.says("look into src/app_main.py")
    story.calls(
        "edit", {"path": "src/app_main.py", "new": "limit_of = 4711"}, "edited src/app_main.py: limit_of = 4711"
    )
    story.calls("read", {"path": "src/app_main.py"}, "limit_of = 4711")
    assert fetches(story, asked) == fetches(story, "e2") == []


def test_blame_tells_the_way_back_by_a_summary_or_only_by_search():
    story = told()
    compaction = story.edits(Compact(targets=("call-1",), summary="read it"))
    story.edits(Drop(targets=("call-2",)))
    (one,) = blame("r1", story.view, story.archive)
    (two,) = blame("r2", story.view, story.archive)
    assert (one.way, one.reachable) == ("summary", True)
    assert (two.way, two.reachable) == ("archive", False)
    assert [item.name for item in blame(compaction, story.view, story.archive)] == ["e2", "r1"]


def test_blame_knows_which_edits_still_hold():
    story = told()
    first = hide(story, "r1")
    story.edits(Restore(targets=("r1",)), author="model")
    second = hide(story, "r1")
    story.reverts(second)
    (found,) = blame("r1", story.view, story.archive)
    assert [(edit.edit, edit.holds) for edit in found.hidden] == [(first, False), (second, False)]
    assert found.way == "shown"
