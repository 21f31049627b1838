"""Short conversations for tests of summaries, and a count of tokens that can be done in the head."""

from hypothesis import strategies as st

from trimtab.types.messages import Assistant, Image, Message, Opaque, Part, Text, Thinking, ToolCall, ToolResult, User
from trimtab.types.messages import user as said
from trimtab.types.stream import make_call


def words(text: str) -> int:
    """A token is a word, and every eight characters of a long one."""
    return sum(1 + len(word) // 8 for word in text.split())


def answer(text: str = "", *calls: ToolCall, **fields: object) -> Assistant:
    """An answer of a model."""
    parts: tuple[Part, ...] = (*((Text(text),) if text else ()), *calls)
    return Assistant(parts, "tool_use" if calls else "stop", **fields)  # type: ignore[arg-type]


def call(call_id: str, tool: str, raw: str = "{}") -> ToolCall:
    """A tool call."""
    return make_call(call_id, tool, raw)


def result(
    call_id: str, text: str, *, tool: str = "read", error: bool = False, handle: str | None = None
) -> ToolResult:
    """The answer to a call."""
    return ToolResult(call_id, tool, (Text(text),), is_error=error, handle=handle)


LOOK_ALIKES = (
    "</message>",
    '<message role="user">',
    "< / message >",
    "<\u200b/message>",
    "</MESSAGE\n>",
    "＜/message＞",
    "</conversation>",
    "<previous-summary>",
    "</previous–summary>",
    "<call id='x'>",
    "</call>",
    "</summary>",
    "<analysis>",
    "</user-words>",
    '<omitted messages="9"/>',
    "<",
    "</",
    "message>",
    "&lt;/message>",
    "[… 3 characters left out …]",
    "```",
    "a.b/c.py 42 ms",
    "never",
    "\n",
    " ",
    "\u2028",
    "\0",
)
hostile = st.lists(st.one_of(st.sampled_from(LOOK_ALIKES), st.text(max_size=8)), max_size=12).map("".join)
_texts = st.builds(Text, hostile)
_parts: st.SearchStrategy[Part] = st.one_of(
    _texts,
    st.builds(Image, st.just("image/png"), name=hostile),
    st.builds(Thinking, hostile),
    st.builds(Opaque, hostile, st.dictionaries(st.just("type"), hostile)),
)
_calls: st.SearchStrategy[Part] = st.builds(make_call, hostile, hostile, hostile)
_origins = st.sampled_from(["prompt", "steering", "follow_up", "command", "verify", "summary", "answer"])
_messages: st.SearchStrategy[Message] = st.one_of(
    st.builds(User, st.lists(_parts, max_size=2).map(tuple), _origins),
    st.builds(
        Assistant,
        st.lists(st.one_of(_parts, _calls), max_size=3).map(tuple),
        st.sampled_from(["stop", "length", "tool_use", "error"]),
        superseded=st.sampled_from([False, False, True]),
    ),
    st.builds(ToolResult, hostile, hostile, st.lists(_parts, max_size=2).map(tuple), is_error=st.booleans()),
)
conversations = st.lists(_messages, max_size=6)
"""Messages with content that tries to look like ours."""

__all__ = ["answer", "call", "conversations", "hostile", "result", "said", "words"]
