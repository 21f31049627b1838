"""The shortcut over what is known to be sound never says more than the full check: here where only the sum of all texts breaks a limit."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.conversations import picture
from support.engine_session import Session, model
from support.pictures import png
from trimtab.context.actions import Action
from trimtab.context.cycle import faults
from trimtab.context.cycle.faults import faultfinder
from trimtab.context.cycle.sound import grown, sound_of
from trimtab.context.engine import Engine
from trimtab.context.validate import rules_for, validate
from trimtab.context.validate.media import front_bytes, media_faults, text_bytes
from trimtab.context.window.view import View
from trimtab.types.edits import Compact
from trimtab.types.errors import ContextFloor
from trimtab.types.messages import Assistant, Image, Text, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo
from trimtab.types.tools import ToolSpec

LIMIT = 20_000


def limited(limit: int = LIMIT) -> ModelInfo:
    """A model whose server takes so many bytes and no more, in a window that is far from full."""
    return model(200_000, api="openai-chat", input=("text", "image"), compat={"media": {"request_bytes": limit}})


def worked(view: View, number: int, text: str) -> View:
    """The view after one more call and its result."""
    call = ToolCall(f"c{number}", "read", {}, "{}")
    view = view.with_message(f"a{number}", Assistant((call,), "tool_use", provider="p", model="m"))
    return view.with_message(f"r{number}", ToolResult(call.id, "read", (Text(text),), is_error=False))


@settings(max_examples=60)
@given(st.lists(st.integers(0, 6_000), min_size=1, max_size=12), st.booleans())
def test_step_by_step_the_bytes_of_all_texts_count_as_they_do_at_once(sizes: list[int], pictured: bool) -> None:
    rules = rules_for(limited())
    parts = (Text("go on"), picture(png())) if pictured else (Text("go on"),)
    view = View().with_message("u", User(parts))
    sound = sound_of(view)
    for number, size in enumerate(sizes):
        view = worked(view, number, "x" * size)
        assert sound is not None
        whole = not validate(view.messages(), rules=rules)
        sound = grown(sound, view, rules, lambda _view, _shown: True)
        assert (sound is not None) == whole
        if sound is None:
            return
        assert sound.bytes == sum(text_bytes(message) for message in view.messages())


def test_behind_a_compaction_what_is_kept_of_a_view_is_about_what_it_shows() -> None:
    view = View().with_message("u", User((Text("see"), picture(png()))))
    view = worked(worked(view, 1, "x" * 900), 2, "y" * 900)
    view = view.with_edit("e", Compact(targets=("u", "a1", "r1"), summary="They saw it."))
    view = view.with_message("u2", User((Text("and this"), picture(png()))))
    sound = sound_of(view)
    assert sound is not None
    assert sound.bytes == sum(text_bytes(message) for message in view.messages())
    assert sound.pictured == {len(view.slots) - 1: (view.messages()[-1],)}


def test_many_small_results_together_are_too_much_for_the_server_and_are_taken_out_or_told() -> None:
    session = Session(Engine(limited(), session_id="s"))
    session.say("look at all of them")
    sent = 0
    stop = ""
    for number in range(40):
        try:
            messages = session.prepare().request.messages
        except ContextFloor as problem:
            stop = str(problem)
            break
        assert next(media_faults(messages, rules_for(session.engine.model).media, fixed_bytes=0), None) is None
        sent += 1
        session.work("x" * 1_000 + str(number))
    assert sent > 10
    assert "bytes" in stop


def test_what_an_edit_takes_out_makes_room_in_that_limit() -> None:
    view = View().with_message("u", user("go on"))
    finder = faultfinder(limited(), has_way=lambda _slot, _text: True)
    session = Session(Engine(limited(), session_id="s"))
    session.say("look at all of them")
    for number in range(16):
        session.prepare()
        session.work("x" * 1_000 + str(number))
    assert session.act(Action("drop", tuple(f"c{n}" for n in range(1, 9)))).done
    for number in range(6):
        session.prepare()
        session.work("y" * 1_000 + str(number))
    assert finder(session.view) == frozenset()
    assert finder(worked(view, 99, "z" * LIMIT)) != frozenset()


def test_a_picture_and_the_texts_share_the_limit() -> None:
    rules = rules_for(limited(2_000 + len(picture(png()).data)))
    base = View().with_message("u", User((Text("see"), picture(png()))))
    sound = sound_of(base)
    assert sound is not None
    fits, over = worked(base, 1, "x" * 1_500), worked(base, 1, "x" * 2_500)
    assert grown(sound, fits, rules, lambda _view, _shown: True) is not None
    assert grown(sound, over, rules, lambda _view, _shown: True) is None


# What stands in front of the messages

TOOL = ToolSpec("look", "Look at a thing. " * 200, {"type": "object", "properties": {"what": {"type": "string"}}})


def test_system_prompt_and_tools_count_in_the_limit_of_a_request() -> None:
    session = Session(Engine(limited(), session_id="s"), system="rule " * 2_000, tools=(TOOL,))
    session.say("look at all of them")
    fixed = front_bytes(session.system, session.tools)
    assert fixed > 10_000
    sent: list[int] = []
    stop = ""
    while not stop:
        try:
            messages = session.prepare().request.messages
        except ContextFloor as problem:
            stop = str(problem)
        else:
            sent.append(fixed + sum(text_bytes(message) for message in messages))
            session.work("x" * 1_000 + str(len(sent)))
    assert 2 < len(sent) < 8
    assert max(sent) <= LIMIT
    assert "bytes" in stop


def test_a_longer_system_prompt_is_seen_behind_messages_that_were_sound() -> None:
    session = Session(Engine(limited(), session_id="s"))
    session.say("look")
    session.work("x" * 5_000)
    session.prepare()
    session.engine.front = None
    session.system = "rule " * 4_000
    with pytest.raises(ContextFloor, match="bytes"):
        session.prepare()


def test_a_picture_gives_way_where_it_fits_only_without_the_system_prompt() -> None:
    seen = picture(png() + bytes(6_000))
    session = Session(Engine(limited(4_000 + len(seen.data)), session_id="s"), system="rule " * 1_000)
    session.log.append([User((Text("see"), seen), origin="prompt")])
    session.answer(Text("I see"))
    session.say("go on")
    messages = session.prepare().request.messages
    assert not any(isinstance(part, Image) for message in messages for part in message.parts)


def test_the_front_is_measured_once_and_only_for_a_wire_with_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    measured: list[str] = []
    monkeypatch.setattr(
        faults, "front_bytes", lambda system, tools: measured.append(system) or front_bytes(system, tools)
    )
    for info, times in ((model(api="scripted"), 0), (limited(), 1)):
        session = Session(Engine(info, session_id="s"))
        session.say("look")
        for number in range(5):
            session.prepare()
            session.work(f"found {number}")
        assert len(measured) == times


def test_an_edit_that_takes_out_too_little_is_made_all_the_same() -> None:
    session = Session(Engine(limited(), session_id="s"))
    session.say("look at all of them")
    session.work("x" * 12_000, "y" * 12_000, "z" * 12_000)
    with pytest.raises(ContextFloor, match="bytes"):
        session.prepare()
    assert session.act(Action("drop", ("c1",))).done
    assert session.act(Action("drop", ("c2",))).done
    assert session.prepare()
