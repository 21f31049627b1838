"""What a model may give instead of a summary, by the name of what is wrong with it, with the word that the log says about it."""

from support.engine_session import lines
from trimtab.context.asks import Answer, Failed, Recorded, Summary

TASK = (
    "Fix the failing test in src/calc.py and tell me what was wrong with it. You must never run the deploy script, "
    "because it is used by the team that has to ship this on Monday, and they would not like that at all."
)
"""Long enough that its language is known."""


def good_summary(*, tokens: int = 600, analysis: str = "long thoughts") -> Summary:
    """One that stands every check."""
    text = "The test in src/calc.py fails. Never run the deploy script. " + lines(tokens)
    return Summary(f"<analysis>{analysis}</analysis><summary>{text}</summary>", model="p/small", ms=12)


def bad_summaries() -> dict[str, tuple[Answer, str]]:
    """Each kind of failure: the answer, and what the log says why it was not taken."""
    return {
        "unreachable": (Failed("no model is reachable"), "no model is reachable"),
        "empty": (Summary(""), "empty"),
        "only an analysis": (Summary("<analysis>thinking of it</analysis>"), "empty"),
        "cut": (Summary("<summary>The test in src/calc.py fails because", finished=False), "unfinished"),
        "larger": (Summary("<summary>" + lines(30_000) + "</summary>"), "not_smaller"),
        "a tool call": (Summary("", calls=1), "tool_call"),
        "a tool call as text": (Summary('{"name": "read", "arguments": {"path": "a.py"}}'), "tool_call"),
        "another language": (
            Summary("<summary>" + "テストは失敗しました。計算の誤りを直す必要があります。" * 30 + "</summary>"),
            "other_language",
        ),
        "a refusal": (Summary("I'm sorry, I can't help with that."), "refusal"),
        "an error page": (Summary("<html><body>502 Bad Gateway</body></html>"), "error_page"),
        "nonsense": (Recorded(("e1",)), "unexpected answer Recorded"),
    }
