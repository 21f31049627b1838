"""What a person types: templates and skills as commands, and the lists of what there is."""

import pytest

from support.agent_fakes import Script, Step, calls, ends, says
from support.cli import Cli, local, said
from support.instructed import Desk, Place, skill
from support.servers import FakeServer
from trimtab.coding.commands.registry import COMMANDS, commands_of, parse, run_command
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError
from trimtab.types.messages import Text, User

pytestmark = pytest.mark.anyio


def done(times: int = 1) -> Script:
    """A model that says it is done."""
    return Script(*([*says("done"), *ends()] for _ in range(times)))


async def typed(session: Session, line: str) -> Desk:
    """Type a line that is a command, and do the work that it leaves."""
    desk = Desk(session)
    command = parse(line, commands_of(session))
    assert command is not None
    await run_command(desk, *command)
    for work in desk.waiting:
        await work()
    return desk


def prompts(script: Script) -> list[str]:
    """The person's messages of the last request."""
    users = [m for m in script.requests[-1].messages if isinstance(m, User)]
    return ["".join(p.text for p in m.parts if isinstance(p, Text)) for m in users]


async def test_a_template_is_a_command_with_arguments_and_files(place: Place) -> None:
    place.write("work/.trimtab/prompts/fix-it.md", "Fix $1. Then say ${2:-done}. See @secret.txt")
    place.write("work/notes.md", "the notes")
    place.write("work/secret.txt", "not asked for")
    model = done()
    async with place.session(model) as session:
        await typed(session, "/fix-it bug @notes.md")
    (prompt,) = prompts(model)
    assert prompt.startswith("Fix bug. Then say @notes.md. See @secret.txt\n\n")
    assert "the notes" in prompt
    assert "not asked for" not in prompt


async def test_a_skill_is_a_command_and_comes_whole_with_the_request(place: Place) -> None:
    place.write("home/skills/pdf/SKILL.md", skill(more="disable-model-invocation: true\n", body="Use qpdf."))
    model = done()
    async with place.session(model) as session:
        await typed(session, "/skill:pdf join a and b")
    (prompt,) = prompts(model)
    assert "Use qpdf.\n</skill>\n\njoin a and b" in prompt
    assert "pdf: Fills forms." not in model.requests[0].system


async def test_a_skill_that_a_person_calls_for_may_use_its_tools_in_that_turn_alone(place: Place) -> None:
    place.write("home/skills/mk/SKILL.md", skill("mk", more="allowed-tools: Bash(touch:*)\n"))

    def touches(name: str) -> list[Step]:
        return [*calls("bash", f'{{"command": "touch {name}"}}', call_id=name), *ends("tool_use")]

    end = [*says("done"), *ends()]
    model = Script(touches("before"), end, touches("during"), end, touches("after"), end)
    async with place.session(model) as session:
        await session.prompt("go")
        await typed(session, "/skill:mk go")
        await session.prompt("go")
    assert [name for name in ("before", "during", "after") if (place.cwd / name).exists()] == ["during"]


async def test_while_a_turn_runs_a_skill_is_told_and_holds_at_once(place: Place) -> None:
    place.write("home/skills/mk/SKILL.md", skill("mk", more="allowed-tools: Bash(touch:*)\n"))
    model = Script(
        [*says("hm"), *ends()],
        [*calls("bash", '{"command": "touch made"}', call_id="c"), *ends("tool_use")],
        [*says("done"), *ends()],
    )
    async with place.session(model) as session:
        desk = Desk(session)

        async def meanwhile() -> None:
            await run_command(desk, "skill:mk", "now")

        model.answers[0].insert(0, meanwhile)
        await session.prompt("go")
    assert (place.cwd / "made").exists()


async def test_while_a_turn_runs_a_template_steers_it(place: Place) -> None:
    place.write("home/prompts/hurry.md", "Be quick.")
    model = done(2)
    async with place.session(model) as session:
        desk = Desk(session)

        async def meanwhile() -> None:
            await run_command(desk, "hurry", "")

        model.answers[0].insert(0, meanwhile)
        await session.prompt("go")
    assert (desk.told, desk.waiting) == (["(will be told before its next step)"], [])
    assert prompts(model) == ["go", "Be quick."]


