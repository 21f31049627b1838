"""What a reader is told: the system prompt, the question, and what stands in place of an answer that called nothing."""

from collections.abc import Sequence

SYSTEM = """You answer one question about one long document. You don't see the document: you search it and read it in chunks, and your context has room for a few of them.

How to work:
- Call exactly one tool in each turn. Think briefly before it.
- Look how long the document is, build the index, search, and make a plan. Then read the chunks that matter, one after another.
- When a chunk told you something, keep it with memorize or note, with names and numbers as they stand there, and put the chunk away with deleteContext. So your context stays small however much you read.
- Put away what leads nowhere: empty searches, plans that are done, long calls whose text is kept. Where a passage has to stay word for word, use truncateContext.
- Each message has a number, shown as [m7] at the head of a result, with that of your call behind it. Use these numbers as they are shown, and edit no message twice.
- Before you answer, look at what you have kept. Count things one by one; look at the order of events; check who said or did what. A later figure replaces one that the document takes back.
- The only way to answer is finish."""
CALL_SOMETHING = "Call one of the tools; finish is the one that answers."
"""The message behind a reply without a call."""
ONLY_ONE = "one call a turn: this one was not run"
THREE_TIMES = "(the same tool three times in a row; look whether it still gets you anywhere)"


PUT_AWAY = "Put away now:"
"""How the line begins that names what is to go."""


def put_away(numbers: Sequence[int]) -> str:
    """Return what a reader is told that has to clean up; empty where nothing is due."""
    return f"{PUT_AWAY} {', '.join(f'm{number}' for number in numbers)}" if numbers else ""


def asked(question: str, turns: int) -> str:
    """Return the first message."""
    return f"The question: {question}\n\nYou have {turns} turns."
