"""What `trimtab context` prints: the meter, the items, the log and stories, as lines. Pure.

Each line is one line for the reader too: whoever prints wraps it, and makes what it holds of names, reasons and texts harmless (`printable.one_line`); the
table and the biggest items do so themselves, since they are fitted here.
"""

from collections.abc import Mapping, Sequence

from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import counted, table
from trimtab.context.budget import Budget
from trimtab.context.cycle.floor import floor_of
from trimtab.context.cycle.look import Look
from trimtab.context.cycle.marks import Waiting
from trimtab.context.naming import name_of
from trimtab.context.reasons import all_in_words
from trimtab.context.seeing.observation import ItemFacts, Observation
from trimtab.context.seeing.refetching import Cause
from trimtab.context.telling.blame import Blamed, Later
from trimtab.context.telling.dropped import DroppedFact
from trimtab.context.telling.explain import LogRow, listed, price
from trimtab.context.telling.story import EditStory, ItemStory, Touch
from trimtab.types.codec import Entry
from trimtab.types.messages import Assistant, Message, Text, ToolCall

_PREVIEW = 120
_FACTS = 8
"""Facts that are listed of one edit."""
_DIFF = 12
"""Lines that are shown of each side of a change."""
_EVENTS: Mapping[str, str] = {"not_applied": "wanted what could not be done"}
"""Events of the log that have no good words in their name."""


_LATER_TOGETHER = "more are expected soon, and made together they break the provider's cache only once"
_NOT_WORTH_IT = "made now, they would break the provider's cache, which costs more than they save"


def meter_lines(look: Look, observation: Observation, *, policy: str) -> list[str]:
    """The budget: what is used, of what, by whom, and from where on something happens. Shares are of what the request may have at most, as limits go by that."""
    floor, budget = floor_of(look), look.budget
    used = look.estimate.tokens
    sure = "" if look.estimate.known else "about "
    width = f" (at most {look.used:,})" if look.used > used else ""
    over = look.used - budget.hard
    share = f"{over:,} over" if over > 0 else f"{100 * look.used // budget.hard} % of"
    messages = max(0, used - floor.system - floor.tools)
    lines = [
        f"{sure}{used:,} tokens{width}, {share} the hard line of {budget.hard:,}; {counted(len(observation.items), 'item')}",
        f"policy {policy}: acts from {budget.soft:,} (the soft line), aims at {budget.target:,} (the target line)",
        f"system prompt {floor.system:,} · tools {floor.tools:,} · messages {messages:,} · of these pinned {floor.pinned:,}",
    ]
    lines += [_band(used, look.used)] if width else []
    return lines if budget.room else [*lines, _nothing_left(budget)]


def _nothing_left(budget: Budget) -> str:
    """Where a window goes that is smaller than its margins."""
    return (
        f"a window of {budget.window:,} has no room for a request: {budget.reserve:,} of it are kept for the answer, and {budget.safety:,} are a"
        " safety margin"
    )


def _band(used: int, most: int) -> str:
    """What the two numbers of an estimate mean."""
    return (
        f"at most {most:,}: {used:,} is an estimate that may be {most - used:,} too low, and limits go by the larger number;"
        " what the provider reports with its answers makes it more exact"
    )


def waiting_lines(waiting: Waiting | None) -> list[str]:
    """The edits that wait until they pay, if there are any."""
    if waiting is None or not waiting.edits:
        return []
    wait = "waits" if waiting.edits == 1 else "wait"
    why = _LATER_TOGETHER if "more are expected" in waiting.reason else _NOT_WORTH_IT
    return [f"{counted(waiting.edits, 'edit')} of {waiting.tokens:,} tokens {wait}: {why}"]


def item_table(look: Look, observation: Observation, width: int | None) -> list[str]:
    """The items of the next request in order, a line each."""
    rows: list[tuple[str, ...]] = [("NAME", "KIND", "STATE", "TOKENS", "AGE", "TEXT")]
    for item, shown in zip(observation.items, look.view.shown(), strict=True):
        state = f"{item.state}, pinned" if item.pinned else item.state
        row = (item_name(item), _kind(item), state, f"{item.tokens:,}", str(item.age), _preview(shown.message))
        rows.append(tuple(map(one_line, row)))
    return table(rows, width, elastic=5, right=(3, 4))


def item_name(item: ItemFacts) -> str:
    """The name that a person or a model would use for it."""
    return item.handle or item.call_id or item.id