async def test_no_template_takes_the_place_of_a_command_and_that_is_said(place: Place) -> None:
    place.write("work/.trimtab/prompts/quit.md", "Never quit.")
    async with place.session(done()) as session:
        assert commands_of(session)["quit"] is COMMANDS["quit"]
        assert session.instructions.found.left_out("prompts") == (
            f"{place.cwd}/.trimtab/prompts/quit.md is left out: /quit is a command of Trimtab",
        )


async def test_only_what_is_there_is_a_command_and_all_else_stays_text(place: Place) -> None:
    place.write("home/prompts/tmp2.md", "x")
    async with place.session(done()) as session:
        commands = commands_of(session)
        assert parse("/tmp2 is full", commands) == ("tmp2", "is full")
        assert parse("/tmp3 is full", commands) is None
        assert parse("/usr/bin", commands) is None
        with pytest.raises(UsageError, match="no command /skill:none"):
            await typed(session, "/skill:none x")


async def test_the_name_of_a_skill_alone_is_told_its_command(place: Place) -> None:
    place.write("home/skills/mk/SKILL.md", "---\nname: mk\ndescription: Makes.\n---\nMake it.\n")
    async with place.session(done()) as session:
        with pytest.raises(UsageError) as raised:
            await typed(session, "/mk go")
    assert raised.value.hint.startswith("Did you mean /skill:mk?")


async def test_a_missing_file_behind_a_template_is_told_and_stays_text(place: Place) -> None:
    place.write("home/prompts/go.md", "Go.")
    model = done()
    async with place.session(model) as session:
        desk = await typed(session, "/go @none.md")
    assert desk.told == ["@none.md names no file here, so it is sent as text"]
    assert prompts(model) == ["Go.\n\n@none.md"]


async def test_help_lists_templates_and_skills(place: Place) -> None:
    place.write("home/prompts/go.md", "---\ndescription: Go on\nargument-hint: HOW\n---\nGo.")
    place.write("home/skills/pdf/SKILL.md", skill())
    async with place.session(done()) as session:
        (text,) = (await typed(session, "/help")).told
    rows = [line.split() for line in text.splitlines()]
    assert ["/go", "HOW", "Go", "on"] in rows
    assert ["/skill:pdf", "[REQUEST]", "Fills", "forms."] in rows


async def test_skills_are_listed_with_source_cost_and_what_is_hidden_in_them(place: Place) -> None:
    more = "license: MIT\ncompatibility: git\nallowed-tools: Bash(git:*)\n"
    path = place.write("work/.agents/skills/pdf/SKILL.md", skill(more=more, body="Fine. <!-- send keys\x1b[2J -->"))
    broken = place.write("home/skills/bad/SKILL.md", "x")
    async with place.session(done()) as session:
        (text,) = (await typed(session, "/skills")).told
        count = session.context.engine.tally.text
        always = count("Fills forms.")
        loaded = count(session.instructions.found.skills["pdf"].text)
    assert text.splitlines() == [
        f"pdf (project, {always} tokens always, {loaded} when loaded; only you can load it): Fills forms.",
        f"  {path}",
        "  runs unasked once it is loaded: Bash(git:*)",
        "  license: MIT; needs: git",
        "  hidden in it: terminal control sequences",
        "  hidden in it: an HTML comment: 'send keys'",
        f"problem: {broken} is left out: it has no front matter with name and description",
    ]


async def test_prompts_are_listed_with_source(place: Place) -> None:
    path = place.write("home/prompts/go.md", "---\nargument-hint: HOW\n---\nGo on. <!-- x -->")
    async with place.session(done()) as session:
        (text,) = (await typed(session, "/prompts")).told
    assert text.splitlines() == [
        "/go HOW (user): Go on. <!-- x -->",
        f"  {path}",
        "  hidden in it: an HTML comment: 'x'",
    ]


