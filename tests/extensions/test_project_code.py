"""Code that a project brings runs as it was shown, after somebody said so, and not before."""

from pathlib import Path

import pytest

from support.agent_fakes import Script, calls, ends, says
from support.extended import Answers, talk
from support.instructed import Place
from trimtab.coding.choose import Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.subagent import run_subagent

pytestmark = pytest.mark.anyio

CODE = "API = 1\nfrom .part import word\ndef extend(api):\n    api.section('s', word)\n"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A project with an extension in two files."""
    there = Place(tmp_path)
    there.write("work/.trimtab/extensions/theirs/__init__.py", CODE)
    there.write("work/.trimtab/extensions/theirs/part.py", "word = 'one'\n")
    return there


async def section(place: Place, person: Answers, **more) -> tuple[str, list[str]]:
    """What the extension says in a session, and what the person is told."""
    async with talk(place, person=person, **more) as talking:
        await talking.session.choices.begin_turn()
        texts = [s.text for s in talking.session.extensions.sections()]
        return "".join(texts), talking.notices


async def test_new_code_is_asked_about_once_and_then_runs(place: Place) -> None:
    person = Answers(["yes"])
    assert await section(place, person, trust="folder") == ("one", [])
    (question,) = person.asked
    assert question.kind == "trust"
    assert question.default == "later"
    assert question.details == (
        ".trimtab/extensions/theirs/__init__.py: new, 75 bytes",
        ".trimtab/extensions/theirs/part.py: new, 13 bytes",
    )
    assert await section(place, Answers(), trust="folder") == ("one", [])


async def test_a_change_in_any_file_is_shown_as_one_and_asked_about(place: Place) -> None:
    await section(place, Answers(["yes"]), trust="folder")
    place.write("work/.trimtab/extensions/theirs/part.py", "word = 'two'\n")
    person = Answers(["later"])
    said, (notice,) = await section(place, person, trust="folder")
    assert said == ""
    assert "code of this project doesn't run: .trimtab/extensions/theirs/part.py is changed" in notice
    (question,) = person.asked
    assert "  -word = 'one'" in question.details
    assert "  +word = 'two'" in question.details
    assert await section(place, Answers(["yes"]), trust="folder") == ("two", [])


async def test_this_time_holds_for_a_reload_and_for_subagents_too(place: Place) -> None:
    place.write(
        "work/.trimtab/extensions/theirs/part.py",
        "from trimtab.extend import Deny, ModelConfig\nword = 'one'\n"
        "def guard(api):\n    api.on_tool_call(lambda call, here: Deny('guarded'))\n"
        "    api.provider('lent', lambda: None, models=[ModelConfig(id='m')])\n",
    )
    place.write("work/.trimtab/extensions/theirs/__init__.py", "API = 1\nfrom .part import guard as extend\n")
    call = calls("write", '{"path": "a.txt", "content": ""}', call_id="c1") + ends("tool_calls")
    async with talk(place, person=Answers(["once"]), trust="folder") as talking:
        session = talking.session
        child = Script(call, says("done") + ends())
        await run_subagent(session, "write a file", provider=child)
        assert "Not run: guarded" in str(child.requests[1].messages)
        again = session.project.moved_to(session.project.cwd)
        asked = Answers()
        async with open_session(again, Ephemeral(), provider=child, person=asked) as reloaded:
            assert len(reloaded.extensions.loaded) == 1
        assert asked.asked == []


async def test_this_time_is_not_stored(place: Place) -> None:
    assert (await section(place, Answers(["once"]), trust="folder"))[0] == "one"
    person = Answers(["show", "once"])
    assert (await section(place, person, trust="folder"))[0] == "one"
    assert "  word = 'one'" in person.asked[1].details
    assert "show" not in [option.key for option in person.asked[1].options]


async def test_where_nobody_is_there_it_does_not_run_and_a_notice_says_so(place: Place) -> None:
    place.write("work/.trimtab/extensions/theirs/__init__.py", "raise SystemError\n")
    said, (notice,) = await section(place, Answers())
    assert said == ""
    assert "trimtab trust code" in notice


@pytest.mark.parametrize("trust", ["never", None])
async def test_of_a_project_that_is_not_trusted_nothing_is_asked_about(place: Place, trust) -> None:
    person = Answers(["later"])
    async with talk(place, person=person, trust=trust) as talking:
        assert talking.session.extensions.loaded == ()
        assert not [q for q in person.asked if "code" in q.text]


async def test_what_was_shown_is_what_runs_whatever_becomes_of_the_file_meanwhile(place: Place) -> None:
    class Swaps(Answers):
        async def ask(self, question):
            place.write("work/.trimtab/extensions/theirs/part.py", "raise SystemError\n")
            return await super().ask(question)

    assert (await section(place, Swaps(["yes"]), trust="folder"))[0] == "one"
    assert (await section(place, Answers(), trust="folder"))[0] == ""


async def test_links_out_of_the_project_bring_no_code(place: Place) -> None:
    place.write("elsewhere/out.py", "raise SystemError\n")
    folder = place.cwd / ".trimtab" / "extensions"
    (folder / "out.py").symlink_to(place.root / "elsewhere" / "out.py")
    (folder / "theirs" / "more.py").symlink_to(place.root / "elsewhere" / "out.py")
    person = Answers(["yes"])
    said, told = await section(place, person, trust="folder")
    assert said == ""
    assert person.asked == []
    assert any("leads out of the project" in text for text in told)


async def test_a_hidden_turn_of_text_in_a_change_is_shown_as_its_code(place: Place) -> None:
    await section(place, Answers(["yes"]), trust="folder")
    place.write("work/.trimtab/extensions/theirs/part.py", "word = 'o\u202ene'\n\x1b[31m")
    person = Answers()
    await section(place, person, trust="folder")
    shown = "\n".join(person.asked[0].details)
    assert "\u202e" not in shown
    assert "\x1b" not in shown
    assert "<U+202E>" in shown
