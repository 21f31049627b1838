"""A subagent does one task under its parent's rules, out of its parent's purse, and hands back its last words."""

import io
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest

from agents.conftest import agent, call, project_of, task
from support.cli import Cli, Json, text_of
from support.sessions import reopened
from trimtab.agent.events import Event, Notice, ToolEnded, ToolUpdate
from trimtab.agent.ports import Answer, Proceed, SimpleTool, ToolOutput, ToolRun
from trimtab.coding.agents.crew import Crew
from trimtab.coding.agents.tool import TaskTool
from trimtab.coding.choose import New
from trimtab.coding.logs import session_folder
from trimtab.coding.opening import open_session
from trimtab.coding.person import Question
from trimtab.coding.session import Session
from trimtab.config.settings import AgentSettings
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.errors import UnknownSession
from trimtab.types.messages import Text, ToolCall, ToolResult
from trimtab.types.tools import ToolSpec

pytestmark = pytest.mark.anyio

WRITES = {"tool_calls": [{"name": "write", "arguments": {"path": "made.txt", "content": "by a child\n"}}]}


def results(session: Session, tool: str = "task") -> list[ToolResult]:
    return [m for m in session.log.view() if isinstance(m, ToolResult) and m.tool_name == tool]


def said(result: ToolResult) -> str:
    return "".join(part.text for part in result.parts if isinstance(part, Text))


def child_results(session: Session, name: str = "") -> list[ToolResult]:
    (worker,) = session.crew.workers
    assert worker.session_file is not None
    view = reopened(Path(worker.session_file)).view()
    return [m for m in view if isinstance(m, ToolResult) and m.tool_name.startswith(name)]


@dataclass
class Typist:
    answers: list[str]
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        return self.answers.pop(0) if self.answers else None


async def run(cli: Cli, *lines: Json, person: Typist | None = None, **overrides: object) -> Session:
    """Say `go` in a session and close it; what it holds can still be read."""
    more = {} if person is None else {"person": person}
    async with open_session(project_of(cli, *lines, **overrides), New(), **more) as session:
        await session.prompt("go")
    return session


async def test_a_task_is_done_by_an_agent_with_its_own_instructions_and_only_its_answer_comes_back(cli: Cli) -> None:
    expects = {"text": "42", "expect": {"contains": ["You answer in numbers.", "how many?"], "absent": ["secret plan"]}}
    agent(cli, "counter", expects, text="You answer in numbers.")
    session = await run(cli, {"text": "secret plan", **task("how many?", agent="counter")}, {"text": "done"})
    (result,) = results(session)
    assert (said(result), result.is_error) == ("42", False)
    assert result.details is not None
    assert result.details["reason"] == "stop"
    child = reopened(Path(result.details["session_file"]))
    assert child.header.id == result.details["session_id"]
    assert child.archive.title == "agent counter: how many?"


async def test_an_agent_that_there_is_not_and_a_model_that_there_is_not_are_said_in_the_result(cli: Cli) -> None:
    agent(cli, "lost")
    (cli.home / "agents" / "lost.md").write_text("---\ndescription: x\nmodel: nowhere/none\n---\nDo it.\n")
    session = await run(
        cli, task("x", agent="nobody"), task("x", agent="lost"), task("  ", agent="general"), {"text": "done"}
    )
    one, two, three = results(session)
    assert [one.is_error, two.is_error, three.is_error] == [True] * 3
    assert said(one) == "agent nobody: there is no agent 'nobody'. Agents: general, explore, lost."
    assert "nowhere" in said(two)
    assert said(three) == "prompt is empty: say what has to be done"


async def test_a_child_does_nothing_that_its_parents_mode_or_rules_refuse(cli: Cli) -> None:
    agent(cli, "bold", WRITES, call("bash", command="git push"), {"text": "tried"}, front="mode: full\n")
    session = await run(
        cli,
        task("x", agent="bold"),
        {"text": "done"},
        permissions={"mode": "full", "deny": ["write", "bash(git push)"]},
    )
    assert [r.is_error for r in child_results(session)] == [True, True]
    assert not (cli.project / "made.txt").exists()


