"""What an edit took out of sight and a model goes by is said again at the end: plan, memories, which memos there are."""

from dataclasses import dataclass

from hypothesis import given, settings
from hypothesis import strategies as st

from support.engine_session import Session, folded_again, host_of, lines, model
from trimtab.context.actions import Action
from trimtab.context.engine import Engine
from trimtab.context.stores.memory_log import Memorize
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.tools.indexes import MEMORIES_HEAD, MEMOS_HEAD
from trimtab.context.tools.profiles import context_tools
from trimtab.context.window.view import View
from trimtab.types.edits import Restate
from trimtab.types.errors import StoreError
from trimtab.types.messages import Message, Text, ToolCall, User

COMPACT = Action("compact", params={"mode": "digest", "keep_tokens": 600})


@dataclass
class Room:
    """A session whose model has all context tools."""

    session: Session
    host: EngineHost

    def call(self, name: str, **arguments: object) -> None:
        """One step in which the model calls a context tool; what the tool says is its result."""
        self.session.prepare()
        tools = {tool.spec.name: tool for tool in context_tools("pilot", self.host, refuse=self.host.refuse)}
        text = tools[name].handle(arguments).text
        self.session.work(text, name=name, arguments=dict(arguments))

    def work(self, steps: int = 4) -> None:
        """A few steps on other things."""
        for number in range(steps):
            self.session.prepare()
            self.session.work(lines(900, seed=self.session.calls + number))

    @property
    def notes(self) -> list[str]:
        """What the next request says at its tail, oldest first."""
        return notes_in(self.session.prepare().view)


def notes_in(view: View) -> list[str]:
    return [m.parts[0].text for m in view.messages() if _is_note(m)]  # type: ignore[union-attr]


def _is_note(message: Message) -> bool:
    return isinstance(message, User) and message.origin == "note"


def room(window: int = 60_000) -> Room:
    session = Session(Engine(model(window), session_id="s"))
    host = host_of(session)
    session.engine.memos = host.memos.infos
    session.tools = tuple(tool.spec for tool in context_tools("pilot", host, refuse=host.refuse))
    session.say("Fix it")
    return Room(session, host)


def kept(made: Room, key: str = "ledger", summary: str = "who owns balances") -> None:
    made.call("memo", action="write", key=key, summary=summary, content=f"{key} holds balances. " * 20)


def row(made: Room, key: str) -> str:
    info = next(info for info in made.host.memos.infos() if info.key == key)
    return f"{key} ({info.size:,} bytes): {info.summary}"


def test_after_a_compaction_the_model_still_learns_which_memos_there_are() -> None:
    made = room()
    kept(made)
    kept(made, "gateway", "listens on 4711")
    made.work()
    assert made.notes == []
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMOS_HEAD}\n{row(made, 'gateway')}\n{row(made, 'ledger')}"]
    (said,) = [entry for entry in made.session.edits if isinstance(entry.edit, Restate)]
    assert (said.author, said.reason) == ("policy:housekeeping", "edits took it out of sight")


def test_it_stands_in_the_request_right_behind_the_compaction() -> None:
    made = room(20_000)
    kept(made)
    for number in range(40):
        prepared = made.session.prepare()
        shown = prepared.view.messages()
        calls = [c.name for m in shown for c in getattr(m, "tool_calls", ())]
        assert ("memo" in calls) != any(text.startswith(MEMOS_HEAD) for text in notes_in(prepared.view))
        assert prepared.tokens <= made.session.engine.budget.hard
        made.session.work(lines(1_500, seed=number))
    assert "memo" not in calls


def test_a_memo_whose_call_is_shown_is_not_named_again() -> None:
    made = room()
    kept(made)
    made.work()
    kept(made, "gateway", "listens on 4711")
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMOS_HEAD}\n{row(made, 'ledger')}"]


def test_an_index_is_not_repeated_while_it_is_shown() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    assert len(made.notes) == 1
    made.session.act(Action("elide", (made.session.work(lines(900))[0],)))
    made.work(2)
    assert len(made.notes) == 1


