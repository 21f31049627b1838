"""A talk on a real (pseudo-)terminal of 80 columns: whose turn it is, Ctrl-C, leaving, and lines that fit."""

import re

import pytest

from support.cli import Cli, delta, local, said
from support.servers import FakeServer, Reply, Stall, sse, wait_until
from support.terminal import PATIENCE_S, Terminal


def test_ctrl_c_stops_a_turn_and_only_a_second_one_leaves(cli: Cli) -> None:
    with FakeServer(Reply([*sse(delta(content="hm")), Stall()])) as server, Terminal(cli, "chat", *local(server)) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("hm")
        t.type("\x03")
        t.wait_for("stopped: what was done is kept, and your next words go on\\n(.*\\n)*> $")
        t.type("half a line\x03")
        t.wait_for("\\nCtrl-C again leaves\\n> $")
        t.type("/model\n")  # the half line is gone, and so is the warning
        t.wait_for("model: local/tiny; /models lists others\\n> $")
        t.type("\x03")
        t.wait_for("leaves\\n> $")
        t.type("\x03")
        assert t.end().code == 0


def test_quit_while_the_agent_works_says_that_it_waits(cli: Cli) -> None:
    with FakeServer(Reply([*sse(delta(content="hm")), Stall()])) as server, Terminal(cli, "chat", *local(server)) as t:
        t.wait_for("> $")
        t.type("go\n")
        assert wait_until(lambda: bool(server.requests), seconds=PATIENCE_S)
        t.type("/quit\n")
        t.wait_for(r"leaving after this turn \(Ctrl-C stops it\)")
        t.type("\x03")
        assert t.end().code == 0
    assert t.screen.endswith("\n")


def test_what_was_not_allowed_is_shown_with_its_remedy_before_the_mark(cli: Cli) -> None:
    calls = [{"name": "bash", "arguments": {"command": "rm -rf some/folder/with/a/long/name and/another/one"}}]
    script = cli.script({"tool_calls": calls}, {"text": "well"})
    with Terminal(cli, "chat", "--model", script) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("answer with a word")
        t.type("\x03")  # nobody answers
        t.wait_for("well\\nnote: 1 call was not allowed(.*\\n)*> $")
        t.type("\x04")
        assert t.end().code == 0
    assert "[not allowed]" in t.screen
    assert "stands unanswered allows nothing" in " ".join(t.screen.split())
    lines = t.screen.partition("> go")[2].splitlines()
    assert max(len(line) for line in lines if str(cli.root) not in line) <= 80  # a long path stays whole


@pytest.mark.parametrize("command", [["models"], ["sessions", "list"]])
def test_lists_fit_the_terminal(cli: Cli, command: list[str]) -> None:
    assert cli.inside("-p", "a long prompt " * 10, "--model", cli.script({"text": "x"})).code == 0
    with Terminal(cli, *command) as t:
        outcome = t.end()
    assert outcome.code == 0
    assert max(map(len, t.screen.splitlines())) <= 80
    assert max(map(len, cli.inside(*command).out.splitlines())) > 80


def test_one_turn_on_a_terminal_streams_and_ends(cli: Cli) -> None:
    with FakeServer(said("fine")) as server, Terminal(cli, "-p", "hi", *local(server)) as t:
        outcome = t.end()
    assert (outcome.code, t.screen) == (0, "fine\n")


def test_a_folder_that_brings_something_is_asked_about_before_the_session_opens(cli: Cli) -> None:
    model = cli.script({"text": "theirs"})
    cli.file(".trimtab/config.toml", f'model = "{model}"\n')
    with Terminal(cli, "chat") as t:
        t.wait_for("Enter means later\\n")
        assert cli.sessions == []
        t.type("what\n")
        t.wait_for("what is no answer")
        t.type("show\n")
        t.wait_for("(?s)── .trimtab/config.toml.*Enter means later\\n")
        t.type("fo\n")
        t.wait_for("leaves\\.\n> $")
        t.type("hi\n")
        t.wait_for("theirs\\n> $")
        t.type("\x04")
        assert t.end().code == 0
    assert cli.inside("-p", "hi").out == "theirs\n"


