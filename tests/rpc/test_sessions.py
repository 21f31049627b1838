"""Going elsewhere: another session is whole before this one is let go, and nothing of it is lost."""

import json
import os
import stat
from pathlib import Path

from support.cli import Cli, Json
from support.rpc_wire import notices, wired

READS: list[Json] = [{"tool_calls": [{"name": "read", "arguments": {"path": f"f{n}.txt"}}]} for n in range(4)]
WORDS = " ".join(f"/srv/data/part_{n % 4}_{n}.csv was read" for n in range(12))
SUMMARY: Json = {"text": f"<analysis>a</analysis><summary>{WORDS}</summary>"}


def test_a_fork_holds_what_was_said_before_a_message_and_gives_its_words_back(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}, {"text": "two"})) as wire:
        wire.prompt("first")
        wire.event("session_info_changed", name="first")
        wire.prompt("second")
        before = wire.ask("get_state")
        kept = Path(before["sessionFile"]).read_bytes()
        first, second = wire.ask("get_fork_messages")["messages"]
        assert wire.ask("fork", entryId=second["entryId"]) == {"text": "second", "cancelled": False}
        assert [m["role"] for m in wire.ask("get_messages")["messages"]] == ["user", "assistant"]
        assert wire.ask("get_state")["sessionId"] != before["sessionId"]
        assert wire.ask("fork", entryId=first["entryId"])["text"] == "first"
        assert wire.ask("get_messages")["messages"] == []
        assert Path(before["sessionFile"]).read_bytes() == kept
        assert wire.ask("switch_session", sessionPath=before["sessionFile"]) == {"cancelled": False}
        assert len(wire.ask("get_messages")["messages"]) == 4


def test_a_session_that_can_not_be_opened_leaves_everything_as_it_was(cli: Cli) -> None:
    cli.file("broken.jsonl", "not a session\n")
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        before = wire.ask("get_state")
        assert "nowhere" in wire.fail("switch_session", sessionPath="nowhere")
        assert "entry" in wire.fail("fork", entryId="nowhere") or "no message" in wire.fail("fork", entryId="nowhere")
        assert wire.fail("switch_session", sessionPath=before["sessionFile"]).startswith("this is that session")
        assert wire.ask("get_state") == before
        wire.prompt("still here")


def test_a_session_that_is_kept_nowhere_is_neither_copied_nor_exported(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}), no_session=True) as wire:
        wire.prompt("hi")
        for verb, fields in (("clone", {}), ("fork", {"entryId": "x"}), ("export_html", {})):
            assert "kept nowhere" in wire.fail(verb, **fields)
        assert "sessionFile" not in wire.ask("get_state")


def test_nothing_is_switched_while_a_turn_runs_and_all_else_is_answered(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "x", "delay_ms": 60_000})) as wire:
        wire.ask("prompt", message="go")
        wire.event("message_end")
        assert wire.fail("new_session").startswith("something runs")
        assert wire.fail("compact").startswith("something runs")
        assert wire.fail("trimtab.undo").startswith("a turn runs")
        assert wire.ask("get_entries")["leafId"]
        wire.ask("abort")


def test_the_log_comes_whole_and_behind_an_entry_and_as_a_tree(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}, {"text": "two"})) as wire:
        wire.prompt("first")
        told = wire.ask("get_entries")
        entries, leaf = told["entries"], told["leafId"]
        assert {"message"} <= {entry["type"] for entry in entries}
        behind = wire.ask("get_entries", since=leaf)["entries"]
        assert [e for e in behind if e["type"] == "message"] == []  # a name may have come meanwhile
        wire.prompt("second")
        more = wire.ask("get_entries", since=leaf)["entries"]
        assert [e["message"]["role"] for e in more if e["type"] == "message"] == ["user", "assistant"]
        assert wire.fail("get_entries", since="nowhere").startswith("Entry not found: nowhere")
        node = wire.ask("get_tree")["tree"]
        found = []
        while node:
            assert len(node) == 1
            found.append(node[0]["entry"])
            node = node[0]["children"]
        assert found == wire.ask("get_entries")["entries"]