def test_a_swallowed_index_comes_back_with_what_was_kept_since() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    assert len(made.notes) == 1
    kept(made, "gateway", "listens on 4711")
    made.work()
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMOS_HEAD}\n{row(made, 'gateway')}\n{row(made, 'ledger')}"]


def test_a_deleted_memo_is_named_no_more() -> None:
    made = room()
    kept(made)
    kept(made, "gateway", "listens on 4711")
    made.work()
    made.call("memo", action="delete", key="gateway")
    made.work()
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMOS_HEAD}\n{row(made, 'ledger')}"]


def test_a_memo_that_somebody_else_kept_is_named_too() -> None:
    made = room()
    made.host.memos.write("subagent-1", "the whole answer", summary="the whole answer of a subagent")
    made.work()
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMOS_HEAD}\n{row(made, 'subagent-1')}"]


def test_an_index_has_a_bound_and_says_what_it_left_out() -> None:
    made = room()
    for number in range(400):
        made.host.memos.write(f"key-{number:03}", "x", summary=f"part {number} of the story")
    made.work()
    made.session.act(COMPACT)
    (text,) = made.notes
    assert made.session.engine.tally.text(text) <= 1_500
    shown = text.splitlines()
    assert shown[-1] == f"… and {402 - len(shown)} more: memo action=list lists them"
    made.session.act(Action("elide", (made.session.work(lines(900))[0],)))
    assert made.notes == [text]


def test_a_model_without_the_tool_is_told_nothing() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    made.session.tools = ()
    assert made.notes == []


def test_a_store_that_can_not_be_read_stops_no_request() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)

    def broken() -> tuple[()]:
        raise StoreError("no such disk")

    made.session.engine.memos = broken
    assert made.notes == []


def test_what_a_person_took_back_stays_away_until_it_changes() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    assert len(made.notes) == 1
    made.session.revert(made.session.view.applied[len(made.session.view.applied) - 1].id)
    assert made.notes == []
    kept(made, "gateway", "listens on 4711")
    made.work()
    made.session.act(COMPACT)
    assert len(made.notes) == 1


def test_the_compaction_taken_back_shows_the_calls_and_a_later_one_tells_again() -> None:
    made = room()
    kept(made)
    made.work()
    outcome = made.session.act(COMPACT)
    assert len(made.notes) == 1
    made.session.revert(outcome.done[0].entry_id)
    made.work(2)
    made.session.act(COMPACT)
    assert len(made.notes) == 1


def test_a_session_that_is_opened_again_says_nothing_twice() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    before = made.notes
    assert notes_in(folded_again(made.session.log)) == before
    again = Session(Engine(model(60_000), session_id="s"), tools=made.session.tools, log=made.session.log)
    again.engine.memos = made.host.memos.infos
    again.say("Go on")
    assert notes_in(again.prepare().view) == before


def test_a_plan_that_was_swallowed_is_said_again_and_only_the_newest() -> None:
    made = room()
    made.call("plan", strategy="first look, then repair")
    made.call("plan", strategy="repair the ledger, then the gateway")
    made.work()
    made.session.act(COMPACT)
    assert made.notes == ["repair the ledger, then the gateway"]


def test_an_older_plan_goes_with_the_batch_that_comes_anyway() -> None:
    made = room(20_000)
    plans = [f"{n}. look at the ledger, then at the gateway, in this order" for n in range(3)]
    for plan in plans:
        made.call("plan", strategy=plan)
    assert made.notes == plans
    for number in range(6):
        made.session.prepare()
        made.session.work(lines(2_500, seed=number))
    assert made.notes[-1:] == plans[2:]
    assert not set(plans[:2]) & set(made.notes)


def test_the_plan_before_holds_again_when_the_newest_is_taken_back() -> None:
    made = room()
    made.call("plan", strategy="the old way")
    made.call("plan", strategy="the new way")
    made.session.act(Action("drop", (made.session.view.applied[0].id,)))
    made.session.revert(made.session.view.applied[1].id)
    assert made.notes == ["the old way"]


