"""Hypothesis strategies for histories as a transcript shows them: every call answered, results in call order."""

from hypothesis import strategies as st

from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult, User

WORDS = st.sampled_from(["", " ", "a", "b \n", "Größe 🌍", "\u2028"])
_pictures = st.builds(Image, st.just("image/png"), st.sampled_from(["", "AAAA"]))
_raws = st.sampled_from(["", "{}", '{"a": 1}', '{ "b":2 }', '{"a', "[1]", "null", '{"a": NaN}'])
_shown: st.SearchStrategy[Part] = st.one_of(st.builds(Text, WORDS), _pictures)


@st.composite
def _thoughts(draw: st.DrawFn) -> Thinking:
    wire = draw(st.sampled_from([None, {"thoughtSignature": "c2ln"}]))
    return Thinking(draw(WORDS), draw(st.sampled_from([None, "sig"])), draw(st.booleans()), wire)


@st.composite
def _rounds(draw: st.DrawFn, number: int, provider: str) -> list[Message]:
    """A prompt, or an answer with the results of its calls."""
    if draw(st.booleans()):
        return [User(tuple(draw(st.lists(_shown, max_size=3))))]
    made_by = draw(st.sampled_from([(provider, "m"), (provider, "other"), ("elsewhere", "m")]))
    parts: list[Part] = []
    parts += draw(st.lists(_thoughts(), max_size=2))
    parts += draw(st.lists(st.builds(Text, WORDS), max_size=2))
    calls = [
        ToolCall(f"call {number}/{n}" if draw(st.booleans()) else "same", "read", None, draw(_raws))
        for n in range(draw(st.integers(0, 3)))
    ]
    answer = Assistant((*parts, *calls), "tool_use" if calls else "stop", provider=made_by[0], model=made_by[1])
    results = [
        ToolResult(c.id, "read", tuple(draw(st.lists(_shown, max_size=2))), is_error=draw(st.booleans())) for c in calls
    ]
    return [answer, *results]


@st.composite
def histories(draw: st.DrawFn, *, provider: str) -> list[list[Message]]:
    """A history cut into the pieces by which requests grow."""
    return [draw(_rounds(n, provider)) for n in range(draw(st.integers(1, 6)))]
