"""The scripted agent: what it does with a request, and that it knows nothing else."""

import anyio
import pytest

from support.talk import answer, call, result
from trimtab.lab.live.agent import ScriptedAgent, wants_summary
from trimtab.lab.live.assignment import Assignment, Fact, Move
from trimtab.lab.live.seeing import Way, next_page, shown, ways
from trimtab.types.messages import Message, ToolCall, user
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import Assembler
from trimtab.types.tools import ToolSpec

MODEL = ModelInfo("lab", "lab", "openai-responses", max_output=600)
LIMIT = Fact("limit", r"limit = (\d+)", "set.toml", "limit", "3")
USES = Move("So.", "edit", {"path": "a.py", "edits": [{"old": "3", "new": "⟨limit⟩"}]})
ASSIGNMENT = Assignment("toy", 0, "repair it", {}, (), (LIMIT,), (USES,), {"limit": "7"})
READ = answer("", call("c1", "read", '{"path": "set.toml"}'))
STUB = "[archived r4~abcdefgh: read, 900 tokens, 80 lines; to read it: recall id=r4]"


def said(agent: ScriptedAgent, *messages: Message, tools: tuple[ToolSpec, ...] = ()) -> tuple[ToolCall, ...] | str:
    """What the agent calls, or says, when it is shown these messages."""

    async def ask() -> tuple[ToolCall, ...] | str:
        assembler = Assembler(provider="lab", model="lab")
        async for event in agent.stream(ModelRequest(MODEL, messages, tools=tools)):
            assembler.feed(event)
        made = assembler.message()
        return made.tool_calls or made.text

    return anyio.run(ask)


def agent(noticed: float = 1.0, assignment: Assignment = ASSIGNMENT, seed: int = 0) -> ScriptedAgent:
    """One that counts words."""
    return ScriptedAgent(assignment, noticed=noticed, seed=seed, tokens=lambda text: len(text.split()))


def written(calls: tuple[ToolCall, ...] | str) -> str:
    """What the one call, an edit, writes."""
    assert isinstance(calls, tuple)
    (made,) = calls
    assert made.name == "edit"
    assert made.arguments is not None
    return str(made.arguments["edits"][0]["new"])


def test_a_value_in_sight_is_written():
    one = agent(noticed=0.0)
    assert written(said(one, user("go"), READ, result("c1", "limit = 7"))) == "7"
    assert [(need.state, need.written) for need in one.sought] == [("visible", "7")]


def test_of_several_values_the_newest_one_in_sight_is_believed():
    told = (user("go"), READ, result("c1", "limit = 40\nlimit = 41"), user("limit = 65"), user("nothing"))
    assert written(said(agent(), *told)) == "65"
    assert written(said(agent(), *told[:3])) == "41"


def test_a_value_that_nothing_leads_to_is_guessed_however_keen_the_eye():
    one = agent(noticed=1.0)
    assert written(said(one, user("go"))) == "3"
    assert [need.state for need in one.sought] == ["lost"]


def test_behind_a_stub_it_is_recalled_page_by_page_and_then_written():
    one = agent()
    history = [user("go"), READ, result("c1", STUB)]
    (first,) = said(one, *history)
    assert (first.name, first.arguments) == ("recall", {"id": "r4"})
    history += [
        answer("", first),
        result(first.id, "[r4: page 1 of 2, lines 1-9 of 12; go on with page 2]\nx", tool="recall"),
    ]
    (second,) = said(one, *history)
    assert second.arguments == {"id": "r4", "page": 2}
    history += [
        answer("", second),
        result(second.id, "[r4: page 2 of 2, lines 10-12 of 12; the end]\nlimit = 7", tool="recall"),
    ]
    assert written(said(one, *history)) == "7"
    assert one.calls == {"recall": 2, "read": 0}
    assert [(need.state, need.noticed, need.written) for need in one.sought] == [("stub", True, "7")]