def test_enter_trusts_nothing_and_ctrl_c_at_the_question_leaves_with_nothing_stored(cli: Cli) -> None:
    cli.file("AGENTS.md", "obey\n")
    model = cli.script({"text": "fine"})
    with Terminal(cli, "chat", "--model", model) as t:
        t.wait_for("Enter means later\\n")
        t.type("\n")
        t.wait_for(r"nothing\s+of\s+\S+\s+acts\s+in\s+this(.*\n)*> $")
        t.type("\x04")
        assert t.end().code == 0
    with Terminal(cli, "chat", "--model", model) as t:
        t.wait_for("Enter means later\\n")
        t.type("\x03")
        assert t.end().code == 130
    assert not (cli.home / "trust.json").exists()


def test_the_folder_of_a_session_that_goes_on_there_is_asked_about_and_not_the_one_it_was_called_from(cli: Cli) -> None:
    cli.file("AGENTS.md", "obey\n")
    other = cli.root / "other"
    (other / ".trimtab").mkdir(parents=True)
    model = cli.script({"text": "fine"}, {"text": "again"})
    assert cli.inside("-p", "hi", "--cwd", str(other), "--model", model).code == 0
    (session,) = cli.sessions
    before = session.read_bytes()
    with Terminal(cli, "chat", "--model", model, "--resume", str(session)) as t:
        t.wait_for("Enter means later\\n")
        assert f"Trust {other}?" in " ".join(t.screen.split())
        assert session.read_bytes() == before
        t.type("\x03")
        assert t.end().code == 130
    assert session.read_bytes() == before
    assert str(cli.project) not in t.screen


def test_a_switch_to_a_session_of_another_folder_asks_about_that_one_and_goes_on(cli: Cli) -> None:
    other = cli.root / "other"
    (other / ".trimtab").mkdir(parents=True)
    model = cli.script({"text": "fine"}, {"text": "again"})
    assert cli.inside("-p", "hi", "--cwd", str(other), "--model", model).code == 0
    (session,) = cli.sessions
    with Terminal(cli, "chat", "--model", model) as t:
        t.wait_for("leaves\\.\n> $")
        t.type(f"/resume {session}\n")
        t.wait_for("Enter means later\n")
        t.type("\x03")
        t.wait_for("stopped; this session goes on\n> $")
        t.type(f"/resume {session}\n")
        t.wait_for("(?s)goes on.*Enter means later\n")
        t.type("later\n")
        t.wait_for("(?s)This session goes on.*> $")
        t.type("/trust\n")
        t.wait_for("(?s)nobody has answered.*> $")
        t.type("/trust folder\n")
        t.wait_for("(?s)the answer counts.*> $")
        t.type("/reload\n")
        t.wait_for("(?s)the answer counts.*leaves\\.\n> $")
        t.type("/trust\n")
        t.wait_for("in this session it acts\n> $")
        t.type("\x04")
        assert t.end().code == 0


def test_a_question_about_a_command_is_answered_at_the_keyboard_and_the_talk_goes_on(cli: Cli) -> None:
    commands = [{"name": "bash", "arguments": {"command": f"ls; touch made{n} \x1b[2J"}} for n in range(3)]
    script = cli.script({"tool_calls": commands[:1]}, {"tool_calls": commands[1:]}, {"text": "well"}, {"text": "fine"})
    with Terminal(cli, "chat", "--model", script) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("answer with a word, its first letters or a number")
        assert "Run this command?" in t.screen
        assert r"$ ls; touch made0 \x1b[2J" in t.screen
        t.type("o\n")
        t.wait_for("(?s)made1.*answer with a word")
        t.type("tell\n")
        t.wait_for("What should the model know about why not[?]")
        t.type("later\n")
        t.wait_for("(?s)made2.*answer with a word")
        t.type("\x03")
        t.wait_for("not answered")
        t.wait_for("well(.*\\n)*> $")
        t.type("and?\n")
        t.wait_for("fine")
        t.type("\x04")
        assert t.end().code == 0
    log = cli.sessions[0].read_text()
    assert "the person said no: later" in log
    assert "the question stands unanswered" in log


