"""A person is asked about what isn't allowed, one question at a time, and only an answer that was offered lets a call run."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from trimtab.agent.ports import Answer, Proceed
from trimtab.coding.permissions import Mode, PermissionHooks, Policy, Rules, parse_rule
from trimtab.coding.permissions.asking import visible
from trimtab.coding.permissions.grants import Grant
from trimtab.coding.permissions.hooks import Keep, Where
from trimtab.coding.person import NOBODY, Person, Question
from trimtab.coding.tools.paths import Workspace
from trimtab.types.errors import ConfigError
from trimtab.types.messages import ToolCall

pytestmark = pytest.mark.anyio


@dataclass
class Typist:
    """A person who gives these answers, one after the other, and then none."""

    answers: list[str | None] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        await anyio.lowlevel.checkpoint()
        return self.answers.pop(0) if self.answers else None


@dataclass
class Keeper:
    """Keeps rules in a list, or can't."""

    kept: list[tuple[str, Where]] = field(default_factory=list)
    fails: bool = False

    def keep(self, rule: str, where: Where) -> str:
        if self.fails:
            raise ConfigError("the file can't be changed")
        self.kept.append((rule, where))
        return "permissions.allow, user config (/c)"


def hooks_at(
    folder: Path,
    person: Person,
    *,
    mode: Mode = "auto-edit",
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    keep: Keep | None = None,
    **more: Any,
) -> PermissionHooks:
    rules = Rules(tuple(map(parse_rule, allow)), tuple(map(parse_rule, deny)))
    policy = Policy(mode, str(folder), "/home/me", rules, mode_origin="default")
    return PermissionHooks(policy, Workspace(folder, Path("/home/me")), "/usr/bin", person, keep, **more)


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("id", name, arguments, "")


def bash(command: str) -> ToolCall:
    return call("bash", command=command)


def text_of(told: Proceed | Answer) -> str:
    assert isinstance(told, Answer)
    (part,) = told.output.parts
    return getattr(part, "text", "")


def keys(question: Question) -> list[str]:
    return [option.key for option in question.options]


async def test_the_question_shows_the_whole_command_and_then_the_parts_that_are_not_allowed(tmp_path: Path) -> None:
    person = Typist(["once"])
    hooks = hooks_at(tmp_path, person, allow=("bash(npm test)",), keep=Keeper().keep)
    script = "npm test && ls |\n timeout 5 rm 'a b' > ../x"
    assert await hooks.before_tool(bash(script)) == Proceed()
    (question,) = person.asked
    assert (question.kind, question.text, question.default) == ("permission", "Run this command?", None)
    assert question.details == (
        "$ npm test && ls |",
        ">  timeout 5 rm 'a b' > ../x",
        "not allowed: rm 'a b': it may change things",
        "not allowed: > ../x: is outside the project",
        f"in {tmp_path}, mode auto-edit (default)",
    )
    assert keys(question) == ["once", "no", "tell"]  # no rule can say 'a b'


async def test_a_rule_that_an_answer_would_add_is_shown_and_no_wider_than_the_call(tmp_path: Path) -> None:
    person = Typist(["once"])
    await hooks_at(tmp_path, person, keep=Keeper().keep).before_tool(bash("ls; rm -rf build; pytest -q x"))
    (question,) = person.asked
    assert keys(question) == ["once", "session", "here", "always", "no", "tell"]
    assert {option.hint for option in question.options[1:4]} == {"bash(rm -rf build $), bash(pytest)"}


async def test_once_allows_once_and_session_from_then_on(tmp_path: Path) -> None:
    person = Typist(["once", "session"])
    hooks = hooks_at(tmp_path, person)
    for _ in range(4):
        assert await hooks.before_tool(bash("rm a")) == Proceed()
    assert len(person.asked) == 2
    assert [rule.text for rule in hooks.answers] == ["bash(rm a $)"]
    assert isinstance(await hooks.before_tool(bash("rm a b")), Answer)  # more words, asked again, not answered
    assert hooks.forget("bash(rm a $)")
    assert isinstance(await hooks.before_tool(bash("rm a")), Answer)


