"""`/cost`: what this session took so far, by role and model, and the limits that hold."""

from trimtab.agent.ports import Spent
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import table
from trimtab.types.usage import Usage


async def _run(desk: Desk, rest: str) -> None:
    desk.tell("\n".join(map(one_line, cost_lines(desk.session))))


def cost_lines(session: Session) -> list[str]:
    """Tokens and money since the session was opened, by role and model where there were several, and the limits that hold."""
    spent, limits = session.spent, session.agent.allowance.limits
    lines = [
        f"since this session was opened: {_usage(spent.usage)}, {_usd(spent)}" if spent.usage.total else _none(session)
    ]
    rows = session.spent_by()
    if len(rows) > 1:
        cells = [(role, ref, f"{one.usage.total:,} tokens", _usd(one)) for (role, ref), one in rows.items()]
        lines += [f"  {line}" for line in table(cells, None, right=(2, 3))]
    if limits.cost_usd is not None:
        lines.append(f"at most ${limits.cost_usd:g} (max_cost_usd)")
    if limits.tokens is not None:
        lines.append(f"at most {limits.tokens:,} tokens (max_tokens)")
    return lines


def _none(session: Session) -> str:
    """What is to say before anything was asked."""
    price = "" if session.model.prices else f"; the price of {session.model.ref} isn't known"
    return f"since this session was opened: nothing{price}"


def _usage(usage: Usage) -> str:
    parts = [f"{usage.total:,} tokens", f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [f"{usage.cache_read:,} from the cache"] if usage.cache_read else []
    parts += [f"{usage.cache_write:,} written to it"] if usage.cache_write else []
    return f"{parts[0]} ({', '.join(parts[1:])})"


def _usd(spent: Spent) -> str:
    return "at a price that isn't known" if spent.usd is None else f"${spent.usd:.4f}"


COMMAND = Command("cost", "", "what this session took since it was opened, by role and model", _run)
