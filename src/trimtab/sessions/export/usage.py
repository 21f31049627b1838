"""What each answer of a session took, for the page: a picture of the context's size, and a table.

steps ──▶ Request | mark of an edit, in order ──▶ <svg> of the size over the session, edits as lines in it; a row for each answer

The one rule: the picture is drawn with the page's own colours and without a script, so it is readable in the dark and on paper.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from trimtab.sessions.export.facts import edit_line, moment
from trimtab.sessions.export.prose import escaped
from trimtab.sessions.export.story import Edited, Said, Step
from trimtab.types.messages import Assistant
from trimtab.types.models import Price, cost_usd
from trimtab.types.usage import Usage

Prices = Callable[[str], tuple[Price, ...]]
_WIDTH, _HEIGHT, _TOP, _LEFT, _BOTTOM = 800, 200, 14, 4, 22
_MOST_POINTS = 400
"""Places of the picture; of the answers that fall on one, the largest is drawn."""
_MOST_MARKS = 200
_ROWS = 200
"""Rows of one part of the table."""


@dataclass(frozen=True, slots=True)
class Request:
    """One answer: its entry, when, which model, what it took. `cost_usd` is None when no price is known."""

    entry_id: str
    time: str
    model: str
    usage: Usage
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Mark:
    """An edit of the context that made it smaller or larger, and how many answers were before it."""

    at: int
    text: str


def requests_of(steps: Sequence[Step], prices: Prices) -> tuple[tuple[Request, ...], tuple[Mark, ...]]:
    """The answers whose usage is known, and the edits between them."""
    requests: list[Request] = []
    marks: list[Mark] = []
    for step in steps:
        if isinstance(step, Edited) and step.before != step.after:
            marks.append(Mark(len(requests), edit_line(step)))
        elif isinstance(step, Said) and isinstance(message := step.message, Assistant) and message.usage is not None:
            model = f"{message.provider}/{message.model}"
            cost = cost_usd(message.usage, prices(model))
            requests.append(Request(step.entry_id, step.time, message.model, message.usage, cost))
    return tuple(requests), tuple(marks)


def usage_section(steps: Sequence[Step], prices: Prices) -> Iterator[str]:
    """Yield the section in pieces; nothing where no answer says what it took."""
    requests, marks = requests_of(steps, prices)
    if not requests:
        return
    largest = max(request.usage.prompt for request in requests)
    edits = f", edited {len(marks):,} times" if len(marks) > 1 else ", edited once" if marks else ""
    yield '<section class="usage">\n<h2>Usage</h2>\n'
    yield f"<figure>{_picture(requests, marks, largest)}<figcaption>Tokens of each prompt, {largest:,} at most{edits}.</figcaption></figure>\n"
    for start in range(0, len(requests), _ROWS):
        part = requests[start : start + _ROWS]
        yield f"<details><summary>Answers {start + 1:,} – {start + len(part):,}</summary>\n{_table(part, start)}</details>\n"
    yield "</section>\n"


def _table(requests: Sequence[Request], start: int) -> str:
    names = ("", "Time", "Model", "Input", "Cached", "Written", "Output", "Cost")
    head = "".join(f"<th>{name}</th>" for name in names)
    return f'<div class="wide"><table>\n<tr>{head}</tr>\n{"".join(_row(one, start + at + 1) for at, one in enumerate(requests))}</table></div>'


def _row(one: Request, number: int) -> str:
    used = one.usage
    counts = "".join(f"<td>{count:,}</td>" for count in (used.input, used.cache_read, used.cache_write, used.output))
    cost = "?" if one.cost_usd is None else f"${one.cost_usd:.4f}"
    link = f'<a href="#{escaped(one.entry_id)}">{number:,}</a>'
    return f"<tr><td>{link}</td><td>{escaped(moment(one.time))}</td><td>{escaped(one.model)}</td>{counts}<td>{cost}</td></tr>\n"


def _picture(requests: Sequence[Request], marks: Sequence[Mark], largest: int) -> str:
    """Two areas, one above the other: what came from a cache, and the rest of each prompt; a line for each edit."""
    points = [max(group, key=lambda one: one.usage.prompt) for group in _groups(requests)]
    base = _HEIGHT - _BOTTOM
    whole = _area([one.usage.prompt for one in points], largest)
    cached = _area([one.usage.cache_read for one in points], largest)
    lines = "".join(_line(mark, len(requests), base) for mark in marks[-_MOST_MARKS:])
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="Size of the context over the session">'
        f'<path class="fresh" d="{whole}"/><path class="cached" d="{cached}"/>{lines}'
        f'<path class="axis" d="M{_LEFT} {base}H{_WIDTH - _LEFT}"/></svg>'
        '<p class="key"><span class="fresh">sent anew</span><span class="cached">from a cache</span>'
        + ('<span class="cut">edit of the context</span>' if marks else "")
        + "</p>"
    )


def _groups(requests: Sequence[Request]) -> list[Sequence[Request]]:
    size = -(-len(requests) // _MOST_POINTS)
    return [requests[at : at + size] for at in range(0, len(requests), size)]


def _area(values: Sequence[int], largest: int) -> str:
    """Steps, each as wide as its share of the session."""
    base, wide = _HEIGHT - _BOTTOM, (_WIDTH - 2 * _LEFT) / len(values)
    steps = (
        f"V{base - value / max(largest, 1) * (base - _TOP):.1f}H{_LEFT + (at + 1) * wide:.1f}"
        for at, value in enumerate(values)
    )
    return f"M{_LEFT} {base}{''.join(steps)}V{base}Z"


def _line(mark: Mark, many: int, base: int) -> str:
    x = _LEFT + mark.at / many * (_WIDTH - 2 * _LEFT)
    return f'<path class="cut" d="M{x:.1f} {base + 8}V{_TOP}"><title>{escaped(mark.text)}</title></path>'
