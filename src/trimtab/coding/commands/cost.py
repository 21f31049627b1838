"""`/cost`: what this session took so far, and of it since it was opened, by role and model, and the limits that hold."""

import anyio

from trimtab.agent.ports import Spent
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session
from trimtab.coding.taken import taken_by
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table
from trimtab.types.usage import Usage


async def _run(desk: Desk, rest: str) -> None:
    lines = await anyio.to_thread.run_sync(cost_lines, desk.session)
    desk.tell("\n".join(map(one_line, lines)))


def cost_lines(session: Session) -> list[str]:
    """Tokens and money over all the times that the session was open, what came since it was opened, by role and model where there were several, and the limits that hold.

    Reads the session's file: call it in a thread.
    """
    spent, limits, whole = session.spent, session.agent.allowance.limits, taken_by(session)
    lines = [f"this session took {_said(whole, session)}"]
    if whole.usage.total > spent.usage.total:
        lines += [f"since it was opened: {_said(spent, session)}"]
    rows = session.spent_by()
    if len(rows) > 1:
        cells = [(role, ref, f"{one.usage.total:,} tokens", _usd(one)) for (role, ref), one in rows.items()]
        lines += [f"  {line}" for line in table(cells, None, right=(2, 3))]
    if limits.cost_usd is not None:
        lines.append(f"at most ${limits.cost_usd:g} since it was opened (max_cost_usd)")
    if limits.tokens is not None:
        lines.append(f"at most {limits.tokens:,} tokens since it was opened (max_tokens)")
    return lines


def _said(spent: Spent, session: Session) -> str:
    if spent.usage.total:
        return f"{_usage(spent.usage)}, {_usd(spent)}"
    return "nothing" if session.model.prices else f"nothing; the price of {session.model.ref} isn't known"


def _usage(usage: Usage) -> str:
    parts = [f"{usage.total:,} tokens", f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [f"{usage.cache_read:,} from the cache"] if usage.cache_read else []
    parts += [f"{usage.cache_write:,} written to it"] if usage.cache_write else []
    return f"{parts[0]} ({', '.join(parts[1:])})"


def _usd(spent: Spent) -> str:
    return "at a price that isn't known" if spent.usd is None else f"${spent.usd:.4f}"


COMMAND = Command("cost", "", "what this session took, and since it was opened by role and model", _run)