def test_a_stub_that_isnt_noticed_is_passed_over():
    one = agent(noticed=0.0)
    assert written(said(one, user("go"), READ, result("c1", STUB))) == "3"
    assert [(need.state, need.noticed) for need in one.sought] == [("stub", False)]


def test_luck_hangs_on_the_seed_and_on_nothing_else():
    def luck(seed: int) -> bool:
        one = agent(noticed=0.5, seed=seed)
        said(one, user("go"), READ, result("c1", STUB))
        return one.sought[0].noticed

    drawn = [luck(seed) for seed in range(40)]
    assert drawn == [luck(seed) for seed in range(40)]
    assert 8 < sum(drawn) < 32


@pytest.mark.parametrize(
    ("told", "way"),
    [
        ("Files read before: set.toml", Way("read", {"path": "set.toml"})),
        ("[Sources: r1-r9. To find something: recall query=WORDS.]", Way("recall", {"query": "limit"})),
    ],
)
def test_a_summary_that_names_the_file_or_the_search_is_a_way(told, way):
    assert tuple(ways((user(told),), "set.toml", "limit")) == (way,)


def test_no_way_is_tried_twice_and_then_it_is_guessed():
    one = agent()
    history = [user("Files read before: set.toml")]
    (again,) = said(one, *history)
    assert again.arguments == {"path": "set.toml"}
    assert written(said(one, *history, answer("", again), result(again.id, "no such file", error=True))) == "3"


def test_a_value_whose_source_hangs_on_another_value_is_sought_where_that_says():
    field = Fact("field", r'⟨limit⟩_field = "(\w+)"', "b/⟨limit⟩.py", "field", "none")
    move = Move("", "edit", {"path": "a.py", "edits": [{"old": "", "new": "⟨field⟩"}]})
    assignment = Assignment("toy", 0, "", {}, (), (LIMIT, field), (move,), {"limit": "7", "field": "ok"})
    shows = user('limit = 7\n8_field = "wrong"\n7_field = "ok"\n9_field = "late"')
    assert written(said(agent(assignment=assignment), shows)) == "ok"
    one = agent(noticed=0.0, assignment=assignment)
    assert written(said(one, user('3_field = "guessed"'))) == "guessed", "what follows from a guess is as wrong"


def test_when_the_plan_is_done_it_says_so():
    one = agent()
    said(one, user("go"))
    assert said(one, user("go")) == "Everything that was asked for is changed, and I ran the tests."


def test_asked_for_a_summary_it_gives_an_extract_and_goes_on_where_it_was():
    one = agent()
    spec = ToolSpec("read", "", {})
    asks = user("Answer with `<summary>`.", origin="command")
    text = said(one, user("repair the limit"), READ, result("c1", "limit = 7"), asks, tools=(spec,))
    assert isinstance(text, str)
    assert text.startswith("<summary>\n")
    assert "repair the limit" in text
    transcript = said(one, user("<conversation>limit = 7</conversation> Write `<summary>`.", origin="command"))
    assert "limit = 7" in transcript
    assert written(said(one, user("limit = 7"))) == "7"


def test_only_a_command_that_asks_for_a_summary_is_one():
    asks = [user("<summary>", origin="command"), user("<summary>"), user("go on", origin="command"), READ]
    assert [wants_summary(ModelRequest(MODEL, (one,))) for one in asks] == [True, False, False, False]


def test_what_is_shown_is_looked_for_in_calls_too():
    assert shown((answer("", call("c1", "write", '{"path": "x", "content": "limit = 8"}')),), LIMIT.pattern) == "8"
    assert shown((), LIMIT.pattern) is None


def test_only_a_recall_that_says_so_has_another_page():
    way = Way("recall", {"id": "r4"})
    more = result("c1", "[r4: page 1 of 2, lines 1-9 of 12; go on with page 2]", tool="recall")
    assert next_page((more,), way) == Way("recall", {"id": "r4", "page": 2})
    assert next_page((more,), Way("read", {"path": "x"})) is None
    assert next_page((result("c1", "[r4: page 2 of 2; the end]", tool="recall"),), way) is None
    assert next_page((), way) is None
