"""Whatever tools a model has and whatever it sends: what leaves the window can be read again as its stub says, or it doesn't leave."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.engine_session import Outside, Session, call_of, lines, model, shown_texts
from trimtab.context.actions import Action
from trimtab.context.asks import Failed, Keep
from trimtab.context.editing.compacting import Compactor
from trimtab.context.editing.housekeeping import housekeeping
from trimtab.context.editing.runs import places_of
from trimtab.context.engine import Engine
from trimtab.context.markers import hides
from trimtab.context.settings import EngineSettings
from trimtab.context.shorten.arguments import string_values
from trimtab.context.summary.job import Summariser
from trimtab.context.tools.archive import ArchiveArguments
from trimtab.context.tools.arguments import read
from trimtab.context.tools.host import ToolReply
from trimtab.context.window.slots import Slot
from trimtab.context.window.view import View
from trimtab.types.edits import Compact, Elide, Offload, Restore, edit_kind
from trimtab.types.messages import Assistant, Text, ToolCall, ToolResult, user
from trimtab.types.models import ModelInfo, ModelRequest, Price
from trimtab.types.usage import Usage

DEEP = '{"content":' + "[" * 100_000


def asked(*calls: ToolCall) -> View:
    """A prompt and an answer with these calls, all of them answered well."""
    view = View().with_message("u", user("go on")).with_message("a", Assistant(calls, "tool_use"))
    for call in calls:
        view = view.with_message(f"t-{call.id}", ToolResult(call.id, call.name, (Text("ok"),), is_error=False))
    return view


# Degenerate JSON


@pytest.mark.parametrize("name", ["memo", "archive", "memory"])
def test_arguments_that_nest_without_end_are_no_housekeeping(name: str) -> None:
    view = asked(ToolCall("c", name, None, DEEP))
    assert housekeeping(view, range(len(view.slots)), is_large=lambda _: False) == ()


def test_an_edit_with_arguments_that_nest_without_end_folds_and_shows_them_as_they_are() -> None:
    view = asked(call_of("c", "write", {"path": "a", "content": "x"}))
    shown = view.with_edit("e", Offload(targets=("a#0",), arguments={"a#0": DEEP})).messages()[1]
    assert isinstance(shown, Assistant)
    assert [(call.raw, call.arguments) for call in shown.tool_calls] == [(DEEP, None)]


def test_a_tool_answers_arguments_that_nest_without_end_in_words() -> None:
    ids = read(ArchiveArguments, {"action": "archive", "ids": "[" * 100_000}, lists=("ids",))
    assert isinstance(ids, ArchiveArguments)
    deep: dict[str, Any] = {}
    for _ in range(5_000):
        deep = {"k": deep}
    assert isinstance(read(ArchiveArguments, {"action": "archive", "ids": ["r1"], "summary": deep}), ToolReply)


# Small texts that a context tool keeps


@given(st.sampled_from(["memo", "archive", "memory"]), st.integers(0, 40))
def test_what_a_context_tool_keeps_becomes_a_pointer_or_stays_and_nothing_is_refused(name: str, sentences: int) -> None:
    text = "The total is kept in cents; rounding happens once. " * sentences
    field = "summary" if name == "archive" else "content"
    session = Session(Engine(model(), session_id="s"))
    session.say("go on")
    session.work("kept", name=name, arguments={"key": "k", field: text})
    session.prepare()
    assert session.remarks == []
    assert bool(session.edits) == (text not in shown_texts(session.view.messages()))
    if sentences > 12:
        assert [edit_kind(entry.edit) for entry in session.edits] == ["offload"]


# Ways back


def full(way: str, *, arguments: bool = False) -> Session:
    """A session over its window. `way` is `files` or `none`; `arguments`: the calls are what is large."""
    files = way == "files"
    engine = Engine(
        model(),
        session_id="s",
        settings=EngineSettings(tools="off"),
        way_back=(lambda slot: f"/kept/{slot.id}.txt") if files else (lambda _: ""),
    )
    session = Session(engine)
    session.say("Write them all")
    for number in range(20):
        body = lines(1_200, seed=number)
        given = {"path": f"f{number}", "content": body} if arguments else None
        session.work("ok" if arguments else body, name="write" if arguments else "bash", arguments=given)
    return session


@pytest.mark.parametrize("arguments", [True, False])
def test_without_a_way_back_nothing_stands_in_for_a_text_but_a_summary(arguments: bool) -> None:
    session = full("none", arguments=arguments)
    prepared = session.prepare()
    assert prepared.tokens <= session.engine.budget.hard
    assert {edit_kind(entry.edit) for entry in session.edits} == {"compact"}
    assert "read path=" not in shown_texts(prepared.request.messages)
    assert not any(isinstance(ask, Keep) for ask in session.outside.asked)


@pytest.mark.parametrize("arguments", [True, False])
def test_every_file_that_stands_for_a_text_was_kept_with_that_text(arguments: bool) -> None:
    session = full("files", arguments=arguments)
    session.engine._way_back = lambda slot: f"/kept/{name(slot)}.txt"
    every = tuple(slot.id for slot in session.view.slots)
    session.act(Action("offload", every), Action("elide", every))
    session.prepare()
    kept = {key: text for ask in session.outside.asked if isinstance(ask, Keep) for key, text in ask.texts.items()}
    edits = [entry.edit for entry in session.edits]
    pointed = 0
    for edit in edits:
        for target, shown in [*getattr(edit, "texts", {}).items(), *getattr(edit, "arguments", {}).items()]:
            texts = (
                [json.loads(shown[a:b]) for a, b, _ in string_values(shown)] if isinstance(edit, Offload) else [shown]
            )
            base = session.view.slots[address.index].base if (address := session.view.find(target)) else None
            for way in (hidden.way_back for text in texts if (hidden := hides(text)) is not None):
                assert way is not None
                file = way.removeprefix("read path=/kept/").removesuffix(".txt")
                whole = kept[file]
                assert base is not None
                assert all(
                    p.raw in whole if isinstance(p, ToolCall) else getattr(p, "text", "") in whole for p in base.parts
                )
                pointed += 1
    assert pointed


def name(slot: Slot) -> str:
    return slot.base.call_id if isinstance(slot.base, ToolResult) else slot.id


def test_a_compaction_names_one_file_that_lists_those_of_its_messages() -> None:
    session = full("files")
    outcome = session.act(Action("compact", (), {"mode": "digest", "keep_tokens": 2_000}))
    (edit,) = [done.entry.edit for done in outcome.done]
    assert isinstance(edit, Compact)
    kept = {key: text for ask in session.outside.asked if isinstance(ask, Keep) for key, text in ask.texts.items()}
    paths = {f"/kept/{key}.txt": text for key, text in kept.items()}
    named = edit.summary.partition("read path=")[2].split()[0].rstrip("]).")
    index = paths[named]
    texts = [slot.base for slot in session.view.slots if slot.state == "gone" and isinstance(slot.base, ToolResult)]
    assert texts
    for result in texts:
        assert any(row.startswith(f"{result.call_id} ") and "/kept/" in row for row in index.splitlines())
        assert kept[result.call_id] == result.text


def test_a_compaction_whose_list_cannot_be_kept_is_not_made() -> None:
    session = full("files")
    session.outside = Outside(keep=lambda _: Failed("the folder is gone"))
    outcome = session.act(Action("compact", (), {"mode": "digest", "keep_tokens": 2_000}))
    assert (outcome.done, "the folder is gone" in outcome.failed) == ((), True)


@given(st.sampled_from(["r1", "c1", "r11", "e7", "r1#0"]), st.sampled_from(["r1", "c1", "other"]))
def test_a_way_back_is_one_only_to_the_item_that_it_names(written: str, own: str) -> None:
    engine = Engine(model(), session_id="s")
    slot = Slot(
        "e9",
        ToolResult("c1" if own != "other" else "c8", "bash", (Text("x"),), False, handle="r1" if own == "r1" else None),
    )
    text = f"[archived {written}~aaaaaaaa: bash, 3 tokens; to read it: recall id={written}]"
    names = {"r1": {"r1", "c1", "e9"}, "c1": {"c1", "e9"}, "other": {"c8", "e9"}}[own]
    assert engine.has_way(slot, text) == (written.partition("#")[0] in names)
    files = Engine(model(), session_id="s", way_back=lambda _: "/kept/a.txt")
    assert not files.has_way(slot, text)
    assert files.has_way(slot, text.replace(f"recall id={written}", "read path=/kept/a.txt"))
    assert not files.has_way(slot, text.replace(f"recall id={written}", "read path=/kept/b.txt"))


# What somebody has just brought back


def test_a_compaction_of_a_policy_leaves_what_was_just_brought_back() -> None:
    session = full("recall")
    session.engine._way_back = None
    stub = "[archived c3~aaaaaaaa: bash, 3 tokens; to read it: recall id=c3]"
    view = session.view
    slot = view.slots[view.find("c3").index]  # type: ignore[union-attr]
    hidden = view.with_edit("x", Elide(targets=(slot.id,), texts={slot.id: stub}))
    back = hidden.with_edit("y", Restore(targets=(slot.id,)))
    look = session.engine.look(back, session.request)
    wish = Action("compact", (), {"keep_tokens": 2_000})
    place = back.find("c3").index  # type: ignore[union-attr]
    group = set(back.group(place))
    assert group <= set(places_of(look, wish))
    assert not group & set(places_of(look, wish, immune=[slot.id]))
    assert group <= set(places_of(look, Action("compact", (slot.id,)), immune=[slot.id]))
    assert group <= set(places_of(look, Action("compact", (), {"whole": True}), immune=[slot.id]))


# Another model


OLD = ModelInfo("openai", "gpt-5", "openai-chat", context_window=200_000, prices=(Price(input=1.0, output=2.0),))
NEW = ModelInfo(
    "anthropic", "claude-sonnet-4-5", "anthropic", context_window=150_000, prices=(Price(input=7.0, output=9.0),)
)


def test_after_a_switch_the_size_is_what_a_fresh_engine_says_whatever_the_last_model_reported() -> None:
    session = Session(Engine(OLD, session_id="s"))
    session.say("word " * 20_000)
    session.prepare()
    # Reported by the old model, and first looked at after the switch.
    counted = session.engine.look(session.view, session.request).estimate.tokens
    session.answer(Text("ok"), usage=Usage(input=counted + 100, output=3))
    session.say("again")
    session.engine.use_model(NEW)
    request = ModelRequest(NEW, (), system=session.system)
    seen = session.engine.look(session.view, request).estimate
    fresh = Engine(NEW, session_id="s").look(session.view, request).estimate
    assert not seen.anchored
    assert abs(seen.tokens - fresh.tokens) <= 100


def test_what_a_provider_adds_unseen_is_counted_for_the_next_model_too() -> None:
    session = Session(Engine(OLD, session_id="s"))
    session.say("word " * 8_000)
    session.prepare()
    counted = session.engine.look(session.view, session.request).estimate.tokens
    session.answer(Text("ok"), usage=Usage(input=counted + 3_000, output=3))
    session.engine.use_model(NEW)
    request = ModelRequest(NEW, (), system=session.system)
    fresh = Engine(NEW, session_id="s").look(session.view, request).estimate
    assert session.engine.look(session.view, request).estimate.tokens > fresh.tokens + 2_000


def test_after_a_switch_the_new_model_writes_summaries_at_its_own_prices_and_settings() -> None:
    def compactor() -> Compactor:
        info = found[0].model
        return Compactor(summariser=Summariser(info.ref, info.context_window, info.max_output))

    found: list[Engine] = []
    found.append(engine := Engine(OLD, session_id="s", compactor=compactor))
    before = engine.manager
    engine.use_model(NEW, settings=EngineSettings(cooldown=7))
    manager = engine.manager
    assert manager is before
    assert manager.compactor.summariser is not None
    assert manager.compactor.summariser.model == NEW.ref
    assert manager.regret.input_price == 7.0
    assert manager.decider.settings.cooldown == 7