def biggest_lines(observation: Observation, most: int) -> list[str]:
    """The items that take most, the biggest first."""
    items = sorted(observation.items, key=lambda item: (-item.tokens, item.position))
    more = len(items) - most
    items = items[:most]
    width = max((len(f"{item.tokens:,}") for item in items), default=0)
    lines = [
        one_line(f"  {item.tokens:>{width},}  {item_name(item)} ({_looks(item)}, age {item.age})") for item in items
    ]
    return [*lines, f"  and {more:,} more; trimtab context show lists all"] if more > 0 else lines


def log_text(
    rows: Sequence[LogRow], entries: Mapping[str, Entry], dropped: Mapping[str, tuple[DroppedFact, ...]] | None
) -> list[str]:
    """The log: a line for what and by whom, one for sizes and reason, and with `dropped` what changed and which facts went."""
    lines: list[str] = []
    for row in rows:
        lines.append(row_head(row, entries[row.entry_id].time))
        if details := row_details(row):
            lines.append(f"    {details}")
        if dropped is None:
            continue
        for change in row.changes:
            lines += [f"    {change.target}", *_side("- ", change.before), *_side("+ ", change.after)]
        lines += _facts(dropped.get(row.entry_id, ()))
    return lines


def row_head(row: LogRow, time: str) -> str:
    """Which entry, when, at which step, by whom, and what it did to what."""
    targets = f" {listed(row.targets)}" if row.targets else ""
    author = f"  {row.author}" if row.author else ""
    what = _EVENTS.get(row.kind, row.kind.replace("_", " "))
    return f"{row.entry_id}  {time[:19].replace('T', ' ')}  step {row.step}{author}  {what}{targets}"


def row_details(row: LogRow) -> str:
    """Sizes, price and reason of a row, and whether it was taken back."""
    size = f"{row.before:,} → {row.after:,} tokens" if row.before is not None and row.after is not None else ""
    said = f"{size}{price(row.cost)}".removeprefix(", ")
    why = all_in_words(row.reasons or (row.reason,))
    wishes = f"wishes: {row.wishes}" if row.wishes else ""
    back = f"taken back by {row.reverted}" if row.reverted else ""
    return "; ".join(part for part in (said, why, _would(row), wishes, back) if part)


def _would(row: LogRow) -> str:
    """What a policy on trial would have done; beside it, in the shadow of another, what that did."""
    if row.kind == "shadow":
        by = row.details.get("by")
        return f"{by} would {_wanted(row, 'would') or 'keep all'}; done: {_wanted(row, 'did') or 'nothing'}"
    told = _wanted(row, "would") if row.kind == "dry_run" else ""
    return f"would {told}" if told else ""


def _wanted(row: LogRow, name: str) -> str:
    wanted = row.details.get(name)
    told = [
        f"{one.get('action')} {listed(list(map(str, one.get('targets') or ())))}".rstrip()
        + (f" ({one['reason']})" if row.kind == "shadow" and one.get("reason") else "")
        for one in (wanted if isinstance(wanted, list) else ())
        if isinstance(one, dict)
    ]
    return ", ".join(told)


def item_lines(story: ItemStory, session: str) -> list[str]:
    """The story of an item."""
    item = story.item
    tool = f" of {item.tool}" if item.tool else ""
    whole = f" of {story.full_tokens:,}" if story.tokens != story.full_tokens else ""
    pinned = ", pinned" if story.pinned else ""
    lines = [
        f"{item.name}: {item.role}{tool}, step {item.step}, turn {item.turn}",
        f"  {story.why}",
        f"  takes {story.tokens:,}{whole} tokens{pinned}",
    ]
    lines += [f"  in its place: {story.text}"] if story.text else []
    told = [edit for edit in story.edits if not (edit.holds and f"by {edit.edit} (" in story.why)]
    lines += [f"  {_touch(edit)}" for edit in told]
    used = list(dict.fromkeys(f"step {later.step}" for later in item.later if later.how == "used"))
    lines += [f"  used later by {listed(used)}"] if used else []
    if item.state != "full":
        lines += [f"  way back: {way}" for way in ways_back(story, session)]
    return lines


def ways_back(story: ItemStory, session: str) -> list[str]:
    """What a person can do to have an item whole again, and what the model can."""
    ways = [f"trimtab context restore {session} {story.item.name}"]
    ways += [f"trimtab context revert {session} {story.undone_by}"] if story.undone_by else []
    return [*ways, f"the model: recall id={story.item.name}"]


_REGRETTED: Mapping[Cause, str] = {
    "read": "read again",
    "repeat": "called again",
    "recall": "recalled",
    "reload": "brought back",
}