@pytest.mark.parametrize("where", ["here", "always"])
async def test_always_is_kept_and_holds_at_once(tmp_path: Path, where: Where) -> None:
    keeper = Keeper()
    hooks = hooks_at(tmp_path, Typist([where]), keep=keeper.keep)
    assert await hooks.before_tool(bash("rm a")) == Proceed()
    assert await hooks.before_tool(bash("rm a")) == Proceed()
    assert keeper.kept == [("bash(rm a $)", where)]
    assert [rule.origin for rule in hooks.current.rules.allow] == ["permissions.allow, user config (/c)"]


async def test_a_rule_that_cannot_be_kept_holds_for_the_session_and_that_is_said(tmp_path: Path) -> None:
    said: list[str] = []

    async def tell(text: str) -> None:
        said.append(text)

    hooks = hooks_at(tmp_path, Typist(["always"]), keep=Keeper(fails=True).keep, tell=tell)
    for _ in range(2):
        assert await hooks.before_tool(bash("rm a")) == Proceed()
    assert said == ["bash(rm a $) holds for this session only: the file can't be changed"]


async def test_a_no_and_its_reason_go_to_the_model(tmp_path: Path) -> None:
    hooks = hooks_at(tmp_path, Typist(["no", "tell", "use \ud800 make clean"]))
    advice = "\nDon't do it in another way either; go on without it, or ask what they want."
    assert text_of(await hooks.before_tool(bash("rm a"))) == f"Not run: the person said no.{advice}"
    told = await hooks.before_tool(bash("rm a"))
    assert text_of(told) == f"Not run: the person said no: use � make clean{advice}"
    assert isinstance(told, Answer)
    assert told.output.details == {"permission": "denied", "by": "person"}


@pytest.mark.parametrize("answer", [None, "yes", "", "always", "ONCE", "here"])
async def test_what_was_not_offered_allows_nothing(tmp_path: Path, answer: str | None) -> None:
    person = Typist([answer])
    told = await hooks_at(tmp_path, person).before_tool(bash("rm a"))  # nothing can be kept here
    assert len(person.asked) == 1
    assert text_of(told) == (
        "Not run: 'rm a' may change things.\nThe person was asked, and the question stands unanswered. Go on without it, or say what you need."
    )
    assert isinstance(told, Answer)
    assert told.output.details == {"permission": "denied", "by": "unanswered"}


async def test_without_a_person_it_is_said_what_would_allow_it(tmp_path: Path) -> None:
    told = text_of(await hooks_at(tmp_path, NOBODY).before_tool(bash("rm a")))
    assert "It isn't asked about in this mode; a person allows it with --permission full, or the setting" in told
    assert "was asked" not in told


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "full", "plan"])
async def test_what_a_rule_denies_is_never_asked_about(tmp_path: Path, mode: Mode) -> None:
    person = Typist(["once"] * 9)
    hooks = hooks_at(tmp_path, person, mode=mode, deny=("bash(git push)", "write(secret/**)", "wiki"))
    calls = (bash("ls; git push"), call("write", path="secret/x", content=""), call("wiki"), bash("ls > secret/x"))
    for each in calls:
        assert "a rule of permissions.deny refuses" in text_of(await hooks.before_tool(each))
    assert person.asked == []


async def test_plan_asks_nothing(tmp_path: Path) -> None:
    person = Typist(["once"] * 9)
    hooks = hooks_at(tmp_path, person, mode="plan", allow=("bash(npm test)",))
    for each in (bash("npm test"), bash("[[ a ]]"), call("write", path="x", content=""), call("wiki")):
        assert "Mode plan changes nothing" in text_of(await hooks.before_tool(each))
    assert person.asked == []


async def test_what_cannot_be_read_is_asked_about_whole(tmp_path: Path) -> None:
    person = Typist(["once"])
    hooks = hooks_at(tmp_path, person, keep=Keeper().keep)
    assert await hooks.before_tool(bash("[[ -f a ]] && rm a")) == Proceed()
    (question,) = person.asked
    assert question.details[:2] == ("$ [[ -f a ]] && rm a", "asked because the command can't be judged: it uses '[['")
    assert keys(question) == ["once", "no", "tell"]


