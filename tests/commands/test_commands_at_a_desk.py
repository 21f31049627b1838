"""Commands that need no frontend: what they say and do, and what they offer to complete."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from commands.conftest import PlainDesk, Sitting
from trimtab.coding.commands.completing import completions
from trimtab.coding.commands.registry import COMMANDS
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import User

pytestmark = pytest.mark.anyio
ANSWER = "Take\n```py\nprint(1)\n```\nor\n~~~~\n```\ntwo\n~~~~\nand\n```\nopen"
READ = {"tool_calls": [{"name": "read", "arguments": {"path": "a.txt"}}]}


def content(file: Path) -> bytes:
    return file.read_bytes()


class Able(PlainDesk):
    """A desk with a clipboard, keys and colours."""

    copied = ""
    theme = ""

    async def copy(self, text: str) -> str:
        self.copied = text
        return "here"

    def keys(self) -> list[tuple[str, str]]:
        return [("F1", "helps")]

    def use_theme(self, name: str) -> None:
        self.theme = name


@pytest.mark.parametrize(("which", "text"), [("", ANSWER), ("1", "print(1)"), ("2", "```\ntwo"), ("3", "open")])
async def test_the_last_answer_or_a_block_of_it_is_copied(sitting: Sitting, which: str, text: str) -> None:
    async with sitting({"text": ANSWER}) as plain:
        await plain.session.prompt("hi")
        desk = Able(plain.session)
        assert await desk.run("copy", which) == f"copied {len(text)} characters here"
        assert desk.copied == text
        offered = completions(plain.session, "/copy ")
        assert [(one.value, one.help) for one in offered][:2] == [("/copy 1", "print(1)"), ("/copy 2", "``` two")]


@pytest.mark.parametrize(("which", "hint"), [("4", "It has 3 blocks."), ("x", "It has 3 blocks."), ("0", "It has 3 blocks.")])  # fmt: skip
async def test_a_block_that_there_is_not_is_said(sitting: Sitting, which: str, hint: str) -> None:
    async with sitting({"text": ANSWER}) as desk:
        with pytest.raises(UsageError, match="no answer yet"):
            await desk.run("copy")
        await desk.session.prompt("hi")
        with pytest.raises(UsageError) as refused:
            await desk.run("copy", which)
        assert refused.value.hint == hint


async def test_a_frontend_that_cannot_says_so(sitting: Sitting) -> None:
    async with sitting({"text": "x"}) as desk:
        await desk.session.prompt("hi")
        with pytest.raises(UsageError, match="reaches no clipboard"):
            await desk.run("copy")
        assert await desk.run("hotkeys") == "this frontend has no keys of its own"
        assert (await desk.run("theme")).splitlines()[-1] == "this frontend shows no colours"
        assert await Able(desk.session).run("hotkeys") == "F1  helps"


async def test_a_theme_is_kept_and_shown_at_once_where_there_are_colours(sitting: Sitting, tmp_path: Path) -> None:
    async with sitting() as plain:
        desk = Able(plain.session)
        assert "theme = " in await desk.run("theme", "dark")
        assert desk.theme == "dark"
        assert (await desk.run("theme")).startswith("theme: dark; there are: ")
        with pytest.raises(UsageError) as refused:
            await desk.run("theme", "drak")
        assert "Did you mean dark?" in refused.value.hint
    assert (tmp_path / "home" / "config.toml").read_text() == 'theme = "dark"\n'


@pytest.mark.parametrize("name", ["memory", "memo"])
async def test_what_is_kept_is_listed_shown_and_forgotten(sitting: Sitting, name: str) -> None:
    async with sitting(settings={"context": {"tools": "pilot"}}) as desk:
        assert await desk.run(name) == f"none is kept; /{name} add KEY TEXT keeps one"
        assert (await desk.run(name, "add port It is 4711.\nReally \x1b[2J so.")).splitlines()[0] == "kept port"
        assert await desk.run(name, "list") == "port (24 characters): It is 4711.".replace("24", "27")
        assert (await desk.run(name, "show port")).endswith("  It is 4711.\n  Really  so.")
        assert [one.value for one in completions(desk.session, f"/{name} show ")] == [f"/{name} show port"]
        assert [one.value for one in completions(desk.session, f"/{name} f")] == [f"/{name} forget"]
        assert await desk.run(name, "forget port") == "forgot port"
        with pytest.raises(UsageError, match="None is kept"):
            await desk.run(name, "show port")


@pytest.mark.parametrize("rest", ["show", "add", "add key", "forget", "nonsense", "add key   "])
@pytest.mark.parametrize("name", ["memory", "memo"])
async def test_half_a_wish_is_answered_with_the_whole_of_it(sitting: Sitting, name: str, rest: str) -> None:
    async with sitting() as desk:
        with pytest.raises(UsageError) as refused:
            await desk.run(name, rest.strip())
        assert refused.value.hint == f"/{name}, /{name} show KEY, /{name} add KEY TEXT, /{name} forget KEY."


async def test_a_memory_outlives_its_session_and_holds_no_secret(sitting: Sitting) -> None:
    async with sitting() as desk:
        said = await desk.run("memory", "add key use ghp_0123456789abcdefghij0123 there")
        assert "its tool `memory` is off" in said
    async with sitting() as desk:
        assert "[secret: token]" in await desk.run("memory", "show key")


async def test_who_keeps_a_memory_is_told_when_the_model_sees_it(sitting: Sitting) -> None:
    async with sitting({"text": "one"}) as desk:
        said = await desk.run("memory", "add port It is 4711.")
        assert (
            "the model doesn't see memories: its tool `memory` is off. `trimtab config set context.tools pilot`" in said
        )
        assert "is off" in await desk.run("memory")
    answers = (
        {"text": "one", "expect": {"contains": ["It is 4711.", "It was 4712."]}},
        {"text": "two", "expect": {"absent": ["It will be 4713."]}},
    )
    async with sitting(*answers, settings={"context": {"tools": "pilot"}}) as desk:
        assert "with your next words" in await desk.run("memory", "add before It was 4712.")
        assert (await desk.session.prompt("go")).text == "one"
        assert "when another session begins, after /reload, or when it looks" in await desk.run(
            "memory", "add later It will be 4713."
        )
        assert (await desk.session.prompt("go on")).text == "two"
        assert "begins" not in await desk.run("memory")


async def test_before_anything_was_asked_nothing_has_a_price(sitting: Sitting) -> None:
    async with sitting({"text": "one"}) as desk:
        said = await desk.run("cost")
        assert said.startswith("this session took nothing; the price of ")
        assert "$" not in said


async def test_a_pinned_item_stays_whatever_a_policy_wants(sitting: Sitting, folder: Path) -> None:
    (folder / "a.txt").write_text("port = 4711\n" * 50)

    def hide_all(seen: dict[str, Any]) -> list[dict[str, Any]]:
        return [{"action": "elide", "target": i["id"]} for i in seen["active_context"] if i["kind"] == "result"]

    expect = {"expect": {"contains": ["port = 4711"]}}
    script = [READ, {"text": "read"}, {"text": "still there", **expect}, {"text": "gone", "expect": {"absent": ["port = 4711"]}}]  # fmt: skip
    async with sitting(*script) as desk:
        await desk.session.prompt("read it")
        assert "nothing is pinned" in await desk.run("pin")
        name = completions(desk.session, "/pin ")[2].value.removeprefix("/pin ")
        assert "stays in view" in await desk.run("pin", name)
        assert "pinned already" in await desk.run("pin", name)
        assert (await desk.run("pin")).startswith(f"{name}: ")
        assert [one.value for one in completions(desk.session, "/unpin ")] == [f"/unpin {name}"]
        session = desk.session.id
    async with sitting(*script[2:], resume=session, policy=hide_all) as desk:
        assert (await desk.session.prompt("and now?")).text == "still there"
        assert "may leave the view" in await desk.run("unpin", name)
        assert "not pinned" in await desk.run("unpin", name)
        assert (await desk.session.prompt("and now?")).text == "gone"


async def test_a_pin_that_would_leave_no_request_is_refused_with_the_numbers(sitting: Sitting, folder: Path) -> None:
    (folder / "a.txt").write_text("".join(f"line {n} of many\n" for n in range(2_000)))
    settings = {"context": {"hard_tokens": 4_000, "soft_tokens": 3_900, "target_tokens": 3_800}}
    async with sitting(READ, {"text": "x"}, {"text": "y"}, settings=settings, policy="none") as desk:
        await desk.session.prompt("read it")
        offered = [one.value.removeprefix("/pin ") for one in completions(desk.session, "/pin ")]
        said: list[str] = []
        for name in offered:
            with suppress(UsageError):
                try:
                    await desk.run("pin", name)
                except TrimtabError as refused:
                    said.append(str(refused))
        assert any("a request may have 4,000. /unpin something first" in one for one in said)


@pytest.mark.parametrize(("command", "rest"), [("pin", "nowhere"), ("unpin", ""), ("unpin", "r9")])
async def test_an_item_that_there_is_not_is_said(sitting: Sitting, command: str, rest: str) -> None:
    async with sitting() as desk:
        with pytest.raises(UsageError):
            await desk.run(command, rest)


@pytest.mark.parametrize(
    ("rest", "name", "begins"),
    [
        ("", None, b"<!doctype html>"),
        ("out.md", "out.md", b"# "),
        ("out.jsonl openai", "out.jsonl", b'{"role"'),
        ("my notes --format md", "my notes", b"# "),
        ("jsonl", None, b'{"type":'),
    ],
)
async def test_a_session_is_written_down_and_nothing_is_replaced(
    sitting: Sitting, folder: Path, rest: str, name: str | None, begins: bytes
) -> None:
    async with sitting({"text": "Hello."}) as desk:
        await desk.session.prompt("Hi, my key is ghp_0123456789abcdefghij0123.")
        told = await desk.run("export", rest)
        file = Path(told.removeprefix("written to "))
        assert file.parent == folder
        assert name in (None, file.name)
        data = content(file)
        assert data.lower().startswith(begins)
        assert b"ghp_" not in data
        with pytest.raises(UsageError, match="is there already"):
            await desk.run("export", rest)
        assert content(file) == data
        assert os.listdir(folder) == [file.name]


async def test_a_session_that_is_kept_nowhere_cannot_be_written_down(sitting: Sitting) -> None:
    async with sitting(ephemeral=True) as desk:
        with pytest.raises(UsageError, match="kept nowhere"):
            await desk.run("export")


async def test_a_session_of_another_agent_is_taken_over(sitting: Sitting, folder: Path) -> None:
    (folder / "it.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": "assistant", "content": "hello"}\n')
    (folder / "no.jsonl").write_text("nothing\n")
    async with sitting() as desk:
        assert "is a session now: /resume " in await desk.run("import", "it.jsonl")
        assert "is here already" in await desk.run("import", "it.jsonl")
        for wrong in ("", "no.jsonl", "gone.jsonl", "."):
            with pytest.raises(TrimtabError, match=r".") as refused:
                await desk.run("import", wrong)
            assert refused.value.hint
        assert [one.value for one in completions(desk.session, "/import i")] == ["/import it.jsonl"]


async def test_every_command_has_completion_data_and_none_of_it_fails(sitting: Sitting) -> None:
    async with sitting() as desk:
        names = [one.value for one in completions(desk.session, "/")]
        assert names == [f"/{name}" for name in COMMANDS]
        for name in COMMANDS:
            assert all(one.value.startswith(f"/{name} ") for one in completions(desk.session, f"/{name} "))


async def test_files_are_offered_behind_an_at_in_any_text_and_for_templates(sitting: Sitting, folder: Path) -> None:
    (folder / "src").mkdir()
    (folder / "src" / "main.py").write_text("")
    (folder / "src" / ".hidden").write_text("")
    (folder / "src" / "two words").write_text("")
    (folder / "src" / "bad\x1b[2J").write_text("")
    (folder / ".trimtab" / "prompts").mkdir(parents=True)
    (folder / ".trimtab" / "prompts" / "review.md").write_text("Review $1.\n")

    def offered(line: str) -> list[str]:
        return [one.value for one in completions(desk.session, line)]

    async with sitting(trust="once") as desk:
        assert offered("look at @s") == ["look at @src/"]
        assert offered("look at @src/") == ["look at @src/main.py", r"look at @src/two\ words"]
        assert offered("@src/.h") == ["@src/.hidden"]
        assert offered("/review 12 @src/m") == ["/review 12 @src/main.py"]
        assert offered("see @src/tw") == [r"see @src/two\ words"]
        assert offered('see @"src/tw') == ['see @"src/two words"']
        assert offered("see (@'src/two w") == ["see (@'src/two words'"]
        assert offered('/review @"s') == ['/review @"src/']
        assert offered("/rev") == ["/revert", "/review"]
        assert offered("no at") == offered("@gone/x") == offered("mail a@b") == []


async def test_a_template_as_a_command_says_its_text_with_its_arguments(sitting: Sitting, folder: Path) -> None:
    (folder / ".trimtab" / "prompts").mkdir(parents=True)
    (folder / ".trimtab" / "prompts" / "review.md").write_text(
        "---\nargument-hint: FILE\n---\nReview $1 for ${2:-all}.\n"
    )
    async with sitting({"text": "x"}, trust="once") as desk:
        await desk.run("review", "'a b.py'")
        (said,) = (m for m in desk.session.messages if isinstance(m, User))
        assert "".join(getattr(part, "text", "") for part in said.parts).strip() == "Review a b.py for all."


async def test_edits_that_hold_and_calls_that_wait_are_offered(sitting: Sitting) -> None:
    async with sitting({"text": "one"}) as desk:
        await desk.session.prompt("go on")
        assert list(completions(desk.session, "/revert ")) == []
        await desk.run("pin", completions(desk.session, "/pin ")[0].value.removeprefix("/pin "))
        (edit,) = completions(desk.session, "/revert ")
        assert edit.help.endswith("of 1 item")
        await desk.run("revert", edit.value.removeprefix("/revert "))
        assert list(completions(desk.session, "/revert ")) == []
        desk.session.agent._parked["c1"] = "which \x1b[31mport?"
        assert [one.value for one in completions(desk.session, "/answer ")] == ["/answer c1"]
        assert "\x1b" not in completions(desk.session, "/answer c")[0].help
