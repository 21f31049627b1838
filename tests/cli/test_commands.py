"""The other commands, each as a newcomer would call it."""

import json
import re
import subprocess

import pytest

from support.cli import Cli, local, said
from support.servers import FakeServer, json_reply
from trimtab import __version__


def test_version_and_help(cli: Cli) -> None:
    assert cli.run("--version").out == f"trimtab {__version__}\n"
    shown = cli.run("--help")
    assert shown.code == 0
    for word in ("chat", "doctor", "sessions", "--model", "--continue", "--mode", "-p"):
        assert word in shown.out


@pytest.mark.parametrize("command", ["answer", "chat", "completion", "demo", "doctor", "models", "sessions", "trust"])
def test_each_command_explains_itself(cli: Cli, command: str) -> None:
    shown = cli.inside(command, "--help")
    assert shown.code == 0
    assert shown.out.startswith("Usage: trimtab")


def test_models_lists_what_one_can_name(cli: Cli) -> None:
    cli.config(
        '[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = [{id = "mine", context_window = 9000}]\n'
    )
    rows = cli.inside("models").out.splitlines()
    assert rows[0].split()[0] == "MODEL"
    assert rows[1].split()[:2] == ["local/mine", "9,000"]
    assert any(row.startswith("anthropic/") for row in rows)
    usable = cli.inside("models", "--usable").out.splitlines()
    assert [row.split()[0] for row in usable[1:]] == ["local/mine"]
    (found,) = json.loads(cli.inside("models", "mine", "--json").out)
    assert (found["provider"], found["id"], found["context_window"]) == ("local", "mine", 9000)


def test_models_lists_the_configured_model_and_the_persons_own_servers(cli: Cli) -> None:
    cli.config(
        'model = "local/tiny:high"\n[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\ncontext_window = 9000\n'
        '[providers.other]\nbase_url = "http://127.0.0.1:2/v1"\n'
    )
    usable = cli.inside("models", "--usable")
    assert [row.split()[:2] for row in usable.out.splitlines()[1:]] == [["local/tiny", "9,000"]]
    local, other = usable.err.splitlines()
    assert local.startswith("local: http://127.0.0.1:1/v1 gives no list: ")
    assert other.startswith("other: no model of it is listed, and http://127.0.0.1:2/v1 gives no list: ")
    assert other.endswith("; --model other/ID takes any that its server has")
    listed = cli.inside("models", "tiny")
    assert listed.out == usable.out
    assert "gives no list" not in cli.inside("models", "other").err, "without --usable nobody is asked"


def test_who_has_no_key_is_told_where_one_would_be(cli: Cli) -> None:
    for told in (cli.inside("models", "--usable").err, cli.inside("doctor").out, cli.inside("-p", "hi").err):
        words = " ".join(told.split())
        for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"):
            assert variable in words
    assert cli.inside("models", "nosuch", "--usable").err.startswith("no usable model matches 'nosuch'")


def test_a_configured_model_that_cannot_be_found_does_not_hide_the_others(cli: Cli) -> None:
    cli.config('model = "nosuch/thing"\n')
    assert cli.inside("models", "sonnet").code == 0


def test_models_without_a_match_says_what_works_anyway(cli: Cli) -> None:
    outcome = cli.inside("models", "zzzz")
    assert outcome.code == 1
    assert "--model PROVIDER/ID" in outcome.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_name_the_program(cli: Cli, shell: str) -> None:
    script = cli.inside("completion", shell)
    assert script.code == 0
    assert "_TRIMTAB_COMPLETE" in script.out
    if shell == "bash":
        assert subprocess.run(["bash", "-n"], input=script.stdout, check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(
    ("words", "offered"),
    [("trimtab ses", "sessions"), ("trimtab --mod", "--model"), ("trimtab doctor --on", "--online")],
)
def test_completion_offers_commands_and_options(cli: Cli, words: str, offered: str) -> None:
    env = {"_TRIMTAB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    assert offered in Cli(cli.root, env).run().out


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("trimtab --model anthropic/claude-opus", "plain,anthropic/claude-opus"),
        ("trimtab chat --model mine", "plain,local/mine"),
        ("trimtab --cwd su", "dir,su"),
        ("trimtab --session x", "file,x"),
        ("trimtab fix --perm", "plain,--permission"),
        ("trimtab @no", "plain,@notes.md"),
        ("trimtab -p fix @ no", "plain,@notes.md"),
        ("trimtab -p @su", "plain,@sub/in.txt"),
        ("trimtab sessions sh", "plain,show"),
    ],
)
def test_completion_offers_values(cli: Cli, words: str, offered: str) -> None:
    cli.file("notes.md", "")
    cli.file("sub/in.txt", "")
    cli.config('[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = [{id = "mine"}]\n')
    assert any(line.startswith(offered) for line in completions(cli, words)), offered


@pytest.mark.parametrize(
    "words", ["trimtab --resume ", "trimtab --fork l", "trimtab sessions show ", "trimtab answer "]
)
def test_completion_offers_sessions(cli: Cli, words: str) -> None:
    assert completions(cli, words) == []
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "x"})).code == 0
    offered = completions(cli, words)
    assert offered[0] == "plain,last"
    assert len(offered) == (1 if words.endswith("l") else 2)


def test_completion_in_a_broken_home_or_after_a_slip_offers_nothing_and_says_nothing(cli: Cli) -> None:
    cli.config("model = \n")
    for words in ("trimtab --model a", "trimtab --resume a", "trimtab sesions l", "trimtab @nowhere/x"):
        assert completions(cli, words) == []


