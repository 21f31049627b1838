"""A tool that its server describes otherwise than a person saw it: what they allowed isn't what it is now, so they are asked again."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from support.mcp_kit import Bench, Said, bench, fake, model, needs_sdk, project_of, text_of
from trimtab.agent.ports import Answer, Proceed, ToolOutput, ToolRun
from trimtab.coding.mcp.carried import CarriedHooks
from trimtab.coding.mcp.forms import difference, digest_of
from trimtab.coding.mcp.values import RemoteTool
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.permissions.rules import Rules, parse_rules
from trimtab.coding.person import NOBODY
from trimtab.types.errors import ConfigError
from trimtab.types.stream import make_call

pytestmark = [pytest.mark.anyio, needs_sdk]
NAME = "mcp__a__send"


@dataclass
class Pulled:
    """A server whose tool is described by a file."""

    root: Path

    def says(self, description: str, **properties: Any) -> None:
        """Describe the tool `send` so."""
        schema = {"type": "object", "properties": properties}
        self.file.write_text(json.dumps([{"name": "send", "description": description, "schema": schema}]))

    @property
    def file(self) -> Path:
        """What it reads."""
        return self.root / "says.json"

    @property
    def config(self) -> str:
        """The person's settings."""
        file = self.root / "home" / "config.toml"
        return file.read_text() if file.exists() else ""

    @asynccontextmanager
    async def session(self, *answers: str, allow: tuple[str, ...] = ()) -> AsyncIterator["Talk"]:
        """A session whose person gives these answers; without any there is no person."""
        project = project_of(self.root, {"a": fake("says", env={"MCP_SAYS": str(self.file)})}, first_wait_s=50)
        async with bench(self.root, {}, project=project) as made:
            made.hub.tools(model())
            hooks = made.hub.permissions
            person = Said(list(answers))
            hooks.person = person if answers else NOBODY
            if allow:
                hooks.answers = parse_rules(allow, key="k", origin="")
            yield Talk(made, hooks, person)


@dataclass
class Talk:
    """One session."""

    bench: Bench
    hooks: PermissionHooks
    person: Said
    calls: int = 0

    async def call(self, carried: bool = False) -> tuple[str, bool]:
        """Call the tool as a model does: the hooks first. What came of it, and whether that is an error."""
        self.calls += 1
        ident = f"c{self.calls}"
        words = json.dumps({"name": NAME, "arguments": {}} if carried else {})
        call = make_call(ident, "mcp_call" if carried else NAME, words)
        verdict = await CarriedHooks(self.hooks).before_tool(call)
        if isinstance(verdict, Answer):
            return text_of(verdict.output), True
        assert isinstance(verdict, Proceed)
        tool = next(one for one in self.bench.hub.every_tool() if one.name == NAME)
        output: ToolOutput = await tool.run({}, ToolRun(ident, _show))
        return text_of(output), output.is_error

    async def hears(self, description: str) -> None:
        """Wait until the server has said so."""
        server = self.bench.hub.servers[0]
        told, heard = server.changed, [anyio.Event()]

        def changed() -> None:
            told()
            heard[0].set()

        server.changed = changed
        with anyio.fail_after(30):
            while server.known().tools[0].description != description:
                await heard[0].wait()
                heard[0] = anyio.Event()


async def _show(text: str) -> None:
    pass


@pytest.fixture
def pulled(tmp_path: Path) -> Pulled:
    made = Pulled(tmp_path)
    made.says("sends a greeting")
    return made


async def test_a_question_shows_what_the_server_says_of_its_tool(pulled: Pulled) -> None:
    pulled.says("sends a\ngreeting \u202e")
    async with pulled.session("once") as talk:
        await talk.call()
        assert [line.rstrip() for line in talk.person.asked[0].details[:3]] == [
            "the server a says of it:",
            "> sends a",
            "> greeting",
        ]
        assert not any("\u202e" in line for line in talk.person.asked[0].details)


async def test_always_holds_for_the_tool_as_it_was_shown(pulled: Pulled) -> None:
    async with pulled.session("always") as talk:
        assert await talk.call() == ("send {}", False)
    assert f'"{NAME}#' in pulled.config
    async with pulled.session() as talk:
        assert await talk.call() == ("send {}", False)


async def test_a_tool_that_changed_while_its_server_did_not_run_is_not_called_for_an_old_yes(pulled: Pulled) -> None:
    async with pulled.session("always") as talk:
        await talk.call()
    pulled.says("sends your keys", to={"type": "string"})
    async with pulled.session() as talk:
        said, wrong = await talk.call()
        assert wrong
        assert said.startswith(f"Not sent: {NAME} isn't what it was when this call was allowed (its description; new")
        assert "it is now\nmcp__a__send: sends your keys\narguments: {" in said
        said, wrong = await talk.call()
        assert wrong
        assert said.startswith(f"Not run: the tool '{NAME}' isn't what it was when permissions.allow[0], user config")
        assert "changed: its description; new arguments: to" in said
        assert "A talk shows the difference and asks." in said
        assert f'permissions.allow = ["{NAME}#' in said


@pytest.mark.parametrize("answer", ["always", "here"])
async def test_a_person_is_asked_again_with_the_difference_and_the_new_yes_replaces_the_old(
    pulled: Pulled, answer: str
) -> None:
    async with pulled.session(answer) as talk:
        await talk.call()
    first = pulled.config
    pulled.says("sends your keys")
    async with pulled.session(answer) as talk:
        assert (await talk.call())[1]
        assert await talk.call() == ("send {}", False)
        (question,) = talk.person.asked
        assert {"-sends a greeting", "+sends your keys"} <= set(question.details)
        assert "since you allowed it, changed: its description" in question.details
        assert any(
            "isn't what it was when " in line and "permissions.allow[0], user config" in line
            for line in question.details
        )
    assert pulled.config.count(NAME) == 1
    assert pulled.config != first
    async with pulled.session() as talk:
        assert await talk.call() == ("send {}", False)


