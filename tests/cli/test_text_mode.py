"""Text mode: the answer on standard output, everything else on standard error."""

import subprocess

import pytest

from support.cli import Cli, delta, local, said, stream
from support.pictures import png
from support.servers import FakeServer


def test_standard_output_holds_the_last_answer_and_nothing_else(cli: Cli) -> None:
    cli.file("f.txt", "x\n")
    script = cli.script(
        {"text": "I will look.", "tool_calls": [{"name": "read", "arguments": {"path": "f.txt"}}]},
        {"text": "It says x.", "thinking": "hm"},
    )
    outcome = cli.run("-p", "what is in f.txt?", "--model", script)
    assert (outcome.code, outcome.out) == (0, "It says x.\n")


def test_a_transcript_holds_every_answer_and_the_calls_between_them_in_short(cli: Cli) -> None:
    cli.file("f.txt", "".join(f"line {number} \x1b[31mred\u202e\n" for number in range(19)))
    calls = [{"name": "read", "arguments": {"path": path}} for path in ("f.txt", "gone.txt")]
    script = cli.script({"text": "I \x1b[2Jwill look.", "tool_calls": calls}, {"text": "It says x."})
    outcome = cli.inside("-p", "what is in f.txt?", "--model", script, "--mode", "transcript")
    first, *lines, last = outcome.out.splitlines()
    assert (outcome.code, first, last) == (0, "I will look.", "It says x.")
    assert lines[0] == "  read f.txt  [ok]"
    assert (lines[1].endswith("line 0 red"), lines[3]) == (True, "    …")
    heads = [line.partition("]")[0] for line in lines if line.startswith("  read")]
    assert heads == ["  read f.txt  [ok", "  read gone.txt  [failed"]
    assert not {"\x1b", "\u202e"} & set(outcome.out)
    assert "line 0" not in outcome.err


@pytest.mark.parametrize("answer", ["one line", "ends with one\n", "two\nlines\n", "é 你 🌍", "```\ncode\n```"])
def test_an_answer_ends_with_exactly_one_line_end(cli: Cli, answer: str) -> None:
    assert cli.inside("-p", "hi", "--model", cli.script({"text": answer})).out == answer.rstrip("\n") + "\n"


def test_words_are_one_prompt_with_or_without_the_flag(cli: Cli) -> None:
    with FakeServer(said(), said()) as server:
        assert cli.inside("fix", "the", "test", *local(server)).code == 0
        assert cli.inside("-p", "fix the test", *local(server)).code == 0
    assert {r.json["messages"][-1]["content"] for r in server.requests} == {"fix the test"}


def test_an_attached_text_file_is_named_and_whole(cli: Cli) -> None:
    cli.file("notes.md", "remember the milk\n")
    with FakeServer(said()) as server:
        assert cli.inside("-p", "do", "@notes.md", *local(server)).code == 0
    content = server.requests[0].json["messages"][-1]["content"]
    assert "do" in content
    assert '<file path="notes.md">' in content
    assert "remember the milk" in content


def test_an_attached_picture_is_sent_as_one(cli: Cli) -> None:
    cli.file("p.png", png(3, 2))
    with FakeServer(said()) as server:
        flags = local(server, models='[{id="tiny",input=["text","image"]}]')
        assert cli.inside("-p", "look", "@p.png", *flags).code == 0
    kinds = [part["type"] for part in server.requests[0].json["messages"][-1]["content"]]
    assert sorted(kinds)[:1] == ["image_url"]


def test_piped_text_and_words_are_one_prompt(cli: Cli) -> None:
    with FakeServer(said("ok")) as server:
        outcome = cli.run("-p", "explain this", *local(server), stdin=b"Traceback: boom\n")
    assert (outcome.code, outcome.out) == (0, "ok\n")
    content = server.requests[0].json["messages"][-1]["content"]
    assert content.index("explain this") < content.index("Traceback: boom")


def test_an_answer_cannot_control_the_terminal(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi", "--model", cli.script({"text": "a\x1b[31mred\x1b[0m\x1b]52;c;eA==\x07 \tb\r\n"}))
    assert outcome.out == "ared \tb\n"


def test_the_steps_that_are_allowed_end_the_turn_with_their_own_code(cli: Cli) -> None:
    line = {"tool_calls": [{"name": "ls", "arguments": {}}]}
    outcome = cli.inside("-p", "go", "--max-steps", "2", "--model", cli.script(line, line, line))
    assert outcome.code == 4
    assert "--max-steps" in outcome.err


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ({"text": "half", "stop_reason": "length"}, "output limit"),
        ({"text": "no", "stop_reason": "refused"}, "refused"),
        ({"error": {"status": 400, "body": "bad"}}, "bad"),
        ({"text": "x", "expect": {"contains": ["never said"]}}, "never said"),
    ],
)
def test_an_end_that_is_no_success_is_code_1_and_said(cli: Cli, line: dict[str, object], words: str) -> None:
    outcome = cli.inside("-p", "go", "--model", cli.script(line))
    assert outcome.code == 1
    assert words in outcome.err