def edit_lines(story: EditStory, time: str, session: str) -> list[str]:
    """The story of an edit."""
    row = story.row
    lines = [row_head(row, time), *([f"  {details}"] if (details := row_details(row)) else [])]
    if story.now:
        states = [f"{name} ({state})" for name, state in story.now.items()]
        lines.append(f"  now: {listed(states)}")
    for regret in story.regrets:
        usd = f", ${regret.usd:.4f}" if regret.usd else ""
        later = "1 request later" if regret.later == 1 else f"{regret.later} requests later"
        lines.append(
            f"  {_REGRETTED[regret.cause]}: {regret.target} at step {regret.step}, {later}; {regret.tokens:,} tokens{usd}"
        )
    if story.used_without is not None:
        over = f", which may be over the limit of {story.limit:,}" if story.over else ""
        instead = f"instead of {story.used:,}" if story.used_without != story.used else "as well"
        lines.append(f"  without it the next request has {story.used_without:,} tokens {instead}{over}")
        if not over:
            lines.append(f"  way back: trimtab context revert {session} {row.entry_id}")
    elif not story.holds:
        lines.append("  it doesn't hold any more")
    return lines


def blame_text(found: Sequence[Blamed], times: Mapping[str, str]) -> list[str]:
    """What became of each item, from where it came up to whether it can be reached."""
    lines: list[str] = []
    for item in found:
        tool = f" of {item.tool}" if item.tool else ""
        when = times.get(item.entry, "")[:19].replace("T", " ")
        lines.append(f"{item.name}: {item.role}{tool}, step {item.step}, turn {item.turn}, {when}; now {item.state}")
        lines += [f"  it stood there: {item.snippet}"] if item.snippet else []
        for edit in item.hidden:
            size = (
                f", {edit.before:,} → {edit.after:,} tokens"
                if edit.before is not None and edit.after is not None
                else ""
            )
            undone = "" if edit.holds else " (undone)"
            why = f": {edit.reason}" if edit.reason else ""
            lines.append(
                f"  hidden by {edit.edit} ({edit.kind}, step {edit.step}, {edit.author or 'unknown'}{size}{price(edit.cost)}){why}{undone}"
            )
        for how, words in _LATER.items():
            steps = [_step(later) for later in item.later if later.how == how]
            lines += [f"  {words}: {listed(steps)}"] if steps else []
        lines.append(f"  reachable: {_WAYS[item.way]}")
        if elsewhere := item.elsewhere:
            lines.append(f"  also shown by {listed(elsewhere)}")
    return lines


_LATER = {"used": "used again in", "said": "named again in", "fetched": "fetched again in", "shown": "also came up in"}
_WAYS = {
    "shown": "yes, it stands in the context",
    "stub": "yes, its place in the context names the way back",
    "summary": "yes, a summary in the context names it as a source",
    "archive": "only by search: nothing in the context leads to it",
}


def _step(later: Later) -> str:
    return f"step {later.step} ({later.tool})" if later.tool else f"step {later.step}"


def _touch(edit: Touch) -> str:
    why = f": {edit.reason}" if edit.reason else ""
    back = "" if edit.holds else " (taken back)"
    return f"edit {edit.edit}, {edit.kind}, step {edit.step}, {edit.author or 'unknown'}{why}{back}"


def _kind(item: ItemFacts) -> str:
    return item.tool or item.kind


def _looks(item: ItemFacts) -> str:
    """Kind and state; a summary is both."""
    return ", ".join(dict.fromkeys((_kind(item), item.state)))


def _preview(message: Message) -> str:
    """How a message begins, on one line; of an answer without words, its calls."""
    text = next((part.text for part in message.parts if isinstance(part, Text) and part.text.strip()), "")
    if not text and isinstance(message, Assistant):
        text = " ".join(f"→ {part.name} {part.raw}" for part in message.parts if isinstance(part, ToolCall))
    return " ".join(text[: 4 * _PREVIEW].split())[:_PREVIEW]


def _side(mark: str, text: str) -> list[str]:
    lines = text.splitlines()
    more = len(lines) - _DIFF
    return [f"    {mark}{line}" for line in lines[:_DIFF]] + ([f"    {mark}… {more:,} more lines"] if more > 0 else [])


def _facts(facts: Sequence[DroppedFact]) -> list[str]:
    if not facts:
        return []
    more = len(facts) - _FACTS
    lines = [f"    facts that left the context: {len(facts):,}"]
    for fact in facts[:_FACTS]:
        who = ", said by you" if fact.by_user else ""
        lines.append(f"      {fact.kind}: {' '.join(fact.text.split())} [{fact.source}{who}]")
    return [*lines, f"      and {more:,} more"] if more > 0 else lines


def shown_names(look: Look) -> list[str]:
    """For each message of the next request, the name of its item."""
    slots = look.view.slots
    return [slots[s.place].lead or "" if s.lead else name_of(slots[s.place]) for s in look.view.shown()]