def completions(cli: Cli, words: str) -> list[str]:
    env = {"_TRIMTAB_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    outcome = Cli(cli.root, env).inside()
    assert outcome.err == ""
    return outcome.out.split()


def test_the_doctor_in_an_empty_home_says_what_is_missing_and_what_to_do(cli: Cli) -> None:
    outcome = cli.inside("doctor")
    assert outcome.code == 1
    (missing,) = [line for line in outcome.out.splitlines() if line.startswith("MISSING")]
    assert "model: none is configured" in missing
    assert re.search(r"→ Keep a key: trimtab login\. Or set model = .*config\.toml", outcome.out)
    assert not cli.home.exists()


def test_the_doctor_asks_a_local_server(cli: Cli) -> None:
    models = json_reply({"object": "list", "data": [{"id": "tiny", "object": "model"}]})
    with FakeServer(lambda r: models if r.path.endswith("/models") else json_reply({}, status=404)) as server:
        flags = local(server)
        outcome = cli.inside("doctor", *flags)
        checks = json.loads(cli.inside("doctor", "--json", *flags).out)
    assert outcome.code == 0, outcome.out
    assert "answers at" in outcome.out
    assert {"status", "name", "found", "todo"} == set(checks[0])


def test_the_doctor_names_a_server_that_does_not_answer(cli: Cli) -> None:
    with FakeServer() as gone:
        flags = local(gone)
    outcome = cli.inside("doctor", *flags)
    assert outcome.code == 1
    assert "doesn't answer" in outcome.out
    assert "Start the server" in outcome.out


def test_the_doctor_lists_what_commands_do_not_get(cli: Cli) -> None:
    outcome = Cli(cli.root, {"MY_API_KEY": "sk-hush", "PLAIN": "1"}).inside("doctor")
    assert "MY_API_KEY" in outcome.out
    assert "sk-hush" not in outcome.out


def test_chat_takes_lines_until_quit(cli: Cli) -> None:
    with FakeServer(said("hello"), said("bye")) as server:
        outcome = cli.inside("chat", *local(server), stdin=b"hi\n\nand?\n/quit\nnever sent\n")
    assert outcome.code == 0, outcome.err
    assert outcome.out == "hello\nbye\n"
    assert [r.json["messages"][-1]["content"] for r in server.requests] == ["hi", "and?"]
    assert "local/tiny" in outcome.err


def test_chat_ends_with_its_input(cli: Cli) -> None:
    outcome = cli.inside("chat", "--model", cli.script({"text": "hello"}), stdin=b"hi")
    assert (outcome.code, outcome.out) == (0, "hello\n")


def test_chat_lines_that_name_files_attach_them_and_paths_are_text(cli: Cli) -> None:
    cli.file("notes.md", "remember the milk\n")
    with FakeServer(said("a"), said("b"), said("c"), said("d")) as server:
        lines = b"read @notes.md\n/etc/passwd is a file\n /help\n@src/nope\n"
        outcome = cli.inside("chat", *local(server), stdin=lines)
    assert (outcome.code, outcome.out) == (0, "a\nb\nc\nd\n"), outcome.err
    asked = [r.json["messages"][-1]["content"] for r in server.requests]
    assert asked[0].startswith("read @notes.md\n")
    assert '<file path="notes.md">\nremember the milk\n' in asked[0]
    assert asked[1:] == ["/etc/passwd is a file", "/help", "@src/nope"]
    assert "@src/nope names no file here, so it is sent as text" in outcome.err


def test_a_chat_that_goes_on_shows_how_it_ended(cli: Cli) -> None:
    flags = ["--model", cli.script({"text": "it is\n  blue"})]
    assert cli.inside("chat", *flags, stdin=b"which colour?\n").code == 0
    outcome = cli.inside("chat", "-c", *flags, stdin=b"")
    assert "This session goes on. It ended with:\n  you: which colour?\n  model: it is blue\n" in outcome.err
    assert "goes on" not in cli.inside("chat", *flags, stdin=b"").err


def test_chat_answers_a_parked_call_and_names_the_ones_that_wait(cli: Cli) -> None:
    outcome = cli.inside("chat", "--model", cli.script({"text": "x"}), stdin=b"/answer c9 blue\n/modle\n/\n")
    assert (outcome.code, outcome.out) == (0, "")
    assert "no call 'c9' waits" in outcome.err
    assert "Waiting: none." in outcome.err
    assert "Did you mean /model?" in outcome.err
    assert "no command /;" not in outcome.err


def test_chat_switches_models_and_explains_its_commands(cli: Cli) -> None:
    with FakeServer(said("a"), said("b")) as server:
        lines = b"/help\n/model\n/model local/other\none\n/model nosuch/x\n/nonsense\ntwo\n"
        outcome = cli.inside("chat", *local(server), stdin=lines)
    assert (outcome.code, outcome.out) == (0, "a\nb\n"), outcome.err
    assert [r.json["model"] for r in server.requests] == ["other", "other"]
    assert "no command /nonsense" in outcome.err
    assert "nosuch" in outcome.err
    assert "Traceback" not in outcome.err


def test_chat_from_a_pipe_goes_on_after_an_error_and_ends_with_it(cli: Cli) -> None:
    with FakeServer(json_reply({"error": {"message": "bad"}}, status=400), said("fine")) as server:
        outcome = cli.inside("chat", *local(server), stdin=b"one\n/new\ntwo\n")
    assert (outcome.code, outcome.out) == (1, "fine\n")
    assert "bad" in outcome.err


def test_a_chat_is_a_session_like_any_other(cli: Cli) -> None:
    assert cli.inside("chat", "--model", cli.script({"text": "hello"}), stdin=b"hi\n/quit\n").code == 0
    with FakeServer(said("yes")) as server:
        assert cli.inside("-p", "still there?", "--continue", *local(server)).out == "yes\n"
    assert [m["content"] for m in server.requests[0].json["messages"][1:]] == ["hi", "hello", "still there?"]