def remembered(made: Room) -> Action | None:
    return made.host.recollection()


def test_memories_are_told_once_and_again_when_there_are_others() -> None:
    made = room()
    assert remembered(made) is None
    made.host.memories.keep(Memorize(key="build", summary="make check"))
    wish = remembered(made)
    assert wish is not None
    made.session.act(wish)
    assert made.notes == [f"{MEMORIES_HEAD}\nbuild: make check"]
    assert remembered(made) is None
    made.host.memories.keep(Memorize(key="deploy", summary="never on Friday"))
    wish = remembered(made)
    assert wish is not None
    assert wish.params["text"] == f"{MEMORIES_HEAD}\nbuild: make check\ndeploy: never on Friday"


def test_memories_that_a_compaction_swallowed_are_told_again() -> None:
    made = room()
    made.host.memories.keep(Memorize(key="build", summary="make check"))
    wish = remembered(made)
    made.session.act(wish)
    made.work()
    made.session.act(COMPACT)
    assert made.notes == [f"{MEMORIES_HEAD}\nbuild: make check"]


def test_memories_have_a_bound() -> None:
    made = room()
    for number in range(300):
        made.host.memories.keep(Memorize(key=f"subject {number:03}", summary="what was found out about it " * 4))
    wish = remembered(made)
    assert wish is not None
    assert made.session.engine.tally.text(str(wish.params["text"])) <= 1_500


def test_a_step_on_which_nothing_changed_asks_no_store() -> None:
    made = room()
    kept(made)
    made.work()
    made.session.act(COMPACT)
    made.work(2)
    asked: list[int] = []
    listed = made.host.memos.infos

    def counted() -> object:
        asked.append(1)
        return listed()

    made.session.engine.memos = counted  # type: ignore[assignment]
    for _ in range(5):
        made.session.prepare()
        made.session.answer(Text("hm"), ToolCall("x", "nothing", {}, "{}"))
        made.session.say("go on")
    assert asked == []


DEEDS = ("keep", "keep again", "delete", "plan", "work", "compact", "elide", "other's memo")


def do(made: Room, deed: str, number: int) -> None:
    key = f"key-{number % 3}"
    match deed:
        case "keep" | "keep again":
            kept(made, key, f"{deed} {number % 2}")
        case "delete":
            made.call("memo", action="delete", key=key)
        case "plan":
            made.call("plan", strategy=f"plan {number}")
        case "work":
            made.work(1)
        case "compact":
            made.session.act(COMPACT)
        case "elide":
            made.session.act(Action("elide", (made.session.work(lines(900))[0],)))
        case _:
            made.host.memos.write(key, f"content {number}", summary=f"from a subagent {number}")


@settings(max_examples=20)
@given(st.lists(st.sampled_from(DEEDS), max_size=12))
def test_whatever_is_kept_and_hidden_a_compaction_leaves_every_memo_and_the_plan_told_once(deeds: list[str]) -> None:
    made = room()
    for number, deed in enumerate(deeds):
        do(made, deed, number)
        made.session.prepare()
        edits = len(made.session.edits)
        assert made.session.prepare().view.messages() == folded_again(made.session.log).messages()
        assert len(made.session.edits) == edits, "said twice"
    made.work(3)
    made.session.act(COMPACT)
    notes = made.notes
    shown = [call for m in made.session.view.messages() for call in getattr(m, "tool_calls", ())]
    for info in made.host.memos.infos():
        told = [text for text in notes if text.startswith(MEMOS_HEAD) and row(made, info.key) in text.splitlines()]
        called = any(c.name == "memo" and c.arguments.get("key") == info.key for c in shown)
        assert told or called
    plans = [text for text in notes if text.startswith("plan ")]
    assert plans[-1:] == [f"plan {n}" for n, deed in enumerate(deeds) if deed == "plan"][-1:]