async def test_in_mode_full_what_a_rule_of_denial_cannot_be_compared_with_is_asked_about(tmp_path: Path) -> None:
    person = Typist(["once", "no"])
    hooks = hooks_at(tmp_path, person, mode="full", deny=("bash(git push)",))
    assert await hooks.before_tool(bash("[[ a ]]")) == Proceed()
    assert isinstance(await hooks.before_tool(bash("[[ a ]]")), Answer)


async def test_an_edit_is_shown_as_a_diff_of_the_file_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\r\ntwo\r\n\tthree\r\n")
    person = Typist(["session", "no"])
    hooks = hooks_at(tmp_path, person, mode="ask")
    edit = call("edit", path="a.txt", edits=[{"old": "two", "new": "2"}])
    assert await hooks.before_tool(edit) == Proceed()
    (question,) = person.asked
    assert question.text == "Edit this file?"
    assert question.details == (
        f"edit {tmp_path}/a.txt",
        "@@ -1,3 +1,3 @@",
        " one",
        "-two",
        "+2",
        "    three",
        "asked because a.txt is not edited in mode ask",
        f"in {tmp_path}, mode ask (default)",
    )
    assert question.options[1].hint == f"write({tmp_path}/a.txt)"
    assert await hooks.before_tool(edit) == Proceed()  # the rule of the answer
    assert isinstance(await hooks.before_tool(call("write", path="b", content="x")), Answer)


async def test_a_new_file_is_shown_as_it_would_be_and_a_long_one_in_part(tmp_path: Path) -> None:
    person = Typist()
    hooks = hooks_at(tmp_path, person, mode="ask")
    content = "".join(f"line {number}\n" for number in range(500)) + "x" * 1_000
    await hooks.before_tool(call("write", path="new", content=content))
    details = person.asked[0].details
    assert details[1:3] == ("(a new file)", "@@ -0,0 +1,501 @@")
    assert details[3] == "+line 0"
    assert details[-3] == "… and 384 more lines"
    assert sum(map(len, details)) < 30_000


async def test_a_person_sees_all_of_a_long_change_before_they_answer(tmp_path: Path) -> None:
    person = Typist(["more", "once"])
    content = "".join(f"line {number}\n" for number in range(500)) + "x" * 1_000
    assert (
        await hooks_at(tmp_path, person, mode="ask").before_tool(call("write", path="new", content=content))
        == Proceed()
    )
    part, whole = person.asked
    assert (keys(part)[-1], "more" in keys(whole)) == ("more", False)
    assert f"+{'x' * 1_000}" in whole.details
    assert [line for line in whole.details if line.startswith("+line")] == [f"+line {number}" for number in range(500)]


async def test_what_nobody_could_read_whole_ends_with_how_much_it_is(tmp_path: Path) -> None:
    person = Typist(["more", "no"])
    await hooks_at(tmp_path, person, mode="ask").before_tool(call("write", path="new", content="word \n" * 200_000))
    assert person.asked[1].details[-3].endswith("characters in 200,002 lines")
    assert sum(map(len, person.asked[1].details)) < 401_000


async def test_a_short_change_has_no_more_to_show(tmp_path: Path) -> None:
    person = Typist(["more"])
    told = await hooks_at(tmp_path, person, mode="ask").before_tool(call("write", path="new", content="a\n"))
    assert isinstance(told, Answer)
    assert [keys(question)[-1] for question in person.asked] == ["tell"]


async def test_in_mode_ask_a_file_outside_the_project_is_said_to_be_outside(tmp_path: Path) -> None:
    (project := tmp_path / "p").mkdir()
    person = Typist()
    for path in ("../b.txt", "b.txt"):
        await hooks_at(project, person, mode="ask").before_tool(call("write", path=path, content=""))
    assert [question.details[-2] for question in person.asked] == [
        "asked because ../b.txt is outside the project, and is not edited in mode ask",
        "asked because b.txt is not edited in mode ask",
    ]