@pytest.mark.parametrize(
    ("parents", "agents", "made"), [("full", "plan", False), ("plan", "full", False), ("auto-edit", "full", True)]
)
async def test_the_narrower_of_both_modes_holds(cli: Cli, parents: str, agents: str, made: bool) -> None:
    agent(cli, "w", WRITES, {"text": "x"}, front=f"permissionMode: {agents}\n")
    await run(cli, task("x", agent="w"), {"text": "done"}, permissions={"mode": parents})
    assert (cli.project / "made.txt").exists() is made


async def test_a_mode_that_the_person_sets_meanwhile_holds_for_children_at_once(cli: Cli) -> None:
    agent(cli, "w", call("ls"), WRITES, {"text": "x"})
    async with open_session(project_of(cli, task("x", agent="w"), {"text": "done"}), New()) as session:
        watcher = session.feed.subscribe()

        async def narrow() -> None:
            async for event in watcher:
                if isinstance(event, ToolUpdate):
                    session.set_mode("plan")
                    return

        async with anyio.create_task_group() as group:
            group.start_soon(narrow)
            await session.prompt("go")
    assert not (cli.project / "made.txt").exists()


async def test_a_childs_question_goes_to_the_parents_person_and_names_the_child_and_the_answer_holds_for_both(
    cli: Cli,
) -> None:
    agent(cli, "w", call("bash", command="touch a"), {"text": "x"})
    person = Typist(["session"])
    await run(
        cli, task("x", agent="w"), call("bash", command="touch a"), {"text": "done"},
        person=person, permissions={"mode": "ask"},
    )  # fmt: skip
    assert [question.text for question in person.asked] == ["Agent w: Run this command?"]
    assert (cli.project / "a").exists()


async def test_of_several_children_that_ask_one_is_heard_at_a_time_and_says_for_which_task(cli: Cli) -> None:
    agent(cli, "w", call("bash", command="touch $$"), {"text": "x"})
    tasks = ["the first", "the \x1b[31msecond", "the\u202e third"]
    asking, most = 0, 0

    class Slow(Typist):
        async def ask(self, question: Question) -> str | None:
            nonlocal asking, most
            asking, most = asking + 1, max(most, asking + 1)
            await anyio.lowlevel.checkpoint()
            asking -= 1
            return await super().ask(question)

    person = Slow(["once"] * 3)
    await run(cli, task(*tasks, agent="w"), {"text": "done"}, person=person, permissions={"mode": "ask"})
    assert {question.details[-1] for question in person.asked} == {
        "for its task: the first",
        "for its task: the \\x1b[31msecond",
        "for its task: the\\u202e third",
    }
    assert most == 1


async def test_an_agent_has_the_tools_that_its_file_names_and_no_task_of_its_own(cli: Cli) -> None:
    agent(
        cli, "reader", call("bash", command="true"), call("task", prompt="again"), call("read", path="a.txt"), {"text": "x"},
        front="tools: Read, Grep, Task, NoSuchTool\n",
    )  # fmt: skip
    cli.file("a.txt", "hello\n")
    session = await run(cli, task("x", agent="reader"), {"text": "done"})
    bash, again, read = child_results(session)
    assert (bash.is_error, again.is_error, read.is_error) == (True, True, False)
    assert len(session.crew.workers) == 1


async def test_who_may_go_deeper_does_and_no_further_and_never_with_more_tools(cli: Cli) -> None:
    agent(cli, "leaf", call("task", prompt="more", agent="leaf"), call("write", path="a", content=""), {"text": "deep"})
    agent(cli, "branch", task("x", agent="leaf"), {"text": "middle"}, front="tools: task, read\n")
    session = await run(cli, task("x", agent="branch"), {"text": "done"}, agents={"depth": 2})
    assert said(results(session)[0]) == "middle"
    (inner,) = child_results(session, "task")
    assert said(inner) == "deep"
    leaf = reopened(Path((inner.details or {})["session_file"]))
    assert [m.is_error for m in leaf.view() if isinstance(m, ToolResult)] == [True, True]
    assert not (cli.project / "a").exists()


