"""What `trimtab context show`, `log`, `explain` and `blame` say of a saved session."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.saved_session import CONFIG, STUB, SUMMARY, write_masked_session, write_session
from support.servers import FakeServer, Reply, sse
from trimtab.coding.telling.printable import set_in

TRUNCATING = '[context]\npolicy = "truncate"\n'


def counted(text: str) -> str:
    """`text` without the counts that depend on a tokenizer."""
    return re.sub(r"takes [\d,]+ of [\d,]+ tokens", "takes N of N tokens", text)


def read(cli: Cli, *args: str) -> str:
    outcome = cli.inside("context", *args)
    assert (outcome.code, outcome.err) == (0, "")
    return outcome.out


def data(cli: Cli, *args: str) -> Any:
    return json.loads(read(cli, *args, "--json"))


def files_below(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


# show


def test_show_says_how_full_the_window_is_and_lists_the_items_in_order(cli: Cli, fixed: str) -> None:
    head, *rest = read(cli, "show", fixed).splitlines()
    assert head == "session s-fixed · scripted/tiny · window 16,000"
    assert re.fullmatch(r"[\d,]+ tokens \(at most [\d,]+\), \d+ % of the hard line of 13,505; 8 items", rest[0])
    assert rest[1] == "policy rules: acts from 10,276 (the soft line), aims at 7,340 (the target line)"
    assert re.fullmatch(r"system prompt [\d,]+ · tools [\d,]+ · messages [\d,]+ · of these pinned 0", rest[2])
    assert re.fullmatch(
        r"at most [\d,]+: [\d,]+ is an estimate that may be [\d,]+ too low, and limits go by the larger number;"
        " what the provider reports with its answers makes it more exact",
        rest[3],
    )
    rows = [line.split()[:3] for line in rest[6:]]
    assert rows == [
        ["user0001", "user", "full"],
        ["ask00001", "assistant", "full"],
        ["r1", "read", "stub"],
        ["ask00002", "assistant", "full"],
        ["r2", "grep", "full"],
        ["ask00003", "assistant", "full"],
        ["r3", "read", "full"],
        ["ask00004", "assistant", "full"],
    ]


def test_show_as_text_prints_the_messages_as_the_model_gets_them(cli: Cli, fixed: str) -> None:
    text = read(cli, "show", fixed, "--text")
    assert "── you · user0001\n  Never touch the tests." in text
    assert f"── read · r1\n{set_in(STUB)}" in text
    assert f"── read · r3\n{set_in('[r3]')}{set_in(CONFIG)}" in text


def test_show_as_json_holds_three_layers_and_the_budget(cli: Cli, fixed: str) -> None:
    value = data(cli, "show", fixed)
    assert set(value) == {"session_id", "active_context", "archive", "summary_index", "budget"}
    assert value["session_id"] == "s-fixed"
    assert value["archive"] == {"res00001": "r1"}
    assert value["summary_index"]["res00001"]["summary"] == STUB
    assert value["summary_index"]["res00001"]["sources"] == ["r1"]
    assert [item["id"] for item in value["active_context"]][:3] == ["user0001", "ask00001", "res00001"]
    budget = value["budget"]
    assert budget["window"] == 16_000
    assert budget["room"] == budget["window"] - budget["reserve"] - budget["safety"]
    assert 0 < budget["used"] <= budget["at_most"] < budget["room"]
    assert budget["over"] is False


def test_every_handle_of_the_archive_is_one_that_restore_takes(cli: Cli, grown: str) -> None:
    handles = data(cli, "show", grown)["archive"]
    assert len(handles) > 5
    for handle in handles.values():
        assert cli.inside("context", "explain", grown, handle).code == 0


def test_another_window_and_another_model_give_another_budget(cli: Cli, fixed: str) -> None:
    assert data(cli, "show", fixed, "--window", "100000")["budget"]["window"] == 100_000
    other = data(cli, "show", fixed, "--model", "anthropic/claude-sonnet-4-5")["budget"]
    assert (other["model"], other["window"]) == ("anthropic/claude-sonnet-4-5", 200_000)


def test_a_window_that_is_too_small_says_by_how_much(cli: Cli, grown: str) -> None:
    line = read(cli, "show", grown, "--window", "3000").splitlines()[1]
    found = re.fullmatch(
        r"[\d,]+ tokens \(at most ([\d,]+)\), ([\d,]+) over the hard line of ([\d,]+); \d+ items", line
    )
    assert found is not None
    most, over, hard = (int(number.replace(",", "")) for number in found.groups())
    assert most - over == hard


def test_a_window_smaller_than_its_margins_says_where_it_goes(cli: Cli, fixed: str) -> None:
    lines = read(cli, "show", fixed, "--window", "100").splitlines()
    assert "over the hard line of 0" in lines[1]
    assert (
        "a window of 100 has no room for a request: 25 of it are kept for the answer, and 256 are a safety margin"
        in lines
    )


def test_a_model_that_nobody_knows_any_more_is_counted_for_all_the_same(cli: Cli, fixed: str) -> None:
    text = Path(fixed).read_text().replace('"provider":"scripted"', '"provider":"gone"')
    Path(fixed).write_text(text)
    outcome = cli.inside("context", "show", fixed)
    assert outcome.code == 0
    assert "counted with a window of 32,768 tokens (--window says otherwise)" in outcome.err
    assert "gone/tiny · window 32,768" in outcome.out


def test_reported_usage_of_the_last_answers_anchors_the_count(cli: Cli) -> None:
    script = cli.script({"text": "hello", "usage": {"input": 5_000, "output": 3}})
    assert cli.inside("-p", "hi", "--model", script).code == 0
    used = data(cli, "show", "last")["budget"]["used"]
    assert 5_000 < used < 5_050


def test_a_session_without_an_answer_is_counted_for_the_configured_model(cli: Cli) -> None:
    path = write_session(cli.root / "s.jsonl", cwd=str(cli.project), upto="user0001")
    outcome = cli.inside("context", "show", str(path))
    assert outcome.code == 0
    assert "nothing has answered in this session yet; --model says for which model to count" in outcome.err


# log


def test_the_log_tells_when_by_whom_what_for_how_much_and_why(cli: Cli, fixed: str) -> None:
    assert read(cli, "log", fixed).splitlines() == [
        "edit0001  2026-05-04 03:02:05  step 2  policy:rules  elide r1",
        "    1,200 → 40 tokens, cost $0.0012 of cache; a long result that nothing uses",
        "note0001  2026-05-04 03:02:06  step 2  policy:rules  wanted what could not be done",
        "    not hidden: 'res00002' is pinned; unpin it first",
        "edit0002  2026-05-04 03:02:09  step 3  recovery  compact ask00001, r1, ask00002, r2",
        "    700 → 60 tokens, cost 1,500 tokens of a model, 850 ms; the window fills up; taken back by back0001",
        "back0001  2026-05-04 03:02:10  step 3  user  revert edit0002",
        "    it lost the users",
    ]


def test_the_difference_shows_before_after_and_the_facts_that_left(cli: Cli, fixed: str) -> None:
    path = write_session(cli.root / "cut.jsonl", cwd=str(cli.project), upto="edit0001")
    lines = read(cli, "log", str(path), "--diff").splitlines()
    assert lines[2:5] == ["    r1", "    - [r1]", "    - option_0 = /srv/app/data_0.bin"]
    assert f"    + {STUB}" in lines
    facts = lines[lines.index(f"    + {STUB}") + 1 :]
    assert facts[0].startswith("    facts that left the context: ")
    assert "      path: /srv/app/data_0.bin [r1]" in facts
    (row,) = data(cli, "log", str(path), "--diff")["rows"]
    texts = {fact["text"] for fact in row["facts_dropped"]}
    assert "port = 4711" in texts
    assert "option_7" not in texts  # the other result still names it


def test_a_fact_that_something_else_still_says_has_not_left(cli: Cli, fixed: str) -> None:
    rows = {row["entry_id"]: row for row in data(cli, "log", fixed, "--diff")["rows"]}
    assert rows["edit0002"]["facts_dropped"] != []
    assert "app.cfg" not in {fact["text"] for fact in rows["edit0002"]["facts_dropped"]}
    assert rows["edit0002"]["changes"][0]["after"].startswith(SUMMARY)


def test_log_as_json_has_a_row_with_time_for_each_entry(cli: Cli, fixed: str) -> None:
    value = data(cli, "log", fixed)
    assert value["session_id"] == "s-fixed"
    assert [(row["entry_id"], row["kind"]) for row in value["rows"]] == [
        ("edit0001", "elide"),
        ("note0001", "not_applied"),
        ("edit0002", "compact"),
        ("back0001", "revert"),
    ]
    assert value["rows"][0] == {
        "time": "2026-05-04T03:02:05.000Z",
        "entry_id": "edit0001",
        "step": 2,
        "kind": "elide",
        "targets": ["r1"],
        "reason": "a long result that nothing uses",
        "author": "policy:rules",
        "before": 1200,
        "after": 40,
        "cost": {"cache_usd": 0.0012},
        "batch": "2.1",
        "lost": value["rows"][0]["lost"],
    }


def test_a_session_without_edits_has_an_empty_log(cli: Cli) -> None:
    path = str(write_session(cli.root / "s.jsonl", cwd=str(cli.project), upto="res00002"))
    outcome = cli.inside("context", "log", path)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no edit was made in this session\n")
    assert data(cli, "log", path) == {"session_id": "s-fixed", "rows": []}


# explain


def test_explain_says_why_an_item_is_hidden_and_how_it_comes_back(cli: Cli, fixed: str) -> None:
    assert counted(read(cli, "explain", fixed, "r1")).splitlines() == [
        "r1: result of read, step 1, turn 1",
        "  shown as a stub: by edit0001 (elide, step 2, policy:rules): a long result that nothing uses",
        "  takes N of N tokens",
        f"  in its place: {STUB}",
        "  edit edit0002, compact, step 3, recovery: the window fills up (taken back)",
        "  used later by step 2",
        f"  way back: trimtab context restore {fixed} r1",
        f"  way back: trimtab context revert {fixed} edit0001",
        "  way back: the model: recall id=r1",
    ]


@pytest.mark.parametrize("name", ["r3", "c3", "res00003", "[r3]", "res00003#0"])
def test_an_item_has_many_names(cli: Cli, fixed: str, name: str) -> None:
    assert read(cli, "explain", fixed, name).splitlines()[:2] == [
        "r3: result of read, step 3, turn 1",
        "  shown as it was recorded: no edit changes it",
    ]


def test_explain_of_an_edit_says_what_taking_it_back_would_cost(cli: Cli, fixed: str) -> None:
    lines = read(cli, "explain", fixed, "edit0001").splitlines()
    assert lines[:3] == [
        "edit0001  2026-05-04 03:02:05  step 2  policy:rules  elide r1",
        "  1,200 → 40 tokens, cost $0.0012 of cache; a long result that nothing uses",
        "  now: r1 (stub)",
    ]
    found = re.fullmatch(r"  without it the next request has ([\d,]+) tokens instead of ([\d,]+)", lines[4])
    assert found is not None
    assert int(found[1].replace(",", "")) > int(found[2].replace(",", "")) + 500
    assert re.fullmatch(r"  read again: r1 at step 3, 1 request later; [\d,]+ tokens", lines[3])
    assert lines[5:] == [f"  way back: trimtab context revert {fixed} edit0001"]


def test_an_edit_that_was_taken_back_holds_no_more(cli: Cli, fixed: str) -> None:
    assert read(cli, "explain", fixed, "edit0002").splitlines()[-1] == "  it doesn't hold any more"
    told = data(cli, "explain", fixed, "edit0002")["edit"]
    assert (told["holds"], told["time"]) == (False, "2026-05-04T03:02:09.000Z")


def test_explain_as_json_holds_the_item_with_its_edits(cli: Cli, fixed: str) -> None:
    item = data(cli, "explain", fixed, "r1")["item"]
    assert [(edit["edit"], edit.get("holds", True)) for edit in item["edits"]] == [
        ("edit0001", True),
        ("edit0002", False),
    ]
    assert item["undone_by"] == "edit0001"
    assert item["tokens"] < item["full_tokens"]


def test_an_edit_under_a_later_one_is_not_told_as_a_saving(cli: Cli, fixed: str) -> None:
    assert cli.inside("context", "restore", fixed, "r1").code == 0
    lines = read(cli, "explain", fixed, "edit0001").splitlines()
    assert any(re.fullmatch(r"  without it the next request has [\d,]+ tokens as well", line) for line in lines)


# blame


def test_blame_of_a_text_tells_its_whole_story(cli: Cli, fixed: str) -> None:
    assert read(cli, "blame", fixed, "listen_port = 4711").splitlines() == [
        "r1: result of read, step 1, turn 1, 2026-05-04 03:02:02; now stub",
        "  it stood there: …option_59 = /srv/app/data_59.bin listen_port = 4711",
        "  hidden by edit0001 (elide, step 2, policy:rules, 1,200 → 40 tokens, cost $0.0012 of cache): a long result that nothing uses",
        "  hidden by edit0002 (compact, step 3, recovery, 700 → 60 tokens, cost 1,500 tokens of a model, 850 ms): the window fills up (undone)",
        "  fetched again in: step 3 (read)",
        "  reachable: yes, its place in the context names the way back",
        "  also shown by r3",
    ]


def test_blame_takes_a_handle_a_step_or_a_number_that_is_no_step(cli: Cli, fixed: str) -> None:
    assert data(cli, "blame", fixed, "r2")["found"][0]["entry"] == "res00002"
    assert [item["entry"] for item in data(cli, "blame", fixed, "2")["found"]] == ["ask00002", "res00002"]
    numbered = json.loads(cli.inside("context", "blame", fixed, "4711", "--json").out)
    assert [item["entry"] for item in numbered["found"]] == ["res00001"]


def test_blame_takes_the_start_of_an_id_where_it_fits_one(cli: Cli, fixed: str) -> None:
    assert [item["entry"] for item in data(cli, "blame", fixed, "user000")["found"]] == ["user0001"]
    assert cli.inside("context", "blame", fixed, "res0").code == 1


def test_blame_of_a_number_that_is_no_step_says_that_the_text_was_searched_for(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "blame", fixed, "4711")
    assert outcome.err == "note: there is no step 4711, so the text '4711' was searched for\n"
    assert outcome.out.startswith("r1: ")


def test_what_nobody_said_is_exit_code_one(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "blame", fixed, "port 9999")
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == "nothing of this session's branch holds 'port 9999'\n"


# What reading never does


@pytest.mark.parametrize("args", [("show",), ("log", "--diff"), ("explain", "r1"), ("blame", "r1")])
def test_readers_write_nothing_and_heed_no_lock(cli: Cli, grown: str, args: tuple[str, ...]) -> None:
    command, *rest = args
    before = files_below(cli.root)
    assert cli.inside("context", command, grown, *rest).code == 0
    assert files_below(cli.root) == before


@pytest.mark.parametrize("command", ["show", "log"])
def test_an_unknown_session_is_exit_code_two(cli: Cli, command: str) -> None:
    outcome = cli.inside("context", command, "nosuch")
    assert outcome.code == 2
    assert "no session 'nosuch'" in outcome.err


def test_a_damaged_session_is_read_around_with_a_note(cli: Cli, fixed: str) -> None:
    lines = Path(fixed).read_bytes().splitlines(keepends=True)
    Path(fixed).write_bytes(b"".join([*lines[:6], b'{"type": "edit", "id"\n', *lines[6:]]))
    outcome = cli.inside("context", "show", fixed)
    assert outcome.code == 0
    assert "1 damaged place" in outcome.err
    assert "r1" in outcome.out


def test_a_file_that_is_no_session_is_refused(cli: Cli) -> None:
    notes = cli.file("notes.jsonl", "just notes\n")
    outcome = cli.inside("context", "show", str(notes))
    assert outcome.code == 2
    assert notes.read_text() == "just notes\n"


@pytest.mark.parametrize("name", ["r33", "resx0001", "nothing"])
def test_an_unknown_name_is_exit_code_two_with_what_is_near(cli: Cli, fixed: str, name: str) -> None:
    outcome = cli.inside("context", "explain", fixed, name)
    assert outcome.code == 2
    assert f"there is no item {name!r} in session s-fixed" in outcome.err
    assert ("Near: " in outcome.err) == (name != "nothing")


def test_an_ambiguous_start_names_the_candidates(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "explain", fixed, "res0")
    assert outcome.code == 2
    assert "'res0' fits 3 items" in outcome.err
    assert "res00001, res00002, res00003" in outcome.err


def test_show_names_the_policy_that_the_run_used_until_another_one_is_named(cli: Cli) -> None:
    said = cli.script({"text": "hello"}, {"text": "again"})
    assert cli.inside("-p", "hi", "--model", said, "--policy", "mask(keep=3)").code == 0
    file = str(cli.sessions[0])
    cli.config(TRUNCATING)
    assert "policy mask(keep=3): acts from" in read(cli, "show", file)
    assert data(cli, "show", file)["budget"]["policy"] == "mask(keep=3)"
    assert data(cli, "show", file, "--set", "context.policy=none")["budget"]["policy"] == "none"
    assert cli.inside("-p", "more", "--session", file).code == 0
    assert data(cli, "show", file)["budget"]["policy"] == "truncate"


def test_a_run_under_the_usual_policy_writes_nothing_about_it_and_show_still_knows(cli: Cli) -> None:
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
    file = cli.sessions[0]
    assert b'"policy":' not in file.read_bytes()
    cli.config(TRUNCATING)
    assert data(cli, "show", str(file))["budget"]["policy"] == "rules"


def test_show_counts_in_the_window_that_the_run_had_until_another_one_is_named(cli: Cli) -> None:
    wide = ("--set", "providers.scripted.context_window=40000")
    said = cli.script({"text": "hello"}, {"text": "again"}, {"text": "and again"})
    run = ("-p", "hi", "--model", said, "--set", "providers.scripted.context_window=5400", "--set", "providers.scripted.max_output=800")  # fmt: skip
    assert cli.inside(*run).code == 0
    file = str(cli.sessions[0])

    def shown(*args: str) -> tuple[int, int]:
        budget = data(cli, "show", file, *args)["budget"]
        return budget["window"], budget["reserve"]

    assert shown() == (5_400, 800)
    assert shown("--model", said) == (5_400, 800)
    assert shown("--model", "scripted/other") == (16_000, 1_000)
    assert shown(*wide) == (40_000, 1_000)
    assert shown("--window", "9000") == (9_000, 800)
    assert cli.inside("-p", "more", "--session", file).code == 0
    assert shown() == (16_000, 1_000)
    assert sum(b'"window"' in line for line in Path(file).read_bytes().splitlines()) == 2


def test_a_window_that_was_assumed_is_still_the_one_of_the_run_when_settings_state_another(cli: Cli) -> None:
    with FakeServer(
        Reply(sse({"choices": [{"index": 0, "delta": {"content": "hello"}, "finish_reason": "stop"}]}))
    ) as server:
        where = f'base_url = "{server.url}"\n'
        cli.config(f"[providers.local]\n{where}")
        assert cli.inside("-p", "hi", "--model", "local/odd").code == 0
        file = str(cli.sessions[0])
        assumed = cli.inside("context", "show", file)
        cli.config(f"[providers.local]\n{where}context_window = 131072\n")
        stated = cli.inside("context", "show", file)
        named = data(cli, "show", file, "--set", "providers.local.context_window=9000")
    assert [row.splitlines()[0].partition(" · ")[2] for row in (assumed.out, stated.out)] == [
        "local/odd · window 32,768",
        "local/odd · window 32,768",
    ]
    assert ("assuming a window of 32,768 tokens" in assumed.err, stated.err) == (True, "")
    assert named["budget"]["window"] == 9_000


def test_the_window_of_a_script_is_recorded_only_where_it_was_stated(cli: Cli) -> None:
    cli.config("")
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
    assert b'"window"' not in cli.sessions[0].read_bytes()


def test_a_log_from_before_policies_were_recorded_tells_by_its_edits(cli: Cli) -> None:
    file = write_masked_session(cli.root / "masked.jsonl", cwd=str(cli.project), edits=2)
    assert data(cli, "show", str(file))["budget"]["policy"] == "mask"
