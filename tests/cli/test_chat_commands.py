"""Commands of a talk that change what is talked about: sessions, branches, turns."""

import json
from pathlib import Path

import pytest

from support.cli import Cli, Json, Outcome

WRITE: Json = {"tool_calls": [{"name": "write", "arguments": {"path": "a.txt", "content": "one\n"}}]}


def talk(cli: Cli, *lines: str, model: str, flags: tuple[str, ...] = ()) -> Outcome:
    """What a talk says when these lines come from a pipe."""
    return cli.inside("chat", "--model", model, *flags, stdin="".join(f"{line}\n" for line in lines).encode())


def prompts(file: Path) -> list[str]:
    """What was said in a session file, all branches."""
    entries = [json.loads(line) for line in file.read_text().splitlines()]
    messages = [e["message"] for e in entries if e["type"] == "message" and e["message"]["role"] == "user"]
    return [part["text"] for m in messages for part in m["parts"]]


def said(text: str = "fine", **more: object) -> Json:
    return {"text": text, **more}


def test_undo_and_redo_say_what_they_did(cli: Cli) -> None:
    outcome = talk(cli, "make it", "/diff", "/undo ?", "/undo", "/redo", model=cli.script(WRITE, said()))
    assert outcome.code == 0
    for words in (
        "+++ b/a.txt\n",
        "\n+one\n",
        "would take back: make it",
        "a.txt: to be removed",
        "nothing was touched",
        "took back: make it",
        "a.txt: removed",
        "did again: make it",
        "a.txt: made again",
    ):
        assert words in outcome.err
    assert (cli.project / "a.txt").read_text() == "one\n"


@pytest.mark.parametrize(
    "line", ["/undo", "/undo x", "/redo", "/diff x", "/tree nowhere", "/label", "/resume none", "/fork 9"]
)
def test_what_cannot_be_is_said_and_the_talk_goes_on(cli: Cli, line: str) -> None:
    outcome = talk(cli, line, "hi", model=cli.script(said("hello")))
    assert (outcome.code, outcome.out.strip()) == (0, "hello")
    assert "error: " in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.parametrize(
    ("word", "way"), [("exit", "/quit leaves"), ("Quit", "/quit leaves"), (" help ", "/help lists")]
)
def test_a_word_that_asks_for_the_talk_itself_is_no_prompt(cli: Cli, word: str, way: str) -> None:
    outcome = talk(cli, word, "exit the loop", model=cli.script(said("well")))
    assert f"that wasn't sent to the model: {way}" in outcome.err
    (session,) = cli.sessions
    assert prompts(session) == ["exit the loop"]


def test_a_new_session_begins_without_what_was_said(cli: Cli) -> None:
    model = cli.script(said("one"))
    outcome = talk(cli, "first", "/new", "second", model=model)
    assert outcome.code == 0
    # Each session begins its script anew.
    assert [prompts(file) for file in cli.sessions] == [["first"], ["second"]]


def test_a_new_session_may_be_in_another_folder_with_its_own_settings_and_trust(cli: Cli) -> None:
    other = cli.root / "other"
    (other / ".trimtab").mkdir(parents=True)
    (other / ".trimtab" / "config.toml").write_text("max_steps = 7\n")
    outcome = talk(
        cli, "first", "/new ../nowhere", "/new ../other", "/settings max_steps", "second", model=cli.script(said("one"))
    )
    assert outcome.code == 0, outcome.err
    assert f"{cli.root}/nowhere" in outcome.err
    assert f" in {other}. /help lists commands" in outcome.err
    assert "isn't trusted" in outcome.err
    cwds = [json.loads(file.read_text().splitlines()[0])["cwd"] for file in cli.sessions]
    assert sorted(cwds) == sorted([str(cli.project), str(other)])
    assert [prompts(file) for file in sorted(cli.sessions)] == [["second"], ["first"]]