async def test_what_a_child_takes_stands_in_its_parents_totals_and_log(cli: Cli) -> None:
    used = {"usage": {"input": 1_000, "output": 10}}
    agent(cli, "w", {"text": "x", **used})
    async with open_session(
        project_of(
            cli,
            {**task("x", agent="w"), "usage": {"input": 100, "output": 1}},
            {"text": "done", "usage": {"input": 200, "output": 2}},
        ),
        New(),
    ) as session:
        turn = await session.prompt("go")
        assert (turn.usage.input, turn.usage.output) == (1_300, 13)
        assert session.agent.allowance.spent.usage.input == 1_300
    assert session.log.path is not None
    assert '"input":1000' in (await anyio.Path(session.log.path).read_text()).replace(" ", "")


async def test_children_side_by_side_stop_at_the_limit_of_their_parent(cli: Cli) -> None:
    step = {**call("ls"), "usage": {"input": 1_000, "output": 0}}
    agent(cli, "w", *[step] * 30, {"text": "x"})
    async with open_session(
        project_of(cli, task("a", "b", "c", agent="w"), {"text": "done"}, max_tokens=10_000), New()
    ) as session:
        turn = await session.prompt("go")
        assert turn.reason == "budget"
        assert 10_000 <= session.agent.allowance.spent.usage.total <= 13_000
        assert all("a limit of cost, tokens or time is reached" in said(r) for r in results(session))


async def test_a_child_stops_at_the_fewest_steps_that_anybody_allows(cli: Cli) -> None:
    agent(cli, "w", *[call("ls")] * 20, {"text": "x"}, front="maxTurns: 5\n")
    session = await run(cli, task("a", agent="w", max_steps=2), task("b", agent="w", max_steps=50), {"text": "done"})
    assert [(r.details or {})["steps"] for r in results(session)] == [2, 5]
    assert said(results(session)[0]).endswith("[it was stopped: it may make no more steps]")


async def test_a_child_that_hangs_is_stopped_by_its_time(cli: Cli) -> None:
    agent(cli, "w", {"text": "x", "delay_ms": 60_000})
    session = await run(cli, task("a", agent="w"), {"text": "done"}, agents={"timeout_s": 0.3})
    assert said(results(session)[0]) == "[it was stopped: a limit of cost, tokens or time is reached]"


async def test_cancelling_the_turn_cancels_its_children_and_what_they_did_is_in_their_logs(cli: Cli) -> None:
    agent(cli, "w", WRITES, {"text": "x", "delay_ms": 60_000})
    async with open_session(project_of(cli, task("a", "b", agent="w")), New()) as session:
        seen: list[Event] = []
        watcher = session.feed.subscribe()

        async def stop() -> None:
            async for event in watcher:
                seen.append(event)
                if isinstance(event, ToolUpdate):
                    session.cancel()
                    return

        async with anyio.create_task_group() as group:
            group.start_soon(stop)
            with anyio.fail_after(30):
                turn = await session.prompt("go")
        assert turn.reason == "cancelled"
        assert [said(r) for r in results(session)] == ["cancelled", "cancelled"]
        assert session.crew.running == ()


async def test_children_of_one_step_work_side_by_side_and_no_more_than_are_allowed(
    cli: Cli,
) -> None:
    agent(cli, "w", call("ls"), {"text": "x", "delay_ms": 50})
    most = 0
    async with open_session(
        project_of(cli, task(*"abcde", agent="w"), {"text": "done"}, agents={"parallel": 2}), New()
    ) as session:
        watcher = session.feed.subscribe()

        async def look() -> None:
            nonlocal most
            async for event in watcher:
                if isinstance(event, ToolUpdate):
                    most = max(most, sum(w.doing != "waits for its turn" for w in session.crew.running))

        async with anyio.create_task_group() as group:
            group.start_soon(look)
            await session.prompt("go")
            group.cancel_scope.cancel()
    assert most == 2
    files = [(r.details or {})["session_file"] for r in results(session)]
    assert len(set(files)) == 5