def test_an_export_is_a_page_whole_or_not_at_all(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        wire.prompt("first")
        path = wire.ask("export_html", outputPath="page.html")["path"]
        assert "System prompt: " in Path(path).read_text()
        assert path == str(cli.project / "page.html")
        assert "<html" in Path(path).read_text()
        assert Path(wire.ask("export_html")["path"]).name.startswith("trimtab-")
        (cli.project / "folder").mkdir()
        os.mkfifo(cli.project / "pipe")
        (cli.project / "link").symlink_to("pipe")
        (cli.project / "page.html").write_text("old")
        for name in ("folder", "pipe", "link"):
            assert "a folder or a device" in wire.fail("export_html", outputPath=name)
        assert stat.S_ISFIFO(os.lstat(cli.project / "pipe").st_mode)
        assert wire.ask("export_html", outputPath="page.html")
        assert "<html" in (cli.project / "page.html").read_text()
        assert wire.fail("export_html", outputPath="no/such/place.html")
        assert wire.fail("export_html", outputPath="a\0b")


def test_a_compaction_is_told_when_it_begins_and_answered_with_what_it_came_to(cli: Cli) -> None:
    for n in range(4):
        cli.file(f"f{n}.txt", "\n".join(f"row {n}-{k}: /srv/data/part_{n}_{k}.csv" for k in range(60)))
    model = cli.script(*READS, {"text": "done"}, SUMMARY)
    with wired(cli, model=model) as wire:
        wire.prompt("read them")
        before = wire.ask("get_messages")["messages"]
        came = wire.ask("compact", customInstructions="keep names")
        assert WORDS in came["summary"]
        assert came["estimatedTokensAfter"] < came["tokensBefore"]
        assert [r["reason"] for r in wire.seen if r["type"] == "compaction_start"] == ["manual"]
        end = wire.event("compaction_end")
        assert (end["reason"], end["aborted"], end["result"]) == ("manual", False, came)
        (edit,) = wire.ask("trimtab.context")["edits"]
        assert (edit["kind"], edit["author"], edit["entryId"]) == ("compact", "user", came["details"]["entryId"])
        assert wire.ask("trimtab.revert")["output"].startswith("took back ")
        assert [m["content"] for m in wire.ask("get_messages")["messages"]] == [m["content"] for m in before]
        assert wire.ask("trimtab.context")["edits"] == []
        assert "nothing" in wire.fail("trimtab.revert") or "no edit" in wire.fail("trimtab.revert")


def test_a_turn_is_taken_back_and_done_again_with_its_files(cli: Cli) -> None:
    call = {"name": "write", "arguments": {"path": "new.txt", "content": "hi\n"}}
    with wired(cli, model=cli.script({"tool_calls": [call]}, {"text": "wrote"})) as wire:
        wire.prompt("write")
        assert wire.ask("trimtab.result")["changed_files"] == [str(cli.project / "new.txt")]
        assert "+hi" in wire.ask("trimtab.diff")["diffs"][0]
        foreseen = wire.ask("trimtab.undo", preview=True)
        undone = wire.ask("trimtab.undo")
        assert foreseen == undone
        assert (undone["turns"], undone["talk"], undone["left"]) == (["write"], True, [])
        assert not (cli.project / "new.txt").exists()
        assert wire.ask("get_messages")["messages"] == []
        assert wire.ask("trimtab.redo")["talk"] is True
        assert (cli.project / "new.txt").read_text() == "hi\n"
        assert wire.fail("trimtab.undo", turns=0).startswith("turns has to be at least 1")


def test_checks_run_on_request_and_at_the_end_of_a_turn_are_told(cli: Cli) -> None:
    call = {"name": "write", "arguments": {"path": "new.txt", "content": "hi\n"}}
    with wired(cli, model=cli.script({"tool_calls": [call]}, {"text": "wrote"}), verify=("test -e new.txt",)) as wire:
        assert wire.ask("trimtab.verify")["passed"] is False
        records = wire.prompt("write")
        ours = [r["event"] for r in records if r["type"] == "trimtab.event"]
        assert [e["outcome"] for e in ours if e["type"] == "verify_ended"] == ["passed"]
        assert [e["verify"] for e in ours if e["type"] == "result"] == ["passed"]
        assert wire.ask("trimtab.verify") == {"passed": True, "detail": ""}


def test_protected_files_are_accepted_for_the_checks(cli: Cli) -> None:
    cli.file("tests/a.py", "assert 1\n")
    call = {"name": "write", "arguments": {"path": "tests/a.py", "content": "pass\n"}}
    check = "grep -q pass tests/a.py"
    cli.config("[verify]\nprotect = ['tests/**']\nrounds = 0\n")
    with wired(cli, model=cli.script({"tool_calls": [call]}, {"text": "wrote"}), verify=(check,)) as wire:
        records = wire.prompt("write")
        ours = [r["event"] for r in records if r["type"] == "trimtab.event"]
        assert [e["outcome"] for e in ours if e["type"] == "verify_ended"] == ["failed"]
        assert wire.ask("trimtab.accept_protected") == {"accepted": ["tests/a.py was changed"]}
        assert wire.ask("trimtab.verify")["passed"] is True
        assert wire.ask("trimtab.accept_protected") == {"accepted": []}


def test_our_own_events_come_all_of_them_or_none(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}, {"text": "two"})) as wire:
        wire.ask("trimtab.set_events", events="all")
        ours = [r["event"]["type"] for r in wire.prompt("first") if r["type"] == "trimtab.event"]
        assert ours[ours.index("turn_started") :] == [
            "turn_started",
            "message_ended",
            "step_started",
            "message_started",
            "message_delta",
            "message_ended",
            "step_ended",
            "turn_ended",
            "result",
        ]
        wire.ask("trimtab.set_events", events="none")
        assert [r for r in wire.prompt("second") if r["type"] == "trimtab.event"] == []