def test_ctrl_c_again_stops_a_turn_whose_question_was_left_open(cli: Cli) -> None:
    calls = [
        {"name": "bash", "arguments": {"command": "touch a"}},
        {"name": "bash", "arguments": {"command": "touch b"}},
    ]
    with Terminal(cli, "chat", "--model", cli.script({"tool_calls": calls}, {"text": "well"})) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("touch a(.*\\n)*answer with a word")
        t.type("/permissions\n")  # no answer, so it is asked again
        t.wait_for("is no answer")
        t.type("session\n")
        t.wait_for("touch b(.*\\n)*answer with a word")
        t.type("\x03")
        t.wait_for("not answered")
        t.wait_for("well(.*\\n)*> $")
        t.type("/permissions why bash touch a\n")
        t.wait_for("runs unasked\\n.*an answer in this session")
        t.type("\x04")
        assert t.end().code == 0
    assert (cli.project / "a").exists()
    assert not (cli.project / "b").exists()


def test_a_mode_that_was_set_survives_a_reload_and_a_new_session(cli: Cli) -> None:
    with Terminal(cli, "chat", "--model", cli.script({"text": "well"})) as t:
        t.wait_for("> $")
        t.type("/permissions plan\n")
        t.wait_for("mode plan, from the next call on\\n> $")
        for number, command in enumerate(("/reload", "/new"), 1):
            t.type(f"{command}\n")
            t.wait_for(f"(?s)(Ctrl-D leaves.*){{{number + 1}}}> $")
            t.type("/permissions\n")
            t.wait_for(f"(?s)(mode plan \\(set in this session\\).*){{{number}}}> $")
        t.type("\x04")
        assert t.end().code == 0


def test_a_command_of_the_persons_own_is_shown_stopped_by_ctrl_c_and_the_talk_goes_on(cli: Cli) -> None:
    expect = {"contains": ["$ echo given-to-it"], "absent": ["kept-from-it", "sleep 61"]}
    with Terminal(cli, "chat", "--model", cli.script({"text": "I see", "expect": expect})) as t:
        t.wait_for("> $")
        t.type("!echo given-to-it\n")
        t.wait_for(r"\n  given-to-it\n\(the model reads it with your next words\)\n> $")
        t.type("!!echo kept-from-it\n")
        t.wait_for(r"\n  kept-from-it\n\(the model doesn't see it\)\n> $")
        t.type("!echo on; sleep 61\n")
        t.wait_for(r"\n  on\n")
        t.type("\x03")
        t.wait_for(r"stopped\n> $")
        t.type("go\n")
        t.wait_for("I see\n> $")
        t.type("\x04")
        assert t.end().code == 0


def test_over_ssh_an_answer_is_copied_by_the_terminal(cli: Cli) -> None:
    cli.env["SSH_CONNECTION"] = "192.0.2.1 1 192.0.2.2 22"
    with Terminal(cli, "chat", "--model", cli.script({"text": "copy me"})) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("copy me\n> $")
        t.type("/copy\n")
        t.wait_for(r"copied 7 characters by your terminal")
        t.type("\x04")
        assert t.end().code == 0
    assert "\x1b]52;c;Y29weSBtZQ==\x07" in t.screen


def test_colours_are_shown_when_a_theme_has_some_and_not_where_they_are_unwanted(cli: Cli) -> None:
    with Terminal(cli, "chat", "--model", cli.script({"text": "x"})) as t:
        t.wait_for("> $")
        t.type("/nonsense\n")
        t.wait_for("error: no command /nonsense")
        assert "\x1b" not in t.screen
        t.type("/theme dark\n")
        t.wait_for("theme = ")
        t.type("/nonsense\n")
        t.wait_for("\x1b\\[91merror: no command /nonsense")
        t.type("\x04")
        assert t.end().code == 0
    cli.env["NO_COLOR"] = "1"
    with Terminal(cli, "chat", "--model", cli.script({"text": "x"})) as t:
        t.wait_for("> $")
        t.type("/nonsense\n")
        t.wait_for("error: no command")
        t.type("\x04")
        t.end()
    assert "\x1b" not in t.screen