async def test_a_child_that_floods_costs_its_parent_a_bounded_answer_and_the_whole_can_be_read(cli: Cli) -> None:
    agent(cli, "w", {"text": "many words " * 20_000})
    async with open_session(
        project_of(cli, task("a", agent="w"), {"text": "done"}, agents={"result_tokens": 200}), New()
    ) as session:
        await session.prompt("go")
        (result,) = results(session)
        assert session.context.engine.tally.text(said(result)) < 300
        assert "[cut; all of it: memo action=read key=subagent-" in said(result)
        key = said(result).rpartition("key=")[2].rstrip("]")
        memo = session.context.host.memos.read(key)
        assert memo is not None
        assert len(memo.content) > 200_000


async def test_undo_of_the_parents_turn_takes_back_what_its_children_changed(cli: Cli) -> None:
    cli.file("kept.txt", "before\n")
    cli.file(".gitignore", "ignored.txt\n")
    agent(
        cli, "w", WRITES, call("edit", path="kept.txt", edits=[{"old": "before", "new": "after"}]),
        call("write", path="ignored.txt", content="x"), call("bash", command="echo y > by-bash.txt; rm .gitignore"), {"text": "x"},
    )  # fmt: skip
    async with open_session(project_of(cli, task("a", agent="w"), {"text": "done"}), New()) as session:
        turn = await session.prompt("go")
        names = [Path(path).name for path in session.result(turn).changed_files]
        assert names == ["made.txt", "kept.txt", "ignored.txt", ".gitignore", "by-bash.txt"]
        shown = "".join(await session.diff())
        assert [name for name in names if f" b/{name}\n" in shown] == names
        await session.undo()
        assert sorted(p.name for p in cli.project.iterdir()) == [".gitignore", "kept.txt"]
        assert (cli.project / "kept.txt").read_text() == "before\n"
        await session.redo()
        assert (cli.project / "kept.txt").read_text() == "after\n"


async def test_the_parents_checks_run_over_what_a_child_changed_and_the_child_runs_none(cli: Cli) -> None:
    agent(cli, "w", WRITES, {"text": "x"})
    async with open_session(
        project_of(
            cli,
            task("a", agent="w"),
            {"text": "done"},
            verify={"commands": ["echo run >> checks.log; test -f made.txt"]},
        ),
        New(),
    ) as session:
        turn = await session.prompt("go")
        assert session.result(turn).verify == "passed"
    assert (cli.project / "checks.log").read_text() == "run\n"


async def test_a_childs_jobs_are_its_parents(cli: Cli) -> None:
    agent(cli, "w", call("bash", command="sleep 81", background=True), {"text": "x"})
    async with open_session(project_of(cli, task("a", agent="w"), {"text": "done"}), New()) as session:
        await session.prompt("go")
        (job,) = session.jobs.running
        assert job.name == "j1 (w: sleep 81)"


async def test_a_child_has_no_memory_to_write_and_its_todo_is_its_own(cli: Cli) -> None:
    agent(
        cli,
        "w",
        call("memory", action="list"),
        call("todo", items=[{"content": "its own", "status": "pending"}]),
        {"text": "x"},
    )
    session = await run(cli, task("a", agent="w"), {"text": "done"}, context={"tools": "pilot"})
    memory, todo = child_results(session)
    assert (memory.is_error, todo.is_error) == (True, False)
    assert results(session, "todo") == []


async def test_progress_and_notices_of_a_child_reach_who_watches_its_parent(cli: Cli) -> None:
    agent(cli, "w", call("bash", command="make x"), {"text": "x"})
    events: list[Event] = []
    async with open_session(
        project_of(cli, task("a", agent="w"), {"text": "done"}, permissions={"mode": "auto-edit"}), New()
    ) as session:
        watcher = session.feed.subscribe()
        await session.prompt("go")
        session.feed.close()
        events = [event async for event in watcher]
    notices = [event.message for event in events if isinstance(event, Notice)]
    assert any(text.startswith("agent w: ") for text in notices)
    (ended,) = [event for event in events if isinstance(event, ToolEnded) and event.name == "task"]
    assert not ended.is_error