def test_an_earlier_session_goes_on_where_it_was(cli: Cli) -> None:
    model = cli.script(said("one"), said("two"))
    assert talk(cli, "first", model=model).code == 0
    (first,) = cli.sessions
    ident = json.loads(first.read_text().splitlines()[0])["id"]
    outcome = talk(cli, "other", f"/resume {ident[:8]}", "again", model=model)
    assert "This session goes on. It ended with:" in outcome.err
    assert prompts(first) == ["first", "again"]


def test_a_session_that_cannot_be_opened_leaves_this_one_as_it_is(cli: Cli) -> None:
    broken = cli.root / "notes.txt"
    broken.write_text("my notes\n")
    outcome = talk(cli, "first", f"/resume {broken}", "second", model=cli.script(said("one"), said("two")))
    assert outcome.out.split() == ["one", "two"]
    assert broken.read_text() == "my notes\n"
    (only,) = cli.sessions
    assert prompts(only) == ["first", "second"]


def test_sessions_are_listed_with_their_ids(cli: Cli) -> None:
    model = cli.script(said("one"))
    talk(cli, "the first one", model=model)
    outcome = talk(cli, "hi", "/resume", model=model)
    assert "the first one" in outcome.err
    assert "/resume ID goes on with one" in outcome.err


def test_a_copy_goes_on_by_itself(cli: Cli) -> None:
    model = cli.script(said("one"), said("two"), said("three"))
    outcome = talk(cli, "first", "second", "/fork 2", "other", model=model)
    assert outcome.code == 0, outcome.err
    files = {tuple(prompts(file)) for file in cli.sessions}
    assert files == {("first", "second"), ("first", "other")}


def test_a_copy_of_all_of_it(cli: Cli) -> None:
    model = cli.script(said("one"), said("two"))
    talk(cli, "first", "/clone", "more", model=model)
    assert {tuple(prompts(file)) for file in cli.sessions} == {("first",), ("first", "more")}


def test_going_back_on_the_same_session_outlives_a_quit(cli: Cli) -> None:
    model = cli.script(said("one"), said("two"), said("three"), said("four"))
    outcome = talk(cli, "first", "second", "/label turn", "/tree", "/tree 2", "/tree", model=model)
    assert "[turn] second  ← here" in outcome.err
    assert "the talk goes on from there; it was: second" in outcome.err
    assert "first  ← here" in outcome.err
    expect = {"contains": ["first"], "absent": ["second"]}
    again = cli.run("-p", "third", "--continue", "--model", cli.script(said("x", expect=expect)))
    assert again.code == 0, again.err
    (only,) = cli.sessions
    assert prompts(only) == ["first", "second", "third"]


def test_settings_are_read_again(cli: Cli) -> None:
    model = cli.script(said("one"), said("two"))
    cli.config("max_tokens = 1000\n")
    process = talk(cli, "first", "/cost", "/reload", "/cost", model=model)
    assert process.err.count("at most 1,000 tokens") == 2
    (only,) = cli.sessions
    assert prompts(only) == ["first"]


def test_settings_that_became_wrong_leave_the_session_as_it_was(cli: Cli) -> None:
    write = {"tool_calls": [{"name": "bash", "arguments": {"command": f"echo 'modle = 1' > {cli.home}/config.toml"}}]}
    model = cli.script(write, said("one"), said("two"))
    outcome = talk(
        cli, "first", "/reload", "second", model=model, flags=("--permission", "full", "--set", "sandbox.mode=off")
    )
    assert "unknown setting 'modle'" in outcome.err
    assert outcome.out.split() == ["one", "two"]


def test_tools_models_and_costs_are_told(cli: Cli) -> None:
    model = cli.script(said("one", usage={"input": 7, "output": 2}))
    outcome = talk(cli, "hi", "/tools", "/cost", "/models", model=model)
    assert "bash" in outcome.err
    assert "this session took 9 tokens (7 in, 2 out)" in outcome.err


