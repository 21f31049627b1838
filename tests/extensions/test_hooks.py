"""What hooks of extensions may do at each point, and what becomes of those that fail."""

import json
import threading
from pathlib import Path

import anyio
import pytest

from support.agent_fakes import Script, calls, ends, says
from support.extended import Answers, talk
from support.instructed import Place
from trimtab.coding.choose import Ephemeral
from trimtab.coding.commands.registry import commands_of, run_command
from trimtab.coding.extensions import events as events_module
from trimtab.coding.opening import open_session
from trimtab.types.messages import Text, User

pytestmark = pytest.mark.anyio

HEAD = "from trimtab.extend import *\nAPI = 1\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home and a project."""
    return Place(tmp_path)


def extension(place: Place, body: str, name: str = "mine") -> None:
    """An extension of the person's."""
    place.write(f"home/extensions/{name}.py", HEAD + body)


def writes(path: str = "a.txt", content: str = "x") -> list:
    """A call that writes a file."""
    return calls("write", json.dumps({"path": path, "content": content}), call_id="c1") + ends("tool_calls")


DONE = says("done") + ends()


async def test_a_hook_refuses_a_call_and_the_model_reads_why(place: Place) -> None:
    extension(
        place,
        "def extend(api):\n    api.on_tool_call(lambda call, here: Deny('not \\u202ethat'), match='write(*.txt)')\n",
    )
    async with talk(place, writes(), writes("b.md"), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [True, False]
        assert talking.results[0] == "Not run: not that"
    assert not (place.cwd / "a.txt").exists()
    assert (place.cwd / "b.md").exists()


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("def hook(call, here): raise KeyError('boom')", "KeyError: 'boom'"),
        ("def hook(call, here): raise SystemExit(0)", "SystemExit: 0"),
        ("async def hook(call, here): raise SystemExit(0)", "SystemExit: 0"),
        ("def hook(call, here):\n    import threading; threading.Event().wait()", "no answer within 0.2 s"),
        ("async def hook(call, here):\n    import anyio; await anyio.sleep_forever()", "no answer within 0.2 s"),
        ("def hook(call, here): return True", "it answered a bool"),
        ("def hook(call, here): return False", "it answered a bool"),
        ("def hook(call, here): return {'decision': 'deny'}", "it answered a dict"),
        ("def hook(call, here): return Deny", "it answered a type"),
        ("def hook(call, here): yield Deny('no')", "it answered a generator"),
        ("def hook(call, here): return Replace('x')", "it answered a Replace"),
        ("def hook(call, here): return Deny(7)", "holds no text"),
        ("def hook(call, here): return Change(['a'])", "holds no text, or no arguments"),
        ("def hook(call): return None", "TypeError"),
        ("def hook(call, here): raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("async def hook(call, here): raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("def hook(call, here): raise GeneratorExit", "GeneratorExit"),
        ("def hook(call, here):\n    import asyncio; raise asyncio.CancelledError", "CancelledError"),
        ("def hook(call, here): return hook(call, here)", "RecursionError"),
        (
            "async def hook(call, here):\n    import anyio\n    with anyio.CancelScope(shield=True): await anyio.sleep(0.3)",
            "no answer within 0.2 s",
        ),
        ("class E(Exception):\n    def __str__(self): 1 / 0\ndef hook(call, here): raise E", "E"),
    ],
)
async def test_a_guard_that_fails_refuses_the_call(place: Place, body: str, why: str) -> None:
    extension(place, f"{body}\ndef extend(api):\n    api.on_tool_call(hook, limit_s=0.2)\n")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [True]
        assert why in talking.results[0]
        assert any("mine failed at a call of write" in text for text in talking.notices)
    assert not (place.cwd / "a.txt").exists()


async def test_a_hook_changes_a_call_by_its_answer_alone(place: Place) -> None:
    body = "def hook(call, here): call.tool_input['content'] = 'changed'"
    extension(place, f"{body}\ndef extend(api):\n    api.on_tool_call(hook)\n")
    async with talk(place, writes(), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False]
    assert "changed" not in (place.cwd / "a.txt").read_text()