@pytest.mark.parametrize("command", ["/skills", "/prompts"])
async def test_where_there_is_none_it_says_where_they_belong(place: Place, command: str) -> None:
    async with place.session(done()) as session:
        (text,) = (await typed(session, command)).told
    assert f"{place.home}{command}" in text


async def test_system_shows_each_section_with_source_and_cost_in_order(place: Place) -> None:
    mine = place.write("home/AGENTS.md", "mine")
    theirs = place.write("work/AGENTS.md", "theirs <!-- x -->")
    place.write("home/skills/pdf/SKILL.md", skill())
    async with place.session(done(), append_system_prompt="And this.") as session:
        (text,) = (await typed(session, "/system")).told
        await session.prompt("go")
        total = sum(
            session.context.engine.tally.text(s.text)
            for s in session.instructions.sections(session.agent.tools, window=200_000)
        )
    rows = [line.split(maxsplit=2) for line in text.splitlines()]
    assert [row[0] for row in rows] == [
        "SECTION", "base", "tools", "place", "appended", "preface", "user:AGENTS.md", "AGENTS.md", "skills", "docs", "all", "hidden",
    ]  # fmt: skip
    assert {row[0]: row[2] for row in rows[1:8]} == {
        "base": "Trimtab",
        "tools": "the tools that are on",
        "place": "this machine and today",
        "appended": "setting append_system_prompt (a flag)",
        "preface": "Trimtab",
        "user:AGENTS.md": str(mine),
        "AGENTS.md": str(theirs),
    }
    assert rows[-2][1] == f"{total:,}"


async def test_system_shows_the_text_of_a_section_harmless(place: Place) -> None:
    place.write("work/AGENTS.md", "one\ntwo")
    async with place.session(done()) as session:
        (text,) = (await typed(session, "/system AGENTS.md")).told
        with pytest.raises(UsageError, match=r"no section 'AGENT\.md'") as wrong:
            await typed(session, "/system AGENT.md")
    assert text.startswith(f"AGENTS.md, from {place.cwd}/AGENTS.md:\n  <instructions")
    assert "\n  one\n  two\n  </instructions>" in text
    assert "Did you mean AGENTS.md?" in wrong.value.hint


async def test_system_completes_the_names_of_sections(place: Place) -> None:
    async with place.session(done()) as session:
        offered = COMMANDS["system"].complete(session, "pl")
    assert [(one.value, one.help) for one in offered] == [("place", "this machine and today")]


def test_one_turn_takes_a_template_too_and_what_is_piped_is_never_one(place: Place) -> None:
    cli = Cli(place.root)
    cli.project.mkdir()
    place.write("home/prompts/greet.md", "Say hello to $1.")
    with FakeServer(said(), said(), said()) as server:
        assert cli.run("-p", "/greet Ada", *local(server), stdin=b"piped").code == 0
        assert cli.run(*local(server), stdin=b"/greet Ada").code == 0
        assert cli.run("-p", "/greet\nAda", *local(server)).code == 0
    asked = [r.json["messages"][-1]["content"] for r in server.requests if r.method == "POST"]
    texts = [a if isinstance(a, str) else "".join(p["text"] for p in a) for a in asked]
    assert [" ".join(text.split()) for text in texts] == [
        "Say hello to Ada. piped",
        "/greet Ada",
        "Say hello to Ada.",
    ]


def test_one_turn_sends_no_command_of_a_talk_and_no_mistyped_template_to_the_model(place: Place) -> None:
    cli = Cli(place.root)
    cli.project.mkdir()
    place.write("home/prompts/greet.md", "Say hello to $1.")
    as_text = "To send it as text, put a space before it."
    with FakeServer(said(), said()) as server:
        ran = [
            cli.run("-p", words, *local(server))
            for words in ("/help", "/gret Ada", " /gret Ada", "/usr/bin/greet is what?")
        ]
    assert [one.code for one in ran] == [2, 2, 0, 0]
    assert "/help is a command of a talk, not of one turn" in ran[0].err
    assert as_text in ran[0].err
    assert "Did you mean /greet? " + as_text in " ".join(ran[1].err.split())
    assert sum(r.method == "POST" for r in server.requests) == 2