def test_another_place_of_the_session_is_gone_on_from(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}, {"text": "two"})) as wire:
        wire.prompt("first")
        leaf = wire.ask("get_entries")["leafId"]
        wire.prompt("second")
        assert wire.ask("trimtab.go_to", entryId=leaf) == {"leafId": leaf}
        assert len(wire.ask("get_messages")["messages"]) == 2
        assert "no entry" in wire.fail("trimtab.go_to", entryId="nowhere")


def test_the_mode_of_permissions_changes_at_once(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        assert wire.ask("trimtab.set_mode", mode="plan") is None
        assert wire.ask("get_state")["permissionMode"] == "plan"
        assert wire.ask("trimtab.permissions")["mode"] == "plan"
        wire.ask("new_session")
        assert wire.ask("get_state")["permissionMode"] == "plan"


def test_models_and_levels_are_switched_and_what_there_is_not_is_named(cli: Cli) -> None:
    cli.config(
        "[providers.here]\nbase_url='http://127.0.0.1:9/v1'\n"
        "models=[{id='a', context_window=9000, max_output=1000, thinking=['low','high']}, {id='b', context_window=9000}]\n"
    )
    with wired(cli, model="here/a") as wire:
        listed = [(m["provider"], m["id"]) for m in wire.ask("get_available_models")["models"]]
        assert {("here", "a"), ("here", "b")} <= set(listed)
        assert wire.ask("get_available_thinking_levels") == {"levels": ["low", "high"]}
        assert wire.ask("get_state")["thinkingLevel"] == "default"
        assert wire.ask("cycle_thinking_level") == {"level": "low"}
        assert wire.ask("set_thinking_level", level="high") is None
        assert wire.ask("get_state")["thinkingLevel"] == "high"
        assert "low, high" in wire.fail("set_thinking_level", level="max")
        assert wire.ask("cycle_model")["model"]["id"] == "b"
        assert wire.ask("cycle_thinking_level") is None
        model = wire.ask("set_model", provider="here", modelId="a")
        assert (model["contextWindow"], model["maxTokens"], model["reasoning"]) == (9000, 1000, True)
        assert "nobody" in wire.fail("set_model", provider="nobody", modelId="c")
        assert wire.fail("set_follow_up_mode", mode="all")


def test_a_round_of_models_keeps_to_the_favourites_and_a_model_that_is_too_small_is_refused(cli: Cli) -> None:
    cli.config(
        "favourites=['here/a', 'here/c']\n[providers.here]\nbase_url='http://127.0.0.1:9/v1'\n"
        "models=[{id='a', context_window=40000}, {id='b', context_window=40000}, {id='c', context_window=40000}, {id='tiny', context_window=600}]\n"
    )
    with wired(cli, model="here/a") as wire:
        turned = [wire.ask("cycle_model") for _ in range(2)]
        assert [(one["model"]["id"], one["isScoped"]) for one in turned] == [("c", True), ("a", True)]
        assert "here/tiny" in wire.fail("set_model", provider="here", modelId="tiny")
        assert wire.ask("get_state")["model"]["id"] == "a"


def test_a_compaction_is_shown_in_the_state_and_stopped_by_an_abort(cli: Cli) -> None:
    for n in range(4):
        cli.file(f"f{n}.txt", "\n".join(f"row {n}-{k}: /srv/data/part_{n}_{k}.csv" for k in range(60)))
    model = cli.script(*READS, {"text": "done"}, {**SUMMARY, "delay_ms": 60_000})
    with wired(cli, model=model) as wire:
        wire.prompt("read them")
        name = wire.send("compact")
        wire.event("compaction_start")
        state = wire.ask("get_state")
        assert (state["isCompacting"], state["isStreaming"]) == (True, False)
        assert "being worked on" in wire.fail("prompt", message="now")
        assert wire.ask("abort") is None
        assert wire.response(name)["error"] == "it was stopped, and nothing was changed"
        assert wire.event("compaction_end")["aborted"] is True
        assert wire.ask("get_state")["isCompacting"] is False


def test_quit_ends_the_server(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        assert wire.ask("prompt", message="/quit") == {"disposition": "handled"}
        assert wire.rest() is not None


def test_a_session_is_opened_again_with_what_its_folder_says_now(cli: Cli) -> None:
    (cli.home / "prompts").mkdir(parents=True)
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        wire.prompt("hi")
        before = wire.ask("get_state")
        (cli.home / "prompts" / "late.md").write_text("Late.")
        assert wire.ask("trimtab.command", line="/reload") == {"disposition": "handled", "output": ""}
        assert wire.ask("get_state")["sessionId"] == before["sessionId"]
        assert "late" in [c["name"] for c in wire.ask("get_commands")["commands"]]
        assert len(wire.ask("get_messages")["messages"]) == 2


def test_a_new_session_may_be_in_another_folder(cli: Cli) -> None:
    (cli.root / "other").mkdir()
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        assert wire.ask("new_session", cwd="../other") == {"cancelled": False}
        assert "/other-" in wire.ask("get_state")["sessionFile"]
        assert "nowhere" in wire.fail("new_session", cwd="../nowhere")


def test_a_new_session_keeps_which_one_it_comes_from(cli: Cli) -> None:
    with wired(cli, model=cli.script({"text": "one"}, {"text": "two"})) as wire:
        wire.prompt("first")
        old = wire.ask("get_state")
        for ref in (old["sessionFile"], old["sessionId"], old["sessionId"][:9]):
            assert wire.ask("new_session", parentSession=ref) == {"cancelled": False}
            new = Path(wire.ask("get_state")["sessionFile"])
            assert json.loads(new.read_bytes().splitlines()[0])["parent_session"] == old["sessionId"]
        assert wire.ask("get_messages")["messages"] == []


def test_a_session_that_is_none_is_no_parent_and_told(cli: Cli) -> None:
    cli.file("notes.jsonl", "not a session\n")
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        for ref, why in (
            ("gone0000", "no session 'gone0000'"),
            ("notes.jsonl", "is no session"),
            ("a\0b/", "no session"),
        ):
            wire.read = len(wire.seen)
            assert wire.ask("new_session", parentSession=ref) == {"cancelled": False}
            (told,) = [text for text in notices(wire.seen[wire.read :]) if "parentSession" in text]
            assert told.startswith("parentSession isn't kept: ")
            assert why in told
            new = Path(wire.ask("get_state")["sessionFile"])
            assert json.loads(new.read_bytes().splitlines()[0]).get("parent_session") is None


def test_a_client_lists_sessions_and_puts_them_away(cli: Cli) -> None:
    assert cli.inside("-p", "earlier", "--model", cli.script({"text": "x"})).code == 0
    with wired(cli, model=cli.script({"text": "one"})) as wire:
        wire.prompt("now")
        here = wire.ask("get_state")
        rows = {row["title"]: row for row in wire.ask("trimtab.sessions")["sessions"]}
        assert set(rows) == {"earlier", "now"}
        other = rows["earlier"]
        assert (other["ended"], other["archived"], other["cwd"]) == ("answered", False, str(cli.project))
        assert "in use" in wire.fail("trimtab.archive", session=here["sessionId"])
        assert wire.ask("trimtab.archive", session=other["sessionId"])["changed"] is True
        assert [row["title"] for row in wire.ask("trimtab.sessions")["sessions"]] == ["now"]
        assert [row["title"] for row in wire.ask("trimtab.sessions", archived=True)["sessions"]] == ["earlier"]
        assert wire.ask("trimtab.archive", session=other["sessionId"], archived=False)["changed"] is True
        assert len(wire.ask("trimtab.sessions")["sessions"]) == 2