def test_two_empty_answers_are_said_with_the_next_step(cli: Cli) -> None:
    outcome = cli.inside("-p", "go", "--model", cli.script({"text": ""}, {"text": ""}))
    assert (outcome.code, outcome.out) == (1, "")
    assert outcome.err == ("the model answered nothing, twice: ask again, or try another model\n")


def test_no_session_writes_nothing(cli: Cli) -> None:
    assert cli.inside("-p", "hi", "--no-session", "--model", cli.script({"text": "x"})).code == 0
    assert not cli.home.exists()


def test_without_a_model_three_lines_say_what_to_do(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi")
    assert (outcome.code, outcome.out) == (2, "")
    assert len(outcome.err.strip().splitlines()) == 3
    assert "no model is configured" in outcome.err
    assert "ANTHROPIC_API_KEY" in outcome.err
    assert "trimtab login" in outcome.err
    assert "--model PROVIDER/MODEL" in outcome.err
    assert "config.toml" in outcome.err


def test_any_setting_can_be_a_variable(cli: Cli) -> None:
    with FakeServer(said("from the environment")) as server:
        cli = Cli(
            cli.root,
            {
                "TRIMTAB_MODEL": "my-host/anything:at-all",
                "TRIMTAB_PROVIDERS__MY_HOST__BASE_URL": f"{server.url}/v1",
                "TRIMTAB_SYSTEM_PROMPT": "Be brief.",
                "TRIMTAB_TYPO": "1",
            },
        )
        cli.config("[providers.my-host]\ncontext_window = 9000\nmax_output = 500\n")
        outcome = cli.inside("-p", "hi")
    assert (outcome.code, outcome.out) == (0, "from the environment\n"), outcome.err
    assert "TRIMTAB_TYPO" in outcome.err
    assert server.requests[0].json["model"] == "anything:at-all"
    assert server.requests[0].json["messages"][0] == {"role": "system", "content": "Be brief."}


def test_flags_win_over_environment_over_files(cli: Cli) -> None:
    cli.config(f'model = "{cli.script({"text": "file"})}"\n')
    assert cli.inside("-p", "hi").out == "file\n"
    louder = Cli(cli.root, {"TRIMTAB_MODEL": cli.script({"text": "environment"})})
    assert louder.inside("-p", "hi").out == "environment\n"
    assert louder.inside("-p", "hi", "--set", f"model={cli.script({'text': 'set'})}").out == "set\n"
    assert louder.inside("-p", "hi", "--model", cli.script({"text": "flag"})).out == "flag\n"


def test_an_unlisted_model_is_sent_as_written_with_a_note(cli: Cli) -> None:
    with FakeServer(said()) as server:
        base = f"providers.local.base_url={server.url}/v1"
        outcome = cli.inside("-p", "hi", "--model", "local/org/model:7b", "--set", base)
    assert outcome.code == 0
    assert server.requests[0].json["model"] == "org/model:7b"
    assert "32,768" in outcome.err


def test_tools_can_be_chosen_and_turned_off(cli: Cli) -> None:
    off = ["--set", "context.tools=off"]
    with FakeServer(*[said()] * 5) as server:
        for flags in ([], off, ["--tools", "read,ls"], ["--tools", "read,recall"], ["--no-tools"]):
            assert cli.inside("-p", "hi", *flags, *local(server)).code == 0
    names = [sorted(t["function"]["name"] for t in r.json.get("tools", ())) for r in server.requests]
    coding = ["bash", "edit", "find", "grep", "jobs", "ls", "read", "task", "todo", "write"]
    assert names == [sorted([*coding, "archive", "memo", "recall"]), coding, ["ls", "read"], ["read", "recall"], []]


def test_the_system_prompt_can_be_replaced_and_extended_from_files(cli: Cli) -> None:
    cli.file("sys.md", "You are a poet.\n")
    with FakeServer(said()) as server:
        flags = ["--system-prompt", "sys.md", "--append-system-prompt", "In rhyme."]
        assert cli.inside("-p", "hi", *flags, *local(server)).code == 0
    system = server.requests[0].json["messages"][0]["content"]
    assert "You are a poet." in system
    assert "In rhyme." in system


def test_what_a_headless_run_may_not_do_is_answered_and_the_turn_goes_on(cli: Cli) -> None:
    call = delta(
        tool_calls=[{"index": 0, "id": "c1", "function": {"name": "bash", "arguments": '{"command": "rm -rf x"}'}}]
    )
    with FakeServer(stream(call, delta("tool_calls")), said("understood")) as server:
        outcome = cli.inside("-p", "go", *local(server))
    assert (outcome.code, outcome.out) == (0, "understood\n")
    assert "--permission" in server.requests[1].json["messages"][-1]["content"]
    told = 'To allow: --permission full, or permissions.allow = ["bash(rm -rf x $)"]; a deny rule wins over both'
    assert outcome.err.startswith(f"note: 1 call was not allowed: bash rm -rf x. {told}")
    assert outcome.err.count("\n") == 1


def test_in_mode_plan_the_note_says_how_to_leave_it_and_offers_no_rule(cli: Cli) -> None:
    script = cli.script({"tool_calls": [{"name": "bash", "arguments": {"command": "rm a"}}]}, {"text": "well"})
    outcome = cli.inside("-p", "go", "--permission", "plan", "--model", script)
    assert outcome.err == (
        "note: 1 call was not allowed: bash rm a. Mode plan changes nothing, whatever rules allow: "
        "--permission auto-edit, or /permissions auto-edit in a talk, leaves it\n"
    )


@pytest.mark.parametrize("words", ["/help", "/hlp", "@gone.txt"])
def test_a_refused_run_leaves_no_empty_session(cli: Cli, words: str) -> None:
    outcome = cli.inside("-p", words, "--model", cli.script({"text": "x"}))
    assert (outcome.code, cli.sessions) == (2, [])
    assert list(cli.home.rglob("*.jsonl*")) == []


def test_a_talk_in_which_nothing_was_said_leaves_no_session(cli: Cli) -> None:
    assert cli.inside("chat", "--model", cli.script({"text": "x"}), stdin=b"/help\n/quit\n").code == 0
    assert cli.sessions == []


def test_a_session_that_only_got_a_name_is_kept(cli: Cli) -> None:
    assert cli.inside("chat", "--model", cli.script({"text": "x"}), stdin=b"/name mine\n").code == 0
    assert len(cli.sessions) == 1


def test_every_frontend_is_told_once_a_turn_what_was_not_allowed(cli: Cli) -> None:
    calls = [{"name": "bash", "arguments": {"command": f"rm {name}"}} for name in ("a", "a", "b", "c", "d")]
    script = cli.script({"tool_calls": calls[:1]}, {"tool_calls": calls[1:]}, {"text": "well"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", script)
    (notice,) = outcome.of("notice")
    assert notice["message"].startswith("5 calls were not allowed: bash rm a; bash rm b; bash rm c; and 1 more. ")
    assert outcome.result["exit_code"] == 0


def test_a_picture_that_the_model_will_not_see_is_said(cli: Cli) -> None:
    cli.file("p.png", png(3, 2))
    with FakeServer(said(), said()) as server:
        blind = cli.inside("-p", "look", "@p.png", *local(server))
        seeing = cli.inside("-p", "look", "@p.png", *local(server, models='[{id="tiny",input=["text","image"]}]'))
    assert "note: local/tiny isn't known to take pictures, so it won't see p.png." in blind.err
    assert seeing.err == ""


def test_a_declared_window_needs_no_note_about_output(cli: Cli) -> None:
    with FakeServer(said()) as server:
        cli.config(f'model = "local/tiny"\n[providers.local]\nbase_url = "{server.url}/v1"\ncontext_window = 32768\n')
        outcome = cli.inside("-p", "hi")
    assert (outcome.code, outcome.err) == (0, "")


def test_an_at_with_a_blank_behind_it_is_text(cli: Cli) -> None:
    with FakeServer(said()) as server:
        assert cli.inside("-p", "@ nope", *local(server)).code == 0
    assert server.requests[0].json["messages"][-1]["content"] == "@ nope"


def test_a_closed_reader_is_no_traceback(cli: Cli) -> None:
    process = cli.start("-p", "hi", "--model", cli.script({"text": "x" * 200_000}), stdin=subprocess.DEVNULL)
    assert process.stdout
    assert process.stderr
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(10) == 1
    assert "Traceback" not in err
    assert "BrokenPipe" not in err
