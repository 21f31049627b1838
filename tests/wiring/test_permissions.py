"""Permissions of a whole session: who is asked, what is kept where, which layers win, and how the model hears of a mode."""

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from support.cli import Cli
from trimtab.agent.events import Notice, ToolEnded
from trimtab.coding.choose import Ephemeral
from trimtab.coding.commands.registry import COMMANDS, run_command
from trimtab.coding.opening import open_session
from trimtab.coding.person import NOBODY, Person, Question
from trimtab.coding.project import open_project
from trimtab.coding.session import Session
from trimtab.coding.subagent import run_subagent
from trimtab.coding.switching import carry_over
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Text, User

pytestmark = pytest.mark.anyio


@dataclass
class Typist:
    """A person who gives these answers, one after the other, and then none."""

    answers: list[str]
    asked: list[Question] = field(default_factory=list)
    then: Callable[[], object] = lambda: None

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        await anyio.lowlevel.checkpoint()
        self.then()
        return self.answers.pop(0) if self.answers else None


@dataclass
class Desk:
    """Where commands say what they say."""

    session: Session
    said: list[str] = field(default_factory=list)

    def tell(self, text: str) -> None:
        self.said.append(text)

    def answer(self, call_id: str, text: str) -> None: ...

    def work(self, turn: Any, *, is_turn: bool = True) -> None: ...

    def leave(self) -> None: ...


def calls(*named: tuple[str, dict[str, Any]]) -> dict[str, Any]:
    return {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in named]}


def bash(*commands: str) -> dict[str, Any]:
    return calls(*(("bash", {"command": command}) for command in commands))


@asynccontextmanager
async def session_of(
    cli: Cli, *lines: dict[str, Any], person: Person = NOBODY, cwd: Path | None = None, **more: Any
) -> AsyncIterator[tuple[Session, list[Any]]]:
    """A session on a script, and the list that all its events go to."""
    overrides = {"model": cli.script(*lines, {"text": "done"}), **more}
    project = open_project(cwd or cli.project, overrides=overrides, env=cli.environment(), trust="once")
    async with open_session(project, Ephemeral(), person=person) as session:
        events = session.feed.subscribe()
        seen: list[Any] = []
        yield session, seen
        seen += events.pending()


def results(events: list[Any]) -> list[tuple[bool, str]]:
    return [
        (e.is_error, "".join(p.text for p in e.parts if isinstance(p, Text)))
        for e in events
        if isinstance(e, ToolEnded)
    ]


def notices(events: list[Any]) -> list[str]:
    return [event.message for event in events if isinstance(event, Notice)]


async def test_a_person_is_asked_and_the_turn_goes_on_with_what_was_allowed(cli: Cli) -> None:
    person = Typist(["once", "no"])
    async with session_of(cli, bash("mkdir a && ls"), bash("mkdir b"), person=person) as (session, events):
        turn = await session.prompt("go")
    assert (turn.reason, turn.text) == ("stop", "done")
    assert not results(events)[0][0]
    assert results(events)[1][1].startswith("Not run: the person said no.")
    assert ((cli.project / "a").is_dir(), (cli.project / "b").exists()) == (True, False)
    assert notices(events) == []  # who says no needn't be told of it


async def test_calls_of_one_step_that_an_answer_covers_are_asked_about_once(cli: Cli) -> None:
    person = Typist(["session"])
    async with session_of(cli, bash("touch a", "touch a", "touch a"), person=person) as (session, events):
        await session.prompt("go")
    assert [failed for failed, _ in results(events)] == [False] * 3
    assert len(person.asked) == 1


async def test_a_turn_that_is_cancelled_while_a_question_is_open_answers_its_calls_and_the_next_turn_runs(
    cli: Cli,
) -> None:
    class Absent:
        asked = anyio.Event()

        async def ask(self, question: Question) -> str | None:
            self.asked.set()
            await anyio.sleep_forever()

    person = Absent()
    async with session_of(cli, bash("touch a"), person=person) as (session, events):
        with anyio.fail_after(20):
            async with anyio.create_task_group() as group:
                group.start_soon(session.prompt, "go")
                await person.asked.wait()
                session.cancel()
            assert (await session.prompt("again")).reason == "stop"
    assert results(events) == [(True, "cancelled")]
    assert not (cli.project / "a").exists()


async def test_reads_of_the_same_step_run_while_a_question_is_open(cli: Cli) -> None:
    cli.file("note", "hello")
    read = anyio.Event()

    class Patient:
        async def ask(self, question: Question) -> str | None:
            await read.wait()
            return "once"

    step = calls(("bash", {"command": "touch a"}), ("read", {"path": "note"}))
    async with session_of(cli, step, person=Patient()) as (session, events):
        tool = next(tool for tool in session.agent.tools if tool.spec.name == "read")
        handler = tool.handler  # type: ignore[attr-defined]

        async def noticed(*given: Any) -> Any:
            read.set()
            return await handler(*given)

        object.__setattr__(tool, "handler", noticed)
        with anyio.fail_after(20):
            await session.prompt("go")
    assert [failed for failed, _ in results(events)] == [False, False]