async def test_what_a_hook_changes_is_judged_by_the_permissions_and_checked_by_the_schema(place: Place) -> None:
    extension(
        place,
        "def hook(call, here):\n"
        "    path = call.tool_input['path']\n"
        "    if path == 'a.txt': return Change({'path': 'b.txt', 'content': 'changed'}, 'moved')\n"
        "    if path == 'out': return Change({'path': '/etc/nothing', 'content': ''})\n"
        "    return Change({'nonsense': 1})\n"
        "def extend(api):\n    api.on_tool_call(hook, match='write')\n",
    )
    async with talk(place, writes(), writes("out"), writes("else"), DONE) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False, True, True]
        assert "[mine: moved]" in talking.results[0]
        assert "/etc/nothing" in talking.results[1]
        assert "don't fit" in talking.results[2] or "path" in talking.results[2]
    assert (place.cwd / "b.txt").read_text() == "changed"
    assert not (place.cwd / "a.txt").exists()


async def test_a_changed_call_that_a_person_is_asked_about_runs_when_they_say_so(place: Place) -> None:
    extension(
        place,
        "def extend(api):\n    api.on_tool_call(lambda call, here: Change({'command': 'touch made'}), match='bash')\n",
    )
    person = Answers(["once"])
    call = calls("bash", '{"command": "ls"}', call_id="c1") + ends("tool_calls")
    async with talk(place, call, DONE, person=person) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [False]
    assert "$ touch made" in person.asked[0].details
    assert (place.cwd / "made").exists()


@pytest.mark.parametrize(("keys", "runs"), [(["once"], True), (["no"], False), ([], False)])
async def test_a_hook_may_let_the_person_decide(place: Place, keys: list[str], runs: bool) -> None:
    extension(place, "def extend(api):\n    api.on_tool_call(lambda call, here: Ask('is that wise?'))\n")
    person = Answers(keys)
    async with talk(place, writes(), DONE, person=person) as talking:
        await talking.session.prompt("go")
        assert talking.failed == [not runs]
    assert "mine says: is that wise?" in person.asked[0].details


async def test_a_result_is_replaced_and_added_to_and_a_failing_hook_is_told_once(place: Place) -> None:
    place.write("work/secret.txt", "token 123")
    extension(
        place,
        "def redact(result, here): return Replace(result.tool_response.replace('123', '***'))\n"
        "def extend(api):\n"
        "    api.on_tool_result(redact, match='read')\n"
        "    api.on_tool_result(lambda result, here: Note('seen ' + result.tool_response[-3:]))\n"
        "    api.on_tool_result(lambda result, here: 1 / 0)\n",
    )
    reads = calls("read", '{"path": "secret.txt"}', call_id="c1") + ends("tool_calls")
    async with talk(place, reads, reads, reads, reads, DONE) as talking:
        await talking.session.prompt("go")
        assert "***" in talking.results[0]
        assert "123" not in talking.results[0]
        assert "[mine: seen " in talking.results[0]
        assert [text for text in talking.notices if "failed" in text] == [
            "mine failed at tool_result, and is passed over: ZeroDivisionError: division by zero",
            "mine failed 3 times in a row at tool_result; it isn't asked any more",
        ]


async def test_a_note_before_a_request_is_recorded_behind_what_was_said(place: Place) -> None:
    extension(
        place,
        "def hook(request, here): return Note(f'{request.last_role} {request.last_text} {request.model}')\n"
        "def extend(api):\n    api.before_request(hook)\n",
    )
    async with talk(place, DONE) as talking:
        await talking.session.prompt("what?")
        provider = talking.session.agent.provider
        last = provider.requests[0].messages[-1]
        assert isinstance(last, User)
        assert [p.text for p in last.parts if isinstance(p, Text)][-1].endswith("[mine: user what? local/tiny]")
        assert [m.origin for m in talking.session.agent.messages if isinstance(m, User)] == ["prompt", "note"]
        assert [type(e).__name__ for e in talking.events or talking.watcher.pending()].count("MessageEnded") == 3