async def test_tools_that_a_parent_was_given_from_elsewhere_are_its_childrens_too(cli: Cli) -> None:
    async def answer(_arguments: object, _run: object) -> ToolOutput:
        return ToolOutput.text("noon")

    clock = SimpleTool(ToolSpec("clock", "Tells the time.", {"type": "object", "properties": {}}), answer)
    agent(cli, "w", call("clock"), {"text": "x"})
    async with AsyncExitStack() as stack:
        project = project_of(cli, task("a", agent="w"), {"text": "done"})
        session = await stack.enter_async_context(open_session(project, New(), extra_tools=(clock,)))
        await session.prompt("go")
    assert [said(r) for r in child_results(session)] == ["noon"]


async def test_a_crew_without_a_session_says_so() -> None:
    async def ignore(_text: str) -> None: ...

    output = await TaskTool(Crew(AgentSettings())).run({"prompt": "x"}, ToolRun("c", ignore))
    assert output.is_error


def test_a_run_shows_the_answer_and_lists_children_by_their_titles_and_last_is_never_one(cli: Cli) -> None:
    agent(cli, "w", {"text": "42"})
    model = cli.script(task("how many?", agent="w"), {"text": "it says 42"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", model)
    (ended,) = outcome.of("tool_ended")
    assert text_of(ended) == "42"
    listed = cli.inside("sessions", "list").out
    assert "agent w: how many?" in listed
    child = Path(ended["details"]["session_file"])
    child.touch()
    shown = cli.inside("sessions", "show", "last").out
    assert "it says 42" in shown


async def test_a_session_with_children_and_each_of_them_is_found_by_its_id(cli: Cli) -> None:
    agent(cli, "w", {"text": "fine"})
    session = await run(cli, task("one", "two", agent="w"), {"text": "done"})
    folder, own = session_folder(session.project), session.log.header.id
    assert session.log.path is not None
    assert folder.find(own, "/") == folder.find(own[:9], "/") == session.log.path
    for worker in session.crew.workers:
        file = Path(worker.session_file or "")
        assert folder.find(worker.session_id, "/") == folder.find(worker.session_id[:9], "/") == file
        assert folder.find(f"{own}.{file.name.split('.')[1]}", "/") == file
    with pytest.raises(UnknownSession):
        folder.find("nobody", "/")


async def test_a_talk_tells_what_its_children_do_while_they_work(cli: Cli) -> None:
    agent(cli, "w", call("ls", path="."), call("bash", command="echo \x1b[31mhi"), {"text": "fine"})
    err = io.StringIO()
    printer = TextPrinter(out=io.StringIO(), err=err, progress=True)
    async with open_session(project_of(cli, task("look\naround", agent="w"), {"text": "done"}), New()) as session:
        events = session.feed.subscribe()
        await session.prompt("go")
        printer.show_all(events.pending())
    assert err.getvalue().splitlines() == ["  w: ls .", "  w: bash echo hi", "  task look around  [ok]"]


async def test_an_agent_without_jobs_starts_nothing_in_the_background(cli: Cli) -> None:
    agent(cli, "w", call("bash", command="sleep 0.1; true", background=True), {"text": "x"}, front="tools: bash\n")
    session = await run(cli, task("a", agent="w"), {"text": "done"})
    (result,) = child_results(session)
    assert "job" not in (result.details or {})
    assert session.jobs.all == {}


async def test_hooks_that_guard_the_parents_calls_guard_its_childrens(cli: Cli) -> None:
    agent(cli, "w", WRITES, call("write", path="kept.txt", content="x"), call("ls"), {"text": "x"})
    guard = {"command": "echo 'not by hook' >&2; exit 2", "match": "write(made.txt)"}

    class Own:
        """A program's hooks: no looking around."""

        async def before_tool(self, call_: ToolCall) -> Proceed | Answer:
            no = call_.name == "ls"
            return Answer(ToolOutput.text("not by program", is_error=True)) if no else Proceed()

        async def after_tool(self, _call: ToolCall, output: ToolOutput) -> ToolOutput:
            return output

    project = project_of(cli, task("a", agent="w"), {"text": "done"}, hooks={"tool_call": [guard]})
    async with open_session(project, New(), hooks=Own()) as session:
        await session.prompt("go")
    first, second, third = child_results(session)
    assert (first.is_error, second.is_error, third.is_error) == (True, False, True)
    assert "not by hook" in said(first)
    assert said(third) == "not by program"
    assert not (cli.project / "made.txt").exists()