def test_checks_run_when_they_are_asked_for(cli: Cli) -> None:
    flags = ("--verify", "test -e a.txt")
    outcome = talk(cli, "/verify", "make it", "/verify", model=cli.script(WRITE, said()), flags=flags)
    assert "verify failed: `test -e a.txt`: exit 1" in outcome.err
    assert "verify passed" in outcome.err
    assert "no checks are configured" in talk(cli, "/verify", model=cli.script(said())).err


def test_a_review_that_is_asked_for_and_protected_files_that_are_accepted(cli: Cli) -> None:
    review = cli.script(*(said("PASS", expect={"contains": ["+"]}) for _ in range(2)))
    flags = ("--set", f"verify.model={review}", "--set", "verify.protect=['a.txt']")
    model = cli.script(WRITE, said(), said())
    outcome = talk(
        cli, "make it", "/verify", "/verify accept", "/verify accept", "/verify now", model=model, flags=flags
    )
    assert "verify passed" in outcome.err
    assert "accepted:\n  a.txt was added" in outcome.err
    assert "protected files are as they were" in outcome.err
    assert "/verify knows no 'now'" in outcome.err


def test_the_model_is_asked_to_write_down_what_an_agent_has_to_know(cli: Cli) -> None:
    asked = {"contains": ["Write the file AGENTS.md", "The person adds: in German"]}
    outcome = talk(cli, "/init in German", model=cli.script(said("done", expect=asked)))
    assert outcome.out.strip() == "done"


def test_numbers_of_a_session_are_told(cli: Cli) -> None:
    outcome = talk(cli, "make it", "/stats", model=cli.script(WRITE, said()))
    assert "1 prompt, 2 answers, 1 result of tools (0 failed): write 1" in outcome.err


def test_a_level_of_thinking_that_the_model_has_not_is_refused(cli: Cli) -> None:
    outcome = talk(cli, "/thinking high", "/thinking", model=cli.script(said()))
    assert "'high' is no thinking level of scripted/" in outcome.err
    assert "thinking: default; scripted/" in outcome.err


def test_what_was_said_on_a_branch_that_is_left_is_summed_up_on_the_other(cli: Cli) -> None:
    words = " ".join(f"The parser in src/parse_{n}.py was tried with port 47{n}1." for n in range(6))
    summary = said(f"<analysis>x</analysis><summary>{words}</summary>", expect={"contains": ["keep the port"]})
    knows = {"contains": ["A branch of this conversation was left", "src/parse_3.py"], "absent": ["second thing"]}
    model = cli.script(said("one"), said(words), summary, said("fine", expect=knows))
    outcome = talk(cli, "first", "the second thing", "/tree 2 summary keep the port", "third", model=model)
    assert outcome.out.split("\n")[-2] == "fine", outcome.err
    assert "the branch that was left: summed up by scripted/" in outcome.err


def test_what_is_assumed_of_a_model_is_said_once_in_a_talk(cli: Cli) -> None:
    cli.config('[providers.local]\nbase_url = "http://127.0.0.1:9/v1"\n')
    lines = ("/model local/other", "/model local/tiny", "/new", "/model local/other", "/clone")
    err = talk(cli, *lines, model="local/tiny").err
    assert [err.count(f"local/{name} is in no list") for name in ("tiny", "other")] == [1, 1], err


def test_a_name_that_no_disk_takes_is_said_and_the_talk_goes_on(cli: Cli) -> None:
    name = "a" * 3_000
    lines = [f"/{command} {name}" for command in ("import", "export", "resume", "bug", "fork", "settings", "trust")]
    outcome = talk(cli, *lines, f"@{name}", "hi", model=cli.script(said("hello"), said("hello again")))
    assert "Traceback" not in outcome.err
    assert "File name too long" in outcome.err
    assert outcome.out.splitlines()[-1].startswith("hello")
