"""A session as a page that stands alone: one file, no script, nothing fetched, readable on a phone and in the dark.

    steps ──results under their calls──▶ articles ──a few hundred a part──▶ page         parts but the first and the last are folded, so are other branches

The one rule: every text goes through `escaped` or `prose`. A policy in the head forbids scripts and requests all the same.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources

from trimtab.sessions.export.branches import Branch
from trimtab.sessions.export.facts import Facts, edit_line, moment
from trimtab.sessions.export.prose import code, diff, escaped, prose
from trimtab.sessions.export.story import Edited, Noted, Said, Step
from trimtab.sessions.export.told import Told, told_section
from trimtab.sessions.export.usage import Prices, usage_section
from trimtab.sessions.export.words import arguments, diff_of, gist, in_words, speaker
from trimtab.types.messages import Assistant, Image, Message, Part, Text, Thinking, ToolCall, ToolResult

PART = 200
"""Steps of one part."""
_PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"


def page(
    facts: Facts,
    steps: Sequence[Step],
    branches: Sequence[Branch] = (),
    *,
    prices: Prices = lambda _: (),
    told: Told | None = None,
) -> Iterator[str]:
    """Yield the page in pieces. `branches` are those beside `steps`; `prices` are those of a `provider/model`; `told` is what the model was told beside, where somebody knows it."""
    style = resources.files(__package__).joinpath("page.css").read_text("utf-8")
    yield (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        f'<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<meta name="referrer" content="no-referrer">\n<title>{escaped(facts.title)}</title>\n'
        f'<style>\n{style}</style>\n</head>\n<body>\n<header>\n<h1 dir="auto">{escaped(facts.title)}</h1>\n'
    )
    rows = "".join(f"<dt>{escaped(name)}</dt><dd>{escaped(value)}</dd>\n" for name, value in facts.rows)
    yield f'<dl class="facts">\n{rows}</dl>\n</header>\n<main>\n'
    yield from usage_section(steps, prices)
    yield from told_section(told or Told())
    yield from _parts(steps)
    yield from _branches(branches)
    yield "</main>\n<footer>Written by Trimtab. Secrets are replaced where they were recognised.</footer>\n</body>\n</html>\n"


def _branches(branches: Sequence[Branch]) -> Iterator[str]:
    if not branches:
        return
    yield f'<section class="branches">\n<h2>{"Another branch" if len(branches) == 1 else f"{len(branches):,} other branches"}</h2>\n'
    for one in branches:
        many = f"{one.messages:,} message{'' if one.messages == 1 else 's'}"
        head = f"{escaped(one.words or '(nothing that a person said)')} ({escaped(moment(one.time))}, {many})"
        link = f'<p class="note"><a href="#{escaped(one.after)}">where it leaves</a></p>\n' if one.after else ""
        yield f'<details class="branch"><summary dir="auto">{head}</summary>\n{link}'
        yield from _parts(one.steps)
        yield "</details>\n"
    yield "</section>\n"


def _parts(steps: Sequence[Step]) -> Iterator[str]:
    results, own = _results(steps)
    shown = [step for step in steps if not _under_a_call(step, own)]
    if len(shown) <= PART:
        yield from (_step(step, results) for step in shown)
        return
    for start in range(0, len(shown), PART):
        part = shown[start : start + PART]
        is_open = " open" if start == 0 or start + PART >= len(shown) else ""
        times = [step.time for step in part if step.time]
        span = f" · {moment(times[0])} – {moment(times[-1])}" if times else ""
        name = f"{start + 1:,} – {start + len(part):,} of {len(shown):,}{span}"
        yield f'<details class="part"{is_open}>\n<summary>{escaped(name)}</summary>\n'
        yield from (_step(step, results) for step in part)
        yield "</details>\n"


def _results(steps: Sequence[Step]) -> tuple[Mapping[str, ToolResult], frozenset[int]]:
    """The result of each call that has one, and the objects that are shown there: the first result behind its call."""
    waiting: set[str] = set()
    results: dict[str, ToolResult] = {}
    for step in steps:
        message = step.message if isinstance(step, Said) else None
        if isinstance(message, Assistant):
            waiting.update(call.id for call in message.tool_calls)
        elif isinstance(message, ToolResult) and message.call_id in waiting and message.call_id not in results:
            results[message.call_id] = message
    return results, frozenset(map(id, results.values()))


def _under_a_call(step: Step, own: frozenset[int]) -> bool:
    return isinstance(step, Said) and id(step.message) in own


def _step(step: Step, results: Mapping[str, ToolResult]) -> str:
    match step:
        case Said(message=ToolResult() as result):
            return f'<article id="{escaped(step.entry_id)}">\n{_lone(result)}</article>\n'
        case Said(message=message):
            kind = "assistant" if isinstance(message, Assistant) else "you"
            body = "\n".join(filter(None, (_part(part, results) for part in message.parts)))
            return f'<article class="{kind}" id="{escaped(step.entry_id)}">\n{_head(step)}\n{body}{_error(message)}\n</article>\n'
        case Edited():
            more = f"<details><summary>The summary</summary>{prose(step.text)}</details>" if step.text else ""
            back = " back" if step.reverted else ""
            return f'<aside class="edit{back}" id="{escaped(step.entry_id)}">{escaped(edit_line(step))}{more}</aside>\n'
        case Noted():
            return f'<aside class="note" id="{escaped(step.entry_id)}">{escaped(step.text)}</aside>\n'


def _head(step: Said) -> str:
    message = step.message
    who = message.model or "Assistant" if isinstance(message, Assistant) else speaker(message)
    when = f"<time>{escaped(moment(step.time))}</time>" if step.time else ""
    label = f'<span class="label">{escaped(step.label)}</span>' if step.label else ""
    return f"<h2>{escaped(who)}{when}{label}</h2>"


def _part(part: Part, results: Mapping[str, ToolResult]) -> str:
    match part:
        case Text():
            return prose(part.text) if part.text.strip() else ""
        case Thinking():
            if not part.text.strip():
                return ""
            return f'<details class="thinking"><summary>Thinking</summary>{prose(part.text)}</details>'
        case ToolCall():
            return _call(part, results.get(part.id))
        case Image():
            return _picture(part)
        case _:
            return f'<p class="note">{escaped(in_words(part))}</p>'


def _call(call: ToolCall, result: ToolResult | None) -> str:
    state = "no result" if result is None else "failed" if result.is_error else ""
    mark = f"<em>{state}</em>" if state else ""
    changed = diff_of(result)
    body = diff(changed) if changed else code(arguments(call)) if arguments(call).strip() else ""
    body += _said(result) if result is not None else ""
    return (
        f'<details class="call"><summary><b>{escaped(call.name)}</b><span>{escaped(gist(call))}</span>{mark}</summary>'
        f"{body}</details>"
    )


def _lone(result: ToolResult) -> str:
    """A result whose call isn't here."""
    mark = "<em>failed</em>" if result.is_error else ""
    return (
        f'<details class="call"><summary><b>{escaped(result.tool_name)}</b>{mark}</summary>{_said(result)}</details>\n'
    )


def _said(result: ToolResult) -> str:
    texts = "\n".join(part.text for part in result.parts if isinstance(part, Text))
    pictures = "".join(_picture(part) for part in result.parts if isinstance(part, Image))
    return (code(texts) if texts.strip() else "") + pictures


def _picture(image: Image) -> str:
    if image.media_type in _PICTURES and _BASE64.fullmatch(image.data):
        return f'<img alt="{escaped(image.name or "picture")}" src="data:{image.media_type};base64,{image.data}">'
    return f'<p class="note">{escaped(in_words(image))}</p>'


def _error(message: Message) -> str:
    error = message.error if isinstance(message, Assistant) else None
    return f'\n<p class="error">{escaped(error.message)}</p>' if error is not None else ""