async def test_the_start_of_a_session_adds_to_the_system_prompt_and_its_end_is_told(place: Place) -> None:
    extension(
        place,
        "from pathlib import Path\n"
        "def start(told, here): return Note(f'resumed {told.resumed} in {Path(told.cwd).name}')\n"
        "def end(told, here): (here.state_folder() / 'ended').write_text(told.session_id)\n"
        "def extend(api):\n    api.on_session_start(start)\n    api.on_session_end(end)\n    api.section('count', count())\n"
        "def count():\n    n = []\n    return lambda: n.append(1) or f'turn {len(n)}'\n",
    )
    async with talk(place, DONE, DONE) as talking:
        await talking.session.prompt("hi")
        provider = talking.session.agent.provider
        assert "[mine: resumed False in work]" in provider.requests[0].system
        assert "turn 2" in provider.requests[0].system
        await talking.session.prompt("hi")
        identity = talking.session.log.header.id
    assert (place.home / "extensions" / "mine" / "ended").read_text() == identity


async def test_who_works_for_a_session_is_guarded_by_its_hooks_and_told_apart_from_it(place: Place) -> None:
    extension(
        place,
        "def guard(call, here): return Deny(call.session_id)\n"
        "def end(told, here): (here.state_folder() / 'ended').write_text(told.session_id)\n"
        "def extend(api):\n    api.on_tool_call(guard)\n    api.on_session_end(end)\n",
    )
    from trimtab.coding.subagent import run_subagent

    async with talk(place, DONE) as talking:
        parent = talking.session.log.header.id
        child = Script(writes(), DONE)
        result = await run_subagent(talking.session, "go", provider=child)
        assert f"Not run: {result.session_id}" in str(child.requests[1].messages)
    assert (place.home / "extensions" / "mine" / "ended").read_text() == parent


async def test_a_section_that_fails_is_left_out_and_a_start_that_fails_is_told(place: Place) -> None:
    extension(
        place,
        "def extend(api):\n"
        "    api.section('bad', lambda: 1 / 0)\n    api.section('odd', lambda: 7)\n"
        "    api.on_session_start(lambda told, here: 1 / 0)\n",
    )
    async with talk(place, DONE) as talking:
        assert (await talking.session.prompt("hi")).text == "done"
        assert [text.partition(":")[0] for text in talking.notices] == [
            "mine failed at session_start, and is passed over",
            "mine",
            "mine",
        ]


async def test_events_are_told_beside_the_session_and_deltas_only_to_who_names_them(place: Place) -> None:
    extension(
        place,
        "import json\n"
        "def hook(event, here):\n"
        "    with open(here.cwd / 'events', 'a') as f: f.write(type(event).__struct_config__.tag + '\\n')\n"
        "def extend(api):\n    api.on_event(hook, match='turn_* | message_*')\n",
    )
    async with talk(place, DONE) as talking:
        await talking.session.prompt("hi")
    assert (place.cwd / "events").read_text().split() == [
        "turn_started",
        "message_ended",
        "message_started",
        "message_ended",
        "turn_ended",
    ]


async def test_a_slow_listener_misses_events_and_never_slows_the_session(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events_module, "MOST", 2)
    gate = threading.Event()
    monkeypatch.setattr(threading, "gate_of_test", gate, raising=False)
    extension(
        place,
        "import threading\ndef extend(api):\n    api.on_event(lambda e, here: threading.gate_of_test.wait() and None)\n",
    )
    async with talk(place, DONE) as talking:
        with anyio.fail_after(10):
            await talking.session.prompt("hi")
        gate.set()
        with anyio.fail_after(10):
            while not any("mine was too slow, and missed" in text for text in talking.notices):
                await anyio.lowlevel.checkpoint()


async def test_a_listener_that_tells_something_does_not_hear_itself(place: Place) -> None:
    extension(
        place,
        "async def hook(event, here): await here.tell('heard')\ndef extend(api):\n    api.on_event(hook, match='notice')\n",
    )
    async with talk(place, DONE) as talking:
        await talking.session.tell("one")
        with anyio.fail_after(10):
            while "mine: heard" not in talking.notices:
                await anyio.lowlevel.checkpoint()
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert talking.notices.count("mine: heard") == 1