async def test_an_edit_that_does_not_fit_is_shown_as_it_was_sent(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    person = Typist()
    await hooks_at(tmp_path, person, mode="ask").before_tool(call("edit", path="a.txt", old="two", new="2"))
    assert person.asked[0].details[1].startswith("(no diff: ")
    assert person.asked[0].details[2:4] == ("-two", "+2")


@pytest.mark.parametrize("content", [b"\0\1\2", b"\xff\xfe\xff", b""])
async def test_whatever_a_file_holds_an_edit_of_it_can_be_asked_about(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").write_bytes(content)
    person = Typist(["once", "once"])
    hooks = hooks_at(tmp_path, person, mode="ask")
    assert await hooks.before_tool(call("write", path="a", content="x\n")) == Proceed()
    assert (
        await hooks.before_tool(call("edit", path="a", edits="no json")) == Proceed()
    )  # and the tool says what is wrong


async def test_a_link_out_of_the_project_is_named_with_where_it_leads(tmp_path: Path) -> None:
    project, outside = tmp_path / "p", tmp_path / "out"
    project.mkdir()
    outside.mkdir()
    (project / "link").symlink_to(outside)
    person = Typist()
    await hooks_at(project, person).before_tool(call("write", path="link/x", content=""))
    assert person.asked[0].details[0] == f"write {project}/link/x, which is {outside}/x"


async def test_a_like_name_that_edit_would_take_is_judged_as_the_file_that_it_is(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (tmp_path / "outside").write_text("x")
    (project / "a b").symlink_to(tmp_path / "outside")
    person = Typist()
    told = await hooks_at(project, person).before_tool(call("edit", path="a\u00a0b", old="x", new="y"))
    assert "is outside the project" in text_of(told)


async def test_places_that_are_kept_apart_are_always_asked_about(tmp_path: Path) -> None:
    places = (
        ".git/hooks/pre-commit",
        ".trimtab/config.toml",
        "sub/.agents/skills/x/SKILL.md",
        "sub/.mcp.json",
        ".envrc",
    )
    person = Typist(["once"] * len(places))
    hooks = hooks_at(tmp_path, person, allow=("write(**)", "write"), keep=Keeper().keep)
    for path in places:
        assert await hooks.before_tool(call("write", path=path, content="")) == Proceed()
    assert [keys(question) for question in person.asked] == [["once", "no", "tell"]] * len(places)


async def test_another_tool_shows_its_arguments_and_is_allowed_by_name(tmp_path: Path) -> None:
    person = Typist(["session"])
    hooks = hooks_at(tmp_path, person, keep=Keeper().keep)
    assert await hooks.before_tool(call("wiki", url="http://h/\x1b[2J", n=1)) == Proceed()
    (question,) = person.asked
    assert question.text == "Call the tool wiki?"
    assert question.details[:2] == ('url = "http://h/\\u001b[2J"', "n = 1")
    assert keys(question) == ["once", "session", "no", "tell"]  # a file can't name a tool that other sessions lack
    assert await hooks.before_tool(call("wiki", url="x")) == Proceed()


async def test_what_cannot_be_shown_whole_is_no_question(tmp_path: Path) -> None:
    person = Typist(["once"])
    told = await hooks_at(tmp_path, person).before_tool(bash("rm " + "x" * 40_000))
    assert isinstance(told, Answer)
    assert person.asked == []


HOSTILE = "ls \x1b[2J\u202e\u200b\ttxt.exe\rrm\x07 \u3164 \ud800"


async def test_what_nobody_sees_in_a_command_stands_as_its_code(tmp_path: Path) -> None:
    person = Typist()
    hooks = hooks_at(tmp_path, person, mode="ask")
    await hooks.before_tool(bash(f"{HOSTILE}\n  1  once: yes"))
    await hooks.before_tool(call("write", path="a\n$ ls", content=HOSTILE))
    first, second = (question.details for question in person.asked)
    assert first[0] == r"$ ls \x1b[2J\u202e\u200b\ttxt.exe\rrm\x07 \u3164 \ud800"
    assert first[1] == ">   1  once: yes"
    assert all(line.isprintable() for question in person.asked for line in (question.text, *question.details))
    assert any(line.startswith("+") and r"\x1b[2J" in line for line in second)
    assert [option.key for option in person.asked[1].options] == ["once", "no", "tell"]  # no rule can say that name


def test_letters_of_any_script_are_shown_as_they_are() -> None:
    assert visible("naïve 日本 हिन्दी e\u0301 …") == "naïve 日本 हिन्दी e\u0301 …"


async def test_calls_that_come_together_are_asked_about_one_after_the_other(tmp_path: Path) -> None:
    open_now, most = 0, 0

    class Slow:
        async def ask(self, question: Question) -> str | None:
            nonlocal open_now, most
            open_now += 1
            most = max(most, open_now)
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
            open_now -= 1
            return "session"

    hooks = hooks_at(tmp_path, Slow())
    told: list[object] = []

    async def one(command: str) -> None:
        told.append(await hooks.before_tool(bash(command)))

    async with anyio.create_task_group() as group:
        for command in ("rm a", "rm b", "rm a", "rm b"):
            group.start_soon(one, command)
    assert (told, most) == ([Proceed()] * 4, 1)
    assert sorted(rule.text for rule in hooks.answers) == [
        "bash(rm a $)",
        "bash(rm b $)",
    ]  # the second of each wasn't asked


async def test_a_cancelled_question_leaves_the_next_one_free(tmp_path: Path) -> None:
    class Absent:
        async def ask(self, question: Question) -> str | None:
            await anyio.sleep_forever()

    hooks = hooks_at(tmp_path, Absent())
    with anyio.move_on_after(0.05) as scope:
        await hooks.before_tool(bash("rm a"))
    assert scope.cancelled_caught
    hooks.person = Typist(["once"])
    assert await hooks.before_tool(bash("rm a")) == Proceed()


async def test_rules_that_are_granted_for_now_hold_as_long_as_they_are(tmp_path: Path) -> None:
    grants = [Grant((parse_rule("bash(npm test)"),))]
    granted: Callable[[], Grant] = lambda: grants[0]  # noqa: E731
    hooks = hooks_at(tmp_path, NOBODY, deny=("bash(npm test --all)",), granted=granted)
    assert await hooks.before_tool(bash("npm test")) == Proceed()
    assert isinstance(await hooks.before_tool(bash("npm test --all")), Answer)
    grants[0] = Grant()
    assert isinstance(await hooks.before_tool(bash("npm test")), Answer)


async def test_another_mode_holds_from_the_next_call_on(tmp_path: Path) -> None:
    hooks = hooks_at(tmp_path, NOBODY)
    write = call("write", path="a", content="")
    assert await hooks.before_tool(write) == Proceed()
    hooks.set_mode("plan")
    assert isinstance(await hooks.before_tool(write), Answer)
    hooks.set_mode("full")
    assert await hooks.before_tool(bash("rm a")) == Proceed()
    assert hooks.current.by_mode.words == "mode full (set in this session)"


async def test_an_answer_counts_for_what_was_shown_and_not_for_what_a_link_became_meanwhile(tmp_path: Path) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (tmp_path / "theirs").write_text("")
    link = project / "link"
    link.write_text("")

    class Swapped(Typist):
        async def ask(self, question: Question) -> str | None:
            if not link.is_symlink():
                link.unlink()
                link.symlink_to(tmp_path / "theirs")
            return await Typist.ask(self, question)

    person = Swapped(["once", "no"])
    hooks = hooks_at(project, person, mode="ask")
    assert isinstance(await hooks.before_tool(call("write", path="link", content="")), Answer)
    assert "which is" not in person.asked[0].details[0]
    assert person.asked[1].details[0] == f"write {link}, which is {tmp_path}/theirs"


async def test_a_mode_that_is_set_while_a_question_is_open_holds_for_its_call(tmp_path: Path) -> None:
    class Planner(Typist):
        async def ask(self, question: Question) -> str | None:
            hooks.set_mode("plan")
            return await Typist.ask(self, question)

    hooks = hooks_at(tmp_path, Planner(["session"]))
    assert "Mode plan changes nothing" in text_of(await hooks.before_tool(bash("rm a")))
    assert hooks.answers == ()


async def test_what_is_granted_for_now_opens_no_place_that_is_kept_apart(tmp_path: Path) -> None:
    granted = Grant((parse_rule("write(.git/**)"), parse_rule("write(/tmp/x)")))
    hooks = hooks_at(tmp_path, NOBODY, granted=lambda: granted)
    assert isinstance(await hooks.before_tool(call("write", path=".git/hooks/x", content="")), Answer)
    assert await hooks.before_tool(call("write", path="/tmp/x", content="")) == Proceed()