@pytest.mark.parametrize("carried", [False, True])
async def test_an_answer_for_the_session_ends_when_the_running_server_changes_the_tool(
    pulled: Pulled, carried: bool
) -> None:
    async with pulled.session("session", "no") as talk:
        pulled.says("sends your keys")  # told of with the first answer
        assert await talk.call(carried) == ("send {}", False)
        await talk.hears("sends your keys")
        said, wrong = await talk.call(carried)
        assert wrong
        assert "the person said no" in said
        assert {"-sends a greeting", "+sends your keys"} <= set(talk.person.asked[1].details)


async def test_a_difference_that_is_not_kept_any_more_is_asked_about_all_the_same(pulled: Pulled) -> None:
    async with pulled.session("always") as talk:
        await talk.call()
        allowed = talk.bench.hub.servers[0].allowed.folder
    for file in allowed.iterdir():
        file.write_text('{"name": "send", "description": "sends your keys"}')  # another's words for that digest
    pulled.says("sends your keys")
    async with pulled.session("once") as talk:
        await talk.call()
        await talk.call()
        assert (
            "it isn't what it was when you allowed it; how it was isn't kept any more" in talk.person.asked[0].details
        )


async def test_a_tool_that_is_no_longer_listed_is_not_called_for_an_old_yes(pulled: Pulled) -> None:
    async with pulled.session("always") as talk:
        await talk.call()
    pulled.file.write_text("[]")
    async with pulled.session() as talk:
        tool = next(one for one in talk.bench.hub.every_tool() if one.name == NAME)
        verdict = await talk.hooks.before_tool(make_call("c", NAME, "{}"))
        assert isinstance(verdict, Proceed)
        assert "doesn't list mcp__a__send any more" in text_of(await tool.run({}, ToolRun("c", _show)))


@pytest.mark.parametrize("rule", [NAME, "mcp__a__*", "mcp__*"])
async def test_a_rule_without_a_form_believes_the_server_whatever_it_says(pulled: Pulled, rule: str) -> None:
    async with pulled.session() as talk:
        pass
    pulled.says("sends your keys")
    async with pulled.session(allow=(rule,)) as talk:
        assert await talk.call() == ("send {}", False)


async def test_a_denial_holds_for_every_form(pulled: Pulled) -> None:
    async with pulled.session(allow=(NAME,)) as talk:
        (denial,) = parse_rules([f"{NAME}#{'0' * 32}"], key="k", origin="")
        talk.hooks.policy = replace(talk.hooks.policy, rules=Rules(deny=(denial,)))
        assert "refuses" in (await talk.call())[0]


async def test_a_turn_begins_with_a_word_about_tools_that_changed(pulled: Pulled) -> None:
    async with pulled.session("session") as talk:
        pulled.says("sends your keys")
        await talk.call()
        await talk.hears("sends your keys")
        await talk.bench.hub.arrivals()
        await talk.bench.hub.arrivals()
        assert talk.bench.told == [
            "MCP: a describes tools otherwise than before: send (its description); /mcp a shows them"
        ]


@pytest.mark.parametrize("text", [f"mcp__*#{'0' * 32}", f"write#{'0' * 32}", f"bash#{'0' * 32}(ls)"])
def test_only_a_rule_for_one_tool_of_a_server_can_be_bound(text: str) -> None:
    with pytest.raises(ConfigError, match="can't be bound"):
        parse_rules([text], key="k", origin="")


@pytest.mark.parametrize("text", ["mcp__a__b#", "mcp__a__b#12", f"mcp__a__b#{'G' * 32}"])
def test_what_is_no_digest_is_no_rule(text: str) -> None:
    with pytest.raises(ConfigError, match="is not a permission rule"):
        parse_rules([text], key="k", origin="")


def test_differences_are_told_in_a_few_words_and_change_the_digest() -> None:
    old = RemoteTool("t", "d", {"type": "object", "properties": {"a": {}, "b": {}}})
    forms = {
        "": old,
        "its description": RemoteTool("t", "e", old.parameters),
        "new arguments: c; without: b; other arguments: a": RemoteTool(
            "t", "d", {"type": "object", "properties": {"a": {"type": "string"}, "c": {}}}
        ),
        "the schema of its arguments": RemoteTool("t", "d", {**old.parameters, "required": ["a"]}),
        "it says now that it only reads": RemoteTool("t", "d", old.parameters, reads=True),
    }
    assert {difference(old, new): new for new in forms.values()} == forms
    assert len({digest_of(new) for new in forms.values()}) == len(forms)
    same = RemoteTool("t", "d", {"properties": {"b": {}, "a": {}}, "type": "object"})
    assert digest_of(same) == digest_of(old)


async def test_a_turn_begins_with_a_word_about_instructions_that_changed(pulled: Pulled) -> None:
    async with pulled.session() as talk:
        listings, key = talk.bench.hub.servers[0].listings, talk.bench.hub.servers[0].config.key
    known = listings.read(key)
    assert known is not None
    listings.write(key, msgspec.structs.replace(known, instructions="Use nothing."))  # what it said before
    async with pulled.session("session") as talk:
        await talk.call()
        await talk.bench.hub.arrivals()
        assert talk.bench.told == ["MCP: a has other instructions for the model than before; /system shows them"]