class Desk:
    """A desk that remembers."""

    def __init__(self, session) -> None:
        self.session, self.told, self.waiting = session, [], []

    def tell(self, text: str) -> None:
        self.told.append(text)

    def work(self, turn, *, is_turn: bool = True) -> None:
        self.waiting.append(turn)


async def test_commands_answer_in_words_or_say_something_to_the_model(place: Place) -> None:
    extension(
        place,
        "def up(rest, here): return rest.upper() + '\\x1b[31m'\n"
        "async def say(rest, here): return Say('please ' + rest)\n"
        "def odd(rest, here): return 7\n"
        "def extend(api):\n"
        "    api.command('up', up, help='shouts', arguments='TEXT')\n    api.command('say', say)\n"
        "    api.command('odd', odd)\n    api.command('bad', lambda rest, here: 1 / 0)\n",
    )
    async with talk(place, DONE) as talking:
        desk = Desk(talking.session)
        assert commands_of(talking.session)["up"].help == "shouts"
        await run_command(desk, "up", "hi")
        assert desk.told == ["HI"]
        await run_command(desk, "say", "go")
        await desk.waiting[0]()
        assert talking.session.agent.messages[0].parts[0].text == "please go"
        for name, why in (("odd", "answered a int"), ("bad", "ZeroDivisionError")):
            with pytest.raises(Exception, match=why):
                await run_command(desk, name, "")
        await run_command(desk, "extensions", "")
        assert desk.told[-1].startswith("mine (yours): command /up, command /say, command /odd, command /bad")


async def test_a_tool_asks_before_it_runs_and_what_it_gives_has_an_end(place: Place) -> None:
    extension(
        place,
        "def run(arguments, here):\n"
        "    if arguments.get('word') == 'bad': raise ValueError('no such word')\n"
        "    if arguments.get('word') == 'exit': raise SystemExit\n"
        "    if arguments.get('word') == 'odd': return 7\n"
        "    return 'y' * 100_000\n"
        "def extend(api):\n"
        "    api.tool('words', 'Looks words up.', run, parameters={'type': 'object', 'properties': {'word': {'type': 'string'}}})\n",
    )
    script = [
        calls("mine__words", json.dumps({"word": word}), call_id="c1") + ends("tool_calls")
        for word in ("long", "bad", "exit", "odd")
    ]
    async with talk(place, *script, DONE) as talking:
        await talking.session.prompt("go")
        assert all("mine__words" in text and text.startswith("Not run") for text in talking.results)
    async with talk(place, *script, DONE, permissions={"allow": ["mine__words"]}) as talking:
        await talking.session.prompt("go")
        long, bad, exits, odd = talking.results
        assert long.endswith("[cut: 48,800 more characters]")
        assert bad == "mine__words failed: ValueError: no such word"
        assert exits == "mine__words failed: SystemExit"
        assert odd == "mine__words failed: it gave a int and no text"


