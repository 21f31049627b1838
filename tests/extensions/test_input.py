"""Hooks at what a person says: another text, a note behind it, or nothing for the model at all; and what an extension can see and keep."""

from pathlib import Path
from typing import Any

import pytest

from support.agent_fakes import ends, says
from support.desks import Desk
from support.extended import talk
from support.instructed import Place
from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.extensions.points import Handled, Note, Rewrite
from trimtab.coding.extensions.shell import Ran, answer_of
from trimtab.types.errors import TrimtabError
from trimtab.types.messages import Image, Text, User

pytestmark = pytest.mark.anyio
HEAD = "import time\nfrom trimtab.extend import *\nAPI = 1\n"
DONE = says("done") + ends()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home and a project."""
    return Place(tmp_path)


def extension(place: Place, body: str, name: str = "mine") -> None:
    place.write(f"home/extensions/{name}.py", HEAD + body)


def said(session: Any) -> list[str]:
    """What the model read of the person."""
    users = [message for message in session.log.view() if isinstance(message, User)]
    return ["".join(part.text for part in message.parts if isinstance(part, Text)) for message in users]


@pytest.mark.parametrize(
    ("answer", "read", "told"),
    [
        ("None", "hello", ""),
        ("Rewrite(told.text.upper() + '\\u202e!')", "HELLO!", ""),
        ("Note('it is \\u202eMonday')", "hello\n[mine: it is Monday]", ""),
        ("Rewrite('  ')", "hello", "mine gave no text, or too long a one, in place of what you said; it stays"),
        ("Rewrite('x' * 1_000_001)", "hello", "mine gave no text, or too long a one, in place of what you said; it stays"),
        ("1 / 0", "hello", "mine failed at input, and is passed over: ZeroDivisionError: division by zero"),
        ("time.sleep(5)", "hello", "mine failed at input, and is passed over: no answer within 0.05 s"),
        ("Deny('no')", "hello", "mine failed at input, and is passed over: it answered a Deny, where Rewrite, Handled, Note is known"),
        ("Rewrite(7)", "hello", "mine failed at input, and is passed over: its Rewrite holds no text, or no arguments by name"),
    ],
)  # fmt: skip
async def test_what_a_person_says_may_be_changed_or_noted_and_what_fails_lets_it_be(
    place: Place, answer: str, read: str, told: str
) -> None:
    limit = ", limit_s=0.05" if "sleep" in answer else ""
    extension(place, f"def hear(told, here): return {answer}\ndef extend(api): api.on_input(hear{limit})\n")
    async with talk(place, DONE) as talking:
        turn = await talking.session.prompt("hello")
        assert (turn.reason, turn.text) == ("stop", "done")
        assert said(talking.session) == [read]
        assert [note for note in talking.notices if note.startswith("mine")] == ([told] if told else [])


async def test_what_is_seen_to_reaches_no_model_and_the_person_reads_the_answer(place: Place) -> None:
    extension(
        place,
        "def hear(told, here): return Handled('it is \\x1b[31mnoon') if told.text == 'time?' else None\n"
        "def extend(api): api.on_input(hear)\n",
    )
    async with talk(place, DONE) as talking:
        turn = await talking.session.prompt("time?")
        assert (turn.reason, turn.text, turn.steps, turn.ok) == ("stop", "", 0, True)
        assert said(talking.session) == []
        assert "mine: it is noon" in talking.notices
        assert (await talking.session.prompt("go on")).text == "done"


async def test_pictures_stay_and_hooks_hear_each_other(place: Place) -> None:
    extension(place, "def extend(api): api.on_input(lambda told, here: Rewrite(told.text + ' a'))\n", "a")
    extension(
        place, "def extend(api): api.on_input(lambda told, here: Rewrite(f'{told.text} b {told.pictures}'))\n", "b"
    )
    picture = Image("image/png", "aGk=")
    async with talk(place, DONE) as talking:
        await talking.session.prompt(User((Text("look"), picture)))
        (message,) = [one for one in talking.session.log.view() if isinstance(one, User)]
    assert message.parts == (Text("look a b 1"), picture)


@pytest.mark.parametrize(
    ("code", "out", "answer"),
    [
        (0, "", None),
        (0, "it is Monday", Note("it is Monday")),
        (0, '{"context": "it is Monday"}', Note("it is Monday")),
        (0, '{"text": "hello"}', Rewrite("hello")),
        (0, '{"decision": "block", "reason": "no"}', Handled("no")),
        (2, "", Handled("no")),
    ],
)
async def test_what_a_command_says_to_what_a_person_said(code: int, out: str, answer: object) -> None:
    assert await answer_of(Ran(code, out.encode(), "no" if code else ""), "input", _unheard) == answer


async def test_text_is_no_field_of_a_guard() -> None:
    with pytest.raises(HookFailed):
        await answer_of(Ran(0, b'{"text": "hello"}', ""), "tool_call", _unheard)


async def test_an_extension_sees_models_and_trust_and_keeps_records_and_labels_in_the_session(place: Place) -> None:
    extension(
        place,
        "def keep(rest, here):\n"
        "    here.record({'n': rest, 'odd': '\\ud800'})\n"
        "    here.label('kept')\n"
        "    return f'{here.trusted} {bool(here.models())} {[one[\"n\"] for one in here.records()]}'\n"
        "def bad(rest, here):\n"
        "    here.record({'x': 'y' * 1_000_001} if rest else {'x': here})\n"
        "def extend(api):\n    api.command('keep', keep)\n    api.command('bad', bad)\n",
    )
    extension(place, "def extend(api): api.command('peek', lambda rest, here: str(here.records()))\n", "other")
    async with talk(place, DONE, file=place.root / "s.jsonl") as talking:
        session = talking.session
        await session.prompt("hello")
        ran = Desk(session).run
        assert await ran("keep 1") == "True True ['1']"
        assert await ran("keep 2") == "True True ['1', '2']"
        assert await ran("peek") == "()"
        for rest, why in (("", "the record is no JSON"), (" x", "the record has 1,000,00")):
            with pytest.raises(TrimtabError, match=why):
                await ran(f"bad{rest}")
        assert session.log.archive.matches("kept")
        before = len(session.context.request().messages)
    async with talk(place, DONE, file=place.root / "s.jsonl") as talking:
        assert (await Desk(talking.session).run("keep 3")).endswith("['1', '2', '3']")
        assert len(talking.session.context.request().messages) == before


async def _unheard(_text: str) -> None:
    pass
