"""Hooks that are commands: what they are told, what they may answer, and what becomes of those that fail."""

import json
import os
import signal
from pathlib import Path

import anyio
import pytest

from support.agent_fakes import calls, ends, says
from support.extended import Answers, talk
from support.instructed import Place
from trimtab.coding.commands.registry import run_command
from trimtab.coding.extensions import shell as shell_module
from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.extensions.host import Extensions
from trimtab.coding.extensions.points import Cancel, Deny, Summary, Wishes
from trimtab.coding.extensions.shell import Ran, answer_of, run_hook
from trimtab.coding.extensions.shell_hooks import missing_of, shell_hooks
from trimtab.coding.telling.extension_text import extension_checks
from trimtab.types.errors import ConfigError

pytestmark = pytest.mark.anyio
DONE = says("done") + ends()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home and a project."""
    return Place(tmp_path)


def hook(place: Place, point: str, command: str, *, file: str = "home/config.toml", **more) -> None:
    """A hook in settings."""
    lines = [
        f"[[hooks.{point}]]",
        f"command = {json.dumps(command)}",
        *(f"{k} = {json.dumps(v)}" for k, v in more.items()),
    ]
    path = place.root / file
    before = path.read_text() if path.exists() else ""
    place.write(file, before + "\n".join(lines) + "\n")


def writes(path: str = "a.txt") -> list:
    """A call that writes a file."""
    return calls("write", json.dumps({"path": path, "content": "x"}), call_id="c1") + ends("tool_calls")


async def test_a_command_is_told_of_the_call_and_refuses_it_by_exit_code_two(place: Place) -> None:
    hook(place, "tool_call", "cat > told.json; echo no such file today >&2; exit 2", match="write(*.txt)")
    async with talk(place, writes(), writes("b.md"), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [True, False]
        assert talking.results[0] == "Not run: no such file today"
        identity = talking.session.log.header.id
    assert json.loads((place.cwd / "told.json").read_text()) == {
        "hook": "tool_call",
        "hook_event_name": "tool_call",
        "session_id": identity,
        "cwd": str(place.cwd),
        "tool_name": "write",
        "tool_input": {"path": "a.txt", "content": "x"},
        "call_id": "c1",
    }


@pytest.mark.parametrize(
    ("answer", "refused", "said"),
    [
        ({"decision": "block", "reason": "because"}, True, "Not run: because"),
        ({"decision": "deny"}, True, "Not run: it gave no reason"),
        ({"continue": False, "stopReason": "stop it"}, True, "Not run: stop it"),
        (
            {"decision": "ask", "reason": "sure?"},
            True,
            "Not run: sure? (a person has to decide that, and none said yes)",
        ),
        ({"decision": "allow"}, False, ""),
        ({"decision": "approve", "context": "mind the gap"}, False, "mind the gap]"),
        ({"hookSpecificOutput": {"permissionDecision": "deny", "permissionDecisionReason": "r"}}, True, "Not run: r"),
        ({"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "seen"}}, False, "seen]"),
        ({"decision": "allow", "hookSpecificOutput": {"permissionDecision": "deny"}}, True, "Not run: "),
        ({"decision": "deny", "hookSpecificOutput": {"permissionDecision": "allow"}}, True, "Not run: "),
        ({"decision": "ask", "hookSpecificOutput": {"permissionDecision": "allow"}}, True, "a person has to decide"),
        ({"decision": None, "reason": "none"}, False, ""),
        ({"suppressOutput": True, "hookSpecificOutput": {"hookEventName": "PreToolUse"}}, False, ""),
        ({"decision": "allow", "version": 2}, False, ""),
        ({}, False, ""),
    ],
)
async def test_a_command_answers_in_json_as_those_of_other_agents_do(
    place: Place, answer: dict, refused: bool, said: str
) -> None:
    hook(place, "tool_call", f"cat > /dev/null; echo '{json.dumps(answer)}'")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [refused]
        assert said in talking.results[0]


@pytest.mark.parametrize("field", ["arguments", "updatedInput"])
async def test_changed_arguments_are_judged_and_run(place: Place, field: str) -> None:
    changed = {"path": "b.txt", "content": "y"}
    answer = {"arguments": changed} if field == "arguments" else {"hookSpecificOutput": {field: changed}}
    hook(place, "tool_call", f"echo '{json.dumps(answer)}'")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False]
    assert (place.cwd / "b.txt").read_text() == "y"


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("exit 1", "ended with exit code 1"),
        ("echo oops >&2; exit 7", "exit code 7: oops"),
        ("kill -9 $$", "was killed"),
        ("no-such-program-here", "exit code 127"),
        ("python3 gone.py", "exit code 2: "),
        ("if", "exit code 2: "),
        ("python3 -c 'import argparse; argparse.ArgumentParser().parse_args([\"x\"])'", "exit code 2: usage: "),
        ("echo fine", "it printed no JSON object: fine"),
        ("echo '{'", "it printed no valid JSON"),
        ("""echo '{"decision": "perhaps"}'""", "it decided 'perhaps'"),
        ("""echo '{"decision": 3}'""", "`decision` is no text"),
        ("""echo '{"arguments": []}'""", "`arguments` is no object"),
        ("""echo '{"hookSpecificOutput": []}'""", "`hookSpecificOutput` is no object"),
        ("""echo '{"hookSpecificOutput": {"updatedInput": "ls"}}'""", "`updatedInput` is no object"),
        ("""echo '{"hookSpecificOutput": {"Decision": "deny"}}'""", "`Decision` is no field there"),
        ("""echo '{"hookSpecificOutput": {"decision": "deny"}}'""", "`decision` is no field there"),
        ("""echo '{"permissionDecision": "deny", "reason": "r"}'""", "`permissionDecision` is no field there"),
        ("""echo '{"Decision": "deny", "reason": "r"}'""", "`Decision` is no field there"),
        ("""echo '{"verdict": "deny"}'""", "no field that is known, but `verdict`"),
        ("""echo '{"decision": "deny", "decision": "allow"}'""", "`decision` is there twice"),
        ("""echo '{"arguments": {"path": "a", "path": "b"}}'""", "`path` is there twice"),
        ("""echo '{"decision": ""}'""", "it decided ''"),
        ("""echo '{"decision": false}'""", "`decision` is no text"),
        ("""echo '{"continue": "false"}'""", "`continue` is neither true nor false"),
        ("""echo '{"context": ["x"]}'""", "`context` is no text"),
        ("printf '\\377\\376'", "no UTF-8"),
        ("yes '{' | head -c 300000", "printed more than 200,000 bytes"),
    ],
)
async def test_a_guard_that_answers_nothing_that_makes_sense_refuses_the_call(
    place: Place, command: str, why: str
) -> None:
    hook(place, "tool_call", command)
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [True]
        assert why in talking.results[0]
        assert any("failed at a call of write, so it isn't run" in text for text in talking.notices)
        assert not (place.cwd / "a.txt").exists()


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        ('{"hookSpecificOutput": []}', "`hookSpecificOutput` is no object"),
        ('{"Context": "x"}', "`Context` is no field there"),
        ('{"context": "x", "context": "y"}', "`context` is there twice"),
        ('{"is_error": "no"}', "`is_error` is neither true nor false"),
    ],
)
async def test_the_same_answers_are_told_and_passed_over_where_nothing_is_guarded(
    place: Place, answer: str, why: str
) -> None:
    hook(place, "tool_result", f"echo '{answer}'")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False]
        assert any("is passed over" in text and why in text for text in talking.notices)


async def test_what_a_listener_prints_is_its_own_matter(place: Place) -> None:
    hook(place, "event", """echo '{"ok": true}'; touch heard""", match="turn_ended")
    async with talk(place, DONE) as talking:
        await talking.session.prompt("go")
    assert (place.cwd / "heard").exists()
    assert not any("passed over" in text for text in talking.notices)


async def test_a_command_that_hangs_is_ended_with_all_that_it_started(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shell_module, "GRACE_S", 0.2)
    hook(place, "tool_call", "sleep 1000 & echo $! > child; wait", timeout_s=0.5)
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert "it took too long, and was ended" in talking.results[0]
    child = int((place.cwd / "child").read_text())
    assert state_of(child) in ("", "Z")


def state_of(process: int) -> str:
    """What a process does; empty when there is none."""
    status = Path(f"/proc/{process}/stat")
    return status.read_text().split()[2] if status.exists() else ""


async def test_a_child_that_holds_the_output_does_not_hold_the_session(place: Place, tmp_path: Path) -> None:
    with anyio.fail_after(5):
        ran = await run_hook(
            ("/bin/sh", "-c", "sleep 20 & echo $! > child; echo out; echo err >&2"),
            b"",
            environment={"PATH": "/bin:/usr/bin"},
            cwd=tmp_path,
            limit_s=4,
        )
    assert (ran.code, ran.out, ran.err) == (0, b"out\n", "err")
    os.kill(int((tmp_path / "child").read_text()), signal.SIGKILL)


async def test_a_result_is_replaced_or_added_to_and_a_failing_command_is_told_once(place: Place) -> None:
    place.write("work/s.txt", "token 123")
    hook(place, "tool_result", """echo '{"output": "*** \\u202e", "is_error": true}'""", match="read")
    hook(place, "tool_result", "echo 'formatted\033[31m' >&2; exit 2", match="write")
    hook(place, "tool_result", "exit 1")
    reads = calls("read", '{"path": "s.txt"}', call_id="c1") + ends("tool_calls")
    async with talk(place, reads, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.results[0] == "***"
        assert talking.failed == [True, False]
        assert "formatted]" in talking.results[1]
        assert "\x1b" not in talking.results[1]
        assert len([text for text in talking.notices if "is passed over" in text]) == 1


async def test_commands_get_no_keys_and_the_projects_folder(place: Place) -> None:
    hook(place, "session_start", "env > env.txt; echo 'on branch main'")
    project = place.project
    from trimtab.coding.choose import Ephemeral
    from trimtab.coding.opening import open_session
    from trimtab.coding.project import open_project

    opened = project()
    env = {**opened.env, "OPENAI_API_KEY": "k1", "MY_TOKEN": "k2", "PATH": "/bin:/usr/bin"}
    again = open_project(opened.cwd, overrides=opened.asked.overrides, trust="once", env=env)
    from support.agent_fakes import Script

    async with open_session(again, Ephemeral(), provider=Script(DONE)) as session:
        await session.prompt("hi")
        assert "hook `env > env.txt; echo 'on branch main'`: on branch main" in session.agent.system
    said = (place.cwd / "env.txt").read_text()
    assert "k1" not in said
    assert "k2" not in said
    assert f"TRIMTAB_PROJECT_DIR={place.cwd}" in said


async def test_hooks_of_a_request_an_end_and_events(place: Place) -> None:
    hook(place, "before_request", "echo remember the milk")
    hook(place, "session_end", "cat > end.json")
    hook(place, "event", "cat >> events.jsonl", match="turn_*")
    async with talk(place, DONE) as talking:
        await talking.session.prompt("hi")
        (request,) = talking.session.agent.provider.requests
        assert "remember the milk" in str(request.messages[-1])
    assert json.loads((place.cwd / "end.json").read_text())["hook"] == "session_end"
    events = [json.loads(line)["type"] for line in (place.cwd / "events.jsonl").read_text().splitlines()]
    assert events == ["turn_started", "turn_ended"]


async def test_a_message_for_the_person_is_a_notice_on_one_line(place: Place) -> None:
    hook(place, "tool_call", """echo '{"systemMessage": "look\\n\\u001b[31mhere"}'""")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.notices[0].endswith(": look here")


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"match": "a("}, "is not a permission rule"),
        ({"match": "task(x)"}, "takes no argument"),
        ({"timeout_s": 0}, "above 0"),
        ({"comand": "x"}, "did you mean 'command'"),
    ],
)
async def test_a_hook_that_cannot_be_read_is_an_error_with_its_place(place: Place, more: dict, why: str) -> None:
    hook(place, "tool_call", "true", **more)
    with pytest.raises(ConfigError) as caught:
        async with talk(place):
            pass
    assert why in str(caught.value)
    assert "hooks.tool_call" in str(caught.value)


PROJECT = "work/.trimtab/config.toml"


async def test_a_projects_hook_runs_once_its_content_was_let_run_and_asks_again_when_it_changed(place: Place) -> None:
    place.write("work/check.sh", "exit 2\n")
    hook(place, "tool_call", "sh check.sh", file=PROJECT)
    async with talk(place, writes(), DONE, trust="folder") as talking:
        assert "check.sh, " not in talking.notices[0]
        assert ".trimtab/config.toml hooks.tool_call[0], check.sh are new" in talking.notices[0]
        await talking.session.prompt("go")
        assert talking.failed == [False], "what nobody let run guards nothing"
    person = Answers(["yes"])
    async with talk(place, writes("b.txt"), DONE, trust="folder", person=person) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [True]
    place.write("work/check.sh", "exit 0\n")
    person = Answers(["later"])
    async with talk(place, DONE, trust="folder", person=person) as talking:
        assert "  -exit 2" in person.asked[0].details
        desk = type(
            "Desk", (), {"session": talking.session, "told": [], "tell": lambda self, text: self.told.append(text)}
        )()
        await run_command(desk, "extensions", "")
        assert "hook `sh check.sh` at tool_call, 60 s; it doesn't act: it changed" in desk.told[0]


async def test_a_file_that_a_projects_hook_names_must_be_what_it_was_when_it_runs(place: Place) -> None:
    place.write("work/check.sh", "exit 0\n")
    hook(place, "tool_call", "sh check.sh", file=PROJECT)
    change = calls("write", '{"path": "check.sh", "content": "touch owned"}', call_id="c1") + ends("tool_calls")
    async with talk(place, change, writes(), DONE, trust="folder", person=Answers(["once"])) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False, True]
        assert "check.sh isn't what it was when you let it run" in talking.results[1]
    assert not (place.cwd / "owned").exists()


async def test_a_hook_of_a_project_has_standard_input_and_a_sandbox_and_its_output_is_no_code(place: Place) -> None:
    owned = place.home / "owned"
    hook(place, "tool_call", f"cat > told.json; echo x > {owned}; exit 0", file=PROJECT)
    for person in (Answers(["yes"]), Answers()):
        async with talk(place, writes(), DONE, trust="folder", person=person) as talking:
            confined = talking.session.kit.confiner.examine()[1].sandbox is not None
            await talking.session.prompt("go")
            assert talking.failed == [False]
    assert json.loads((place.cwd / "told.json").read_text())["tool_name"] == "write"
    assert owned.exists() is not confined


async def test_the_hooks_of_a_project_take_none_of_the_persons_away(place: Place) -> None:
    hook(place, "tool_call", "exit 2")
    hook(place, "tool_call", "true", file=PROJECT)
    async with talk(place, writes(), DONE, trust="once", person=Answers(["once"])) as talking:
        assert len(talking.session.extensions.shell) == 2
        await talking.session.prompt("go")
        assert talking.failed == [True]


@pytest.mark.parametrize("trust", ["never", None])
async def test_the_hooks_of_a_project_that_is_not_trusted_are_not_even_looked_at(place: Place, trust) -> None:
    hook(place, "session_start", "touch owned", file=PROJECT)
    async with talk(place, trust=trust, person=Answers(["later", "yes"])) as talking:
        assert talking.session.extensions.shell == ()
    assert not (place.cwd / "owned").exists()


@pytest.mark.parametrize(
    ("code", "out", "answer"),
    [
        (0, "", None),
        (0, "keep the names", Wishes("keep the names")),
        (0, '{"instructions": "keep the names"}', Wishes("keep the names")),
        (0, '{"context": "keep the names"}', Wishes("keep the names")),
        (0, '{"summary": "all read"}', Summary("all read")),
        (0, '{"decision": "cancel", "reason": "later"}', Cancel("later")),
        (0, '{"decision": "block", "reason": "secret"}', Deny("secret")),
        (0, '{"continue": false, "stopReason": "secret"}', Deny("secret")),
        (2, "", Deny("secret")),
    ],
)
async def test_what_a_command_says_before_a_compaction(code: int, out: str, answer: object) -> None:
    assert await answer_of(Ran(code, out.encode(), "secret" if code else ""), "before_compaction", _unheard) == answer


@pytest.mark.parametrize("out", ['{"decision": "cancel"}', '{"summary": "all read"}', '{"Summary": ""}'])
async def test_what_is_known_before_a_compaction_makes_no_sense_of_a_call(out: str) -> None:
    with pytest.raises(HookFailed):
        await answer_of(Ran(0, out.encode(), ""), "tool_call", _unheard)


async def _unheard(_text: str) -> None:
    pass


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("python3 gone.py", "gone.py"),
        ("python3 ./there.py --strict", ""),
        ("./gone.sh", "./gone.sh"),
        ("no-such-program-here x", "no-such-program-here"),
        ("bash -c gone", ""),
        ("cat gone", ""),
        ("test -f gone && no-such-program-here", ""),
        ("exit 2", ""),
        ("X=1 gone", ""),
        ("'", ""),
    ],
)
def test_what_a_command_of_plain_words_names_and_is_not_there_is_known(
    place: Place, command: str, missing: str
) -> None:
    place.write("work/there.py", "")
    hook(place, "tool_call", command)
    project = place.project()
    (found,) = shell_hooks(project)
    assert missing_of(found, project) == missing
    checks = list(extension_checks(Extensions(project, (), (), ((found, ""),))))
    assert [check.status for check in checks] == ["missing" if missing else "ok"]


@pytest.mark.parametrize("words", ["no: usage: is what it said", "it says\nusage: x", "a b: can't open file x"])
async def test_a_no_that_only_speaks_of_a_mistake_is_a_no(words: str) -> None:
    async def tell(text: str) -> None: ...

    assert await answer_of(Ran(2, b"", words), "tool_call", tell) == Deny(words)


async def test_a_guard_of_compactions_that_ends_with_a_no_is_never_passed_over() -> None:
    async def tell(text: str) -> None: ...

    words = "python3: can't open file '/x/guard.py': [Errno 2]"
    assert await answer_of(Ran(2, b"", words), "before_compaction", tell) == Deny(words)
    with pytest.raises(HookFailed):
        await answer_of(Ran(2, b"", words), "tool_call", tell)