@pytest.mark.parametrize(
    ("output", "why"),
    [
        ("ToolOutput((5,))", "can't be recorded: ValidationError: Expected `object`, got `int`"),
        ("ToolOutput(None)", "can't be recorded: ValidationError"),
        ("ToolOutput.text(5)", "can't be recorded: ValidationError: Expected `str`, got `int`"),
        ("ToolOutput.text('a', details={'x': object()})", "can't be recorded: TypeError"),
        ("ToolOutput.text('a', is_error='yes')", "can't be recorded: ValidationError"),
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("(_ for _ in ()).throw(KeyboardInterrupt)", "KeyboardInterrupt"),
    ],
)
async def test_an_output_that_no_log_can_hold_is_a_failure_in_words(place: Place, output: str, why: str) -> None:
    extension(place, f"def extend(api):\n    api.tool('t', 'd', lambda arguments, here: {output})\n")
    async with talk(
        place, calls("mine__t", "{}", call_id="c1") + ends("tool_calls"), DONE, permissions={"allow": ["mine__t"]}
    ) as talking:
        turn = await talking.session.prompt("go")
        assert (turn.text, talking.failed) == ("done", [True])
        assert talking.results[0].startswith("mine__t failed: ")
        assert why in talking.results[0]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("yield 5", "it streamed a int, which is no event of a stream"),
        ("yield PartDelta(0, 'text', 5)", "its PartDelta makes no sense: ValidationError: Expected `str`, got `int`"),
        ("yield Ended('nonsense')", "its Ended makes no sense"),
        ("raise SystemExit(3); yield", "SystemExit: 3"),
        ("raise KeyboardInterrupt; yield", "KeyboardInterrupt"),
        ("import asyncio; raise asyncio.CancelledError; yield", "CancelledError"),
        ("yield 1 / 0", "ZeroDivisionError: division by zero"),
    ],
)
async def test_a_provider_that_streams_nonsense_or_raises_anything_gives_an_answer_that_failed(
    place: Place, body: str, why: str
) -> None:
    extension(
        place,
        "from trimtab.types.stream import Ended, PartDelta\n"
        f"class Odd:\n    async def stream(self, request):\n        {body}\n"
        "def extend(api):\n    api.provider('odd', Odd, models=[ModelConfig(id='one', context_window=9000)])\n",
    )
    async with open_session(place.project(model="odd/one"), Ephemeral()) as session:
        turn = await session.prompt("go")
        assert turn.error is not None
        assert turn.error.kind == "malformed"
        assert turn.error.message.startswith("the provider of extension mine failed: ")
        assert why in turn.error.message


async def test_a_cancel_of_the_turn_is_none_of_a_providers_failures(place: Place) -> None:
    extension(
        place,
        "import anyio\nclass Slow:\n    async def stream(self, request):\n        await anyio.sleep_forever()\n        yield\n"
        "def extend(api):\n    api.provider('slow', Slow, models=[ModelConfig(id='one', context_window=9000)])\n",
    )
    async with (
        open_session(place.project(model="slow/one"), Ephemeral()) as session,
        anyio.create_task_group() as group,
    ):

        async def cancel() -> None:
            while not session.busy:  # noqa: ASYNC110
                await anyio.sleep(0.01)
            session.cancel()

        group.start_soon(cancel)
        turn = await session.prompt("go")
        assert (turn.reason, turn.error) == ("cancelled", None)


async def test_tools_turned_on_by_name_are_those_of_extensions_too(place: Place) -> None:
    extension(
        place,
        "def extend(api):\n    api.tool('one', 'd', lambda a, h: '')\n    api.tool('two', 'd', lambda a, h: '')\n",
    )
    async with talk(place, DONE, tools={"enabled": ["read", "mine__two"]}) as talking:
        assert [tool.spec.name for tool in talking.session.agent.tools] == ["read", "mine__two"]


async def test_a_provider_of_an_extension_answers_and_its_policy_decides(place: Place) -> None:
    extension(
        place,
        "from trimtab.types.stream import Ended, PartDelta, PartStarted\n"
        "class Echo:\n"
        "    async def stream(self, request):\n"
        "        yield PartStarted(0, 'text')\n        yield PartDelta(0, 'text', 'echo')\n        yield Ended('stop')\n"
        "class Nothing:\n    name = 'nothing'\n    def decide(self, observation): return ()\n"
        "def extend(api):\n"
        "    api.provider('echo', Echo, models=[ModelConfig(id='one', context_window=9000)])\n"
        "    api.provider('broken', lambda: 1 / 0, models=[ModelConfig(id='one')])\n"
        "    api.policy('nothing', Nothing)\n",
    )
    from trimtab.types.errors import ConfigError, UsageError

    project = place.project(model="echo/one", context={"policy": "nothing"})
    async with open_session(project, Ephemeral()) as session:
        assert (await session.prompt("hi")).text == "echo"
        assert session.model.context_window == 9000
        assert session.context.policy == "nothing"
        with pytest.raises(ConfigError, match="the provider of extension mine can't be made: ZeroDivisionError"):
            await session.set_model("broken/one")
    from trimtab.context.policies.registry import find_policy

    with pytest.raises(UsageError, match="no policy 'nothing'"):
        find_policy("nothing")