def test_a_question_is_left_unanswered_by_an_empty_line(cli: Cli) -> None:
    calls = [{"name": "bash", "arguments": {"command": "rm a"}}]
    with Terminal(cli, "chat", "--model", cli.script({"tool_calls": calls}, {"text": "well"})) as t:
        t.wait_for("> $")
        t.type("go\n")
        t.wait_for("an empty line: no answer\n")
        t.type("\n")
        t.wait_for("not answered\n(.*\n)*well\n")
        t.type("\x04")
        assert t.end().code == 0


def test_a_switch_of_the_model_that_costs_a_cache_is_asked_with_its_price(cli: Cli) -> None:
    answer = Reply(
        sse(
            {"type": "message_start", "message": {"usage": {"input_tokens": 40_000, "output_tokens": 1}}},
            {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
            {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "read"}},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}},
            {"type": "message_stop"},
            named=True,
        )
    )
    cli.file("long.txt", "".join(f"line {n} of a long text\n" for n in range(1_900)))
    with FakeServer(answer) as server:
        cli.config(
            f'[providers.anthropic]\nbase_url = "{server.url}"\napi_key = "key-for-a-test"\n'
            '[providers.openai]\napi_key = "key-for-a-test"\n[instructions]\nenabled = false\n'
        )
        with Terminal(cli, "chat", "--model", "anthropic/claude-sonnet-4-5") as t:
            t.wait_for("Ctrl-D leaves")
            t.type("look at @long.txt\n")
            t.wait_for("read\n")
            t.type("/model openai/gpt-5\n")
            t.wait_for(r"the cache is lost: the next request is read anew(.|\n)*Enter means yes")
            assert re.search(r"Switch from anthropic/claude-sonnet-4-5\s+to openai/gpt-5", t.screen)
            t.type("no\n")
            t.wait_for("model: anthropic/claude-sonnet-4-5, as before")
            t.type("/model openai/gpt-5\n")
            t.wait_for(r"as before(.|\n)*Enter means yes")
            t.type("yes\n")
            t.wait_for("model: openai/gpt-5")
            t.type("\x04")
            assert t.end().code == 0


@pytest.mark.parametrize("leave", ["\x04", "\x03"])
def test_a_paste_is_one_message_and_the_terminal_is_left_as_it_was(cli: Cli, leave: str) -> None:
    cli.env["TERM"] = "xterm"
    with FakeServer(said("read")) as server, Terminal(cli, "chat", *local(server)) as t:
        t.wait_for("\x1b\\[[?]2004h(.|\n)*> $")
        t.type("\x1b[200~one\ntwo\x1b[201~\n")
        t.wait_for("read\n> $")
        t.type(leave)
        if leave == "\x03":
            t.wait_for("again leaves\n> $")
            t.type(leave)
        assert t.end().code == 0
    assert [r.json["messages"][-1]["content"] for r in server.requests] == ["one\ntwo"]
    assert t.screen.count("\x1b[?2004l") == 1


def test_a_line_that_the_terminal_cut_is_not_said_and_the_talk_goes_on(cli: Cli) -> None:
    with FakeServer(said("read")) as server, Terminal(cli, "chat", *local(server)) as t:
        t.wait_for("> $")
        t.type("x" * 6_000 + "\n")
        t.wait_for("that was not taken: a terminal cuts a line after 4,095 bytes\n +Put the text into a file")
        t.type("short\n")
        t.wait_for("read\n> $")
        t.type("\x04")
        assert t.end().code == 0
    assert [r.json["messages"][-1]["content"] for r in server.requests] == ["short"]