@pytest.mark.parametrize(("answer", "elsewhere"), [("always", True), ("here", False)])
async def test_an_answer_for_later_is_kept_in_the_persons_own_file_and_holds_in_later_sessions(
    cli: Cli, answer: str, elsewhere: bool
) -> None:
    cli.config("# mine\n[permissions]\ndeny = ['bash(git push)']\n")
    async with session_of(cli, bash("touch a"), person=Typist([answer])) as (session, _):
        await session.prompt("go")
    text = (cli.home / "config.toml").read_text()
    assert text.startswith("# mine\n")
    assert "bash(touch a $)" in text
    assert not (cli.project / ".trimtab").exists()
    other = cli.root / "other"
    other.mkdir()
    for cwd, runs in ((cli.project, True), (other, elsewhere)):
        async with session_of(cli, bash("touch a"), cwd=cwd) as (session, events):
            await session.prompt("go")
        assert results(events)[0][0] is not runs


async def test_rules_of_all_layers_hold_together_and_a_project_lifts_no_denial(cli: Cli) -> None:
    cli.config("[permissions]\ndeny = ['bash(touch no)']\nallow = ['bash(touch a)']\n")
    cli.file(
        ".trimtab/config.toml",
        f"""
[permissions]
deny = []
allow = ['bash(touch b)', 'write(**)', 'write(.git/**)']
[projects."{cli.project}".permissions]
allow = ['bash(touch c)']
""",
    )
    calls_made = bash("touch a", "touch f", "touch b", "touch c", "touch no")
    hook = calls(
        ("write", {"path": ".git/hooks/pre-commit", "content": "x"}), ("write", {"path": ".trimtab/x", "content": ""})
    )
    async with session_of(cli, calls_made, hook, permissions={"allow": ["bash(touch f)"]}) as (session, events):
        await session.prompt("go")
    assert [failed for failed, _ in results(events)] == [False, False, True, True, True, True, True]
    assert "a rule of permissions.deny refuses 'touch no'" in results(events)[4][1]


async def test_a_mode_holds_at_once_and_the_model_is_told_by_a_note_and_then_in_front(cli: Cli) -> None:
    person = Typist(["no"])
    write = calls(("write", {"path": "a", "content": ""}))
    async with session_of(cli, bash("touch x"), write, person=person) as (session, events):
        person.then = lambda: session.set_mode("plan")
        await session.prompt("go")
        messages = session.agent.messages
        notes = [m.parts[0].text for m in messages if isinstance(m, User) and m.origin == "note"]  # type: ignore[union-attr]
        assert [note.startswith("[notice: Permission mode: plan.") for note in notes] == [True]
        await session.prompt("again")
        assert "Permission mode: plan." in session.agent.system
        session.set_mode("auto-edit")
        await session.prompt("and again")
        assert "Permission mode" not in session.agent.system  # as it was when the session began
    assert "Mode plan changes nothing" in results(events)[1][1]
    assert not (cli.project / "a").exists()


async def test_a_session_that_begins_with_plan_says_so_in_front(cli: Cli) -> None:
    async with session_of(cli, permissions={"mode": "plan"}) as (session, _):
        await session.prompt("go")
        assert session.agent.system.rstrip().endswith("look around, then say what you would do.")


@pytest.mark.parametrize("reopened", [False, True])
async def test_a_mode_that_was_set_holds_in_the_session_that_is_switched_to(cli: Cli, reopened: bool) -> None:
    async with session_of(cli, bash("touch a"), person=Typist(["session"])) as (old, _), session_of(cli) as (new, _):
        await old.prompt("go")
        old.set_mode("plan")
        await carry_over(old, new, reopened=reopened)
        assert new.permissions.current.mode == "plan"
        assert [rule.text for rule in new.permissions.answers] == (["bash(touch a $)"] if reopened else [])
        await new.prompt("go")
        assert "Permission mode: plan." in new.agent.system


async def test_a_mode_of_the_settings_is_not_carried_over(cli: Cli) -> None:
    async with session_of(cli, permissions={"mode": "full"}) as (old, _), session_of(cli) as (new, _):
        await carry_over(old, new)
        assert new.permissions.current.mode == "auto-edit"


