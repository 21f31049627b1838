"""Commands, called by a model over the whole path."""

import os
import time
from pathlib import Path

import pytest

from support.cli import Cli, text_of
from support.servers import wait_until
from trimtab.coding.choose import Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.frontends.cli.asking import LinePerson


def alive(marker: str) -> list[int]:
    """Processes whose command line holds `marker`."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if marker.encode() in line.split(b"\0") and int(entry.name) != os.getpid():
                found.append(int(entry.name))
    return found


def nap(n: int) -> str:
    """A number of seconds that no other process sleeps."""
    return f"{n}.{os.getpid()}{time.monotonic_ns() % 1_000_000}"


@pytest.mark.kind(29)
@pytest.mark.parametrize(
    "command",
    [
        "setsid sleep {nap} & echo started",
        "sleep {nap} & echo started",
        "nohup sleep {nap} & echo started",
        "(sleep {nap} &) ; echo started",
        "setsid sh -c 'sleep {nap}' & disown; echo started",
    ],
)
def test_a_command_returns_when_it_exits_and_names_what_goes_on(cli: Cli, command: str) -> None:
    seconds = nap(41)
    start = time.perf_counter()
    try:
        ended = cli.call("bash", command=command.format(nap=seconds))
        assert time.perf_counter() - start < 20  # not the 41 seconds
        assert not ended["is_error"]
        assert text_of(ended).startswith("started")
        assert ended["details"]["left_running"]
    finally:
        for pid in alive(seconds):
            os.kill(pid, 9)


@pytest.mark.kind(30)
@pytest.mark.parametrize(
    "command",
    [
        "bash -c 'sleep {nap} & sleep {nap}'",
        "trap '' TERM; sleep {nap}; sleep {nap}",
        "setsid -w sleep {nap}",
        "setsid sh -c 'trap \"\" TERM; sleep {nap}; sleep {nap}' & sleep {nap}",
        "sleep {nap} | cat",
    ],
)
def test_a_timeout_leaves_no_process(cli: Cli, command: str) -> None:
    seconds = nap(77)
    ended = cli.call("bash", command=command.format(nap=seconds), timeout=0.3)
    assert ended["is_error"]
    assert "timed out after 0.3 s" in text_of(ended)
    assert wait_until(lambda: not alive(seconds), seconds=5)


@pytest.mark.kind(31)
@pytest.mark.parametrize(
    "command",
    [
        "git commit",
        "git commit --amend",
        "git rebase -i HEAD",
        "git tag -a v1",
        "git log",
        "git -c core.askPass= fetch http://127.0.0.1:9/x.git",
        "$EDITOR notes",
        "${VISUAL:-vi} notes",
        "crontab -e",
        "read answer",
        "cat",
        "python3 -c 'input()'",
        "sudo -v",
        "ssh -o ConnectTimeout=2 127.0.0.1 -p 9 true",
        "less f.txt",
        "man ls",
        "bash -i -c 'read -p sure? x </dev/tty'",
    ],
)
def test_nothing_that_asks_a_person_hangs(cli: Cli, command: str) -> None:
    cli.file("f.txt", "line\n" * 500)
    setup = (
        "git init -q . && git add . && git -c user.name=a -c user.email=a@b commit -qm one; echo >> f.txt; git add ."
    )
    cli = Cli(cli.root, {"EDITOR": "vi", "VISUAL": "vi", "GIT_EDITOR": "vi", "PAGER": "less"})
    start = time.perf_counter()
    cli.calls(("bash", {"command": f"{setup}; {command}", "timeout": 20}))
    assert time.perf_counter() - start < 15


@pytest.mark.kind(32)
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("printf 'a\\377\\376b\\n'; exit 3", "a��b"),
        ("printf '\\303'; exit 3", "�"),
        ("printf 'x\\000y'; exit 3", "x\\x00y"),
        ("printf '\\355\\240\\200z'; exit 3", "���z"),
    ],
)
def test_output_that_is_no_text_is_kept_with_its_code(cli: Cli, command: str, shown: str) -> None:
    ended = cli.call("bash", command=command)
    assert shown in text_of(ended)
    assert ended["details"]["exit_code"] == 3


@pytest.mark.kind(34)
@pytest.mark.parametrize(
    ("command", "head", "tail", "size"),
    [
        ("seq 1 200000", "1\n2\n", "199999\n200000", 1_288_895),
        ("head -c 3000000 /dev/zero | tr '\\0' a; printf END", "aaaa", "aaaEND", 3_000_003),
    ],
)
def test_head_and_tail_are_kept_and_the_rest_is_in_a_file(
    cli: Cli, command: str, head: str, tail: str, size: int
) -> None:
    ended = cli.call("bash", command=command)
    shown = text_of(ended)
    assert shown.startswith(head)
    assert tail in shown[-400:]
    whole = Path(ended["details"]["output_file"])
    assert whole.stat().st_size == size
    assert str(whole) in shown
    assert ended["cut"]


@pytest.mark.kind(35)
@pytest.mark.parametrize(
    ("command", "said"), [("true", "exit 0"), ("false", "exit 1"), ("grep x /dev/null", "exit 1"), ("exit 7", "exit 7")]
)
def test_silence_is_said_with_its_code(cli: Cli, command: str, said: str) -> None:
    assert text_of(cli.call("bash", command=command)) == f"(no output), {said}"


@pytest.mark.kind(36)
@pytest.mark.parametrize(
    ("command", "details"),
    [
        ("kill -9 $$", {"signal": "SIGKILL", "timed_out": False}),
        ("kill -SEGV $$", {"signal": "SIGSEGV", "timed_out": False}),
        ("exit 143", {"exit_code": 143, "signal": None, "timed_out": False}),
        ("exit 137", {"exit_code": 137, "signal": None, "timed_out": False}),
        ("sleep 20", {"timed_out": True}),
    ],
)
def test_codes_signals_and_timeouts_are_told_apart(cli: Cli, command: str, details: dict[str, object]) -> None:
    ended = cli.call("bash", command=command, timeout=0.5)
    assert ended["is_error"]
    assert {k: ended["details"][k] for k in details} == details
    word = details.get("signal") or ("timed out" if details["timed_out"] else f"exit {details['exit_code']}")
    assert str(word) in text_of(ended)


@pytest.mark.kind(37)
@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("echo 'select(.x != 1)'", "select(.x != 1)"),
        ("echo \"hi!\" '!x' $'a\\tb'", "hi! !x a\tb"),
        ("cat <<'X'\n$HOME `id` \\n\nX", "$HOME `id` \\n"),
        ("printf '%s' 'a\\\\b'", "a\\\\b"),
        ("echo a; # comment\necho b", "a\nb"),
    ],
)
def test_the_shell_gets_what_was_written_and_leaves_nothing(cli: Cli, command: str, shown: str) -> None:
    assert text_of(cli.call("bash", command=command)) == shown
    assert list(cli.project.iterdir()) == []


@pytest.mark.kind(39)
def test_a_call_that_fails_takes_none_with_it(cli: Cli) -> None:
    cli.file("f.txt", "x\n")
    ended = cli.calls(
        ("grep", {"pattern": "nomatch"}),
        ("read", {"path": "missing"}),
        ("bash", {"command": "exit 9"}),
        ("nothing", {}),
        ("ls", {"path": "."}),
    )
    assert "f.txt" in text_of(ended[-1])
    assert [e["is_error"] for e in ended] == [False, True, True, True, False]


@pytest.mark.kind(40)
@pytest.mark.parametrize(
    "name",
    ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "MY_SERVICE_TOKEN", "DB_SECRET_VALUE", "LOCAL_KEY", "GEMINI_API_KEY"],
)
@pytest.mark.parametrize("command", ["env", "echo ${name}", "cat /proc/self/environ | tr '\\0' '\\n'"])
def test_no_command_sees_a_key(cli: Cli, name: str, command: str) -> None:
    cli = Cli(cli.root, {name: "sk-hush-1234567890", "HARMLESS": "yes"})
    cli.config('[providers.local]\nbase_url = "http://127.0.0.1:1/v1"\napi_key_env = "LOCAL_KEY"\n')
    shown = text_of(cli.call("bash", command=command.replace("name", name)))
    assert "sk-hush" not in shown
    assert "echo" in command or "HARMLESS=yes" in shown


@pytest.mark.kind(40)
def test_a_variable_can_be_given_back_by_name(cli: Cli) -> None:
    cli = Cli(cli.root, {"MY_TOKEN": "t-1", "OTHER_TOKEN": "t-2"})
    cli.config('[tools.bash]\nenv_pass = ["MY_TOKEN"]\n')
    assert text_of(cli.call("bash", command="echo $MY_TOKEN $OTHER_TOKEN")) == "t-1"


@pytest.mark.kind(87)
@pytest.mark.anyio
async def test_padding_and_invisible_characters_hide_no_part_of_a_command_from_who_is_asked(cli: Cli) -> None:
    command = "ls" + " " * 300 + "\t" * 40 + "\u200b\u202e\x1b[2K" + "; rm -rf precious" + "\n" * 60 + "# fine"
    call = {"name": "bash", "arguments": {"command": command}}
    said: list[str] = []

    def say(text: str) -> None:
        said.append(text)
        person.hear("no")

    person = LinePerson(say, interactive=True)
    model = cli.script({"tool_calls": [call]}, {"text": "well"})
    project = open_project(cli.project, overrides={"model": model}, env=cli.environment())
    async with open_session(project, Ephemeral(), person=person) as session:
        await session.prompt("go")
    (question,) = said
    assert "$ ls" + " " * 300 + r"\t" * 40 + r"\u200b\u202e\x1b[2K; rm -rf precious" in question
    assert all(character.isprintable() or character == "\n" for character in question)
    assert "the invisible character U+200B" in question.splitlines()[-6]