async def test_a_subagent_works_in_the_mode_of_its_parent(cli: Cli) -> None:
    async with session_of(cli) as (session, _):
        session.set_mode("plan")
        child = open_project(
            cli.project,
            overrides={"model": cli.script(calls(("write", {"path": "a", "content": ""})), {"text": "x"})},
            env=cli.environment(),
        )
        async with open_session(child, Ephemeral()) as provider:
            await run_subagent(session, "go", provider=provider.agent.provider)
    assert not (cli.project / "a").exists()


async def said(session: Session, line: str) -> str:
    desk = Desk(session)
    await run_command(desk, "permissions", line)
    return "\n".join(desk.said)


async def test_the_command_lists_explains_changes_and_forgets(cli: Cli) -> None:
    cli.config("[permissions]\ndeny = ['bash(git push)']\n[tools.bash]\nallow = ['npm test']\n")
    async with session_of(cli, bash("touch a"), bash("touch b"), person=Typist(["session", "always"])) as (session, _):
        await session.prompt("go")
        listed = await said(session, "")
        assert listed.splitlines()[:5] == [
            "mode auto-edit (default)",
            f"deny   bash(git push)   permissions.deny[0], user config ({cli.home}/config.toml)",
            "allow  bash(touch a $)  an answer in this session",
            f"allow  bash(touch b $)  permissions.allow, user config ({cli.home}/config.toml)",
            f"allow  bash(npm test)   tools.bash.allow[0], user config ({cli.home}/config.toml)",
        ]
        assert "What decides, the first that speaks of a call:" in listed
        why = await said(session, "why bash touch a && git stash && rm x")
        assert why.splitlines() == [
            "bash touch a && git stash && rm x: is asked about; without a person it is refused",
            "  allow  touch a    rule bash(touch a $) (an answer in this session)",
            "  ask    git stash  it may change things; mode auto-edit (default)",
            "  ask    rm x       it may change things; mode auto-edit (default)",
            'What would let it run unasked: permissions.allow = ["bash(git stash $)", "bash(rm x $)"], or --permission full',
        ]
        assert await said(session, "forget bash(touch a $)") == "forgot bash(touch a $)"
        assert await said(session, "forget bash(touch b $)") == "forgot bash(touch b $)"
        assert "touch" not in await said(session, "")
        assert "touch" not in (cli.home / "config.toml").read_text()
        with pytest.raises(TrimtabError) as wrong:
            await said(session, "forget bash(npm test)")
        assert (
            wrong.value.hint
            == f"It stands in tools.bash.allow[0], user config ({cli.home}/config.toml); take it out there."
        )
        assert await said(session, "plan") == "mode plan, from the next call on"
        assert session.permissions.current.mode == "plan"
        for line in ("plane", "why", "why bahs ls", "why bash", "forget", "plan now"):
            with pytest.raises(TrimtabError):
                await said(session, line)


async def test_an_answer_of_an_earlier_session_is_forgotten_in_the_file_and_at_once(cli: Cli) -> None:
    cli.config(f"[projects.{json.dumps(str(cli.project))}.permissions]\nallow = ['bash(touch a $)']\n")
    async with session_of(cli, bash("touch a"), bash("touch a")) as (session, events):
        assert await said(session, "forget bash(touch a $)") == "forgot bash(touch a $)"
        await session.prompt("go")
    assert [failed for failed, _ in results(events)] == [True, True]


async def test_what_may_follow_the_command_is_known(cli: Cli) -> None:
    async with session_of(cli, bash("touch a"), person=Typist(["session"])) as (session, _):
        await session.prompt("go")
        complete = COMMANDS["permissions"].complete
        assert [choice.value for choice in complete(session, "")] == [
            "ask",
            "auto-edit",
            "full",
            "plan",
            "why",
            "forget",
        ]
        assert [choice.value for choice in complete(session, "a")] == ["ask", "auto-edit"]
        assert [choice.value for choice in complete(session, "forget ")] == ["forget bash(touch a $)"]
        assert [choice.value for choice in complete(session, "why wr")] == ["why write"]
        assert complete(session, "why bash l") == ()


@pytest.mark.parametrize("name", ['pro"ject [a.b] #x', "naïve 日本", "a\nb", "\udcff"])
async def test_whatever_a_project_is_called_its_rule_is_kept_or_that_is_said(cli: Cli, name: str) -> None:
    folder = cli.root / name
    folder.mkdir()
    async with session_of(cli, bash("touch a"), person=Typist(["here"]), cwd=folder) as (session, events):
        await session.prompt("go")
    assert (folder / "a").exists()
    (folder / "a").unlink()
    kept = name.isprintable()
    assert bool(notices(events)) is not kept
    async with session_of(cli, bash("touch a"), cwd=folder) as (session, events):
        await session.prompt("go")
    assert (folder / "a").exists() is kept
