"""`/cost`: what this session took so far, and what of it this run."""

from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.session import Session
from trimtab.types.usage import Usage


async def _run(desk: Desk, rest: str) -> None:
    desk.tell("\n".join(cost_lines(desk.session)))


def cost_lines(session: Session) -> list[str]:
    """Tokens and money since the session was opened, and the limits that hold."""
    spent, limits = session.agent.allowance.spent, session.agent.allowance.limits
    lines = [f"since this session was opened: {_usage(spent.usage)}, {_usd(spent.usd, session)}"]
    if limits.cost_usd is not None:
        lines.append(f"at most ${limits.cost_usd:g} (max_cost_usd)")
    if limits.tokens is not None:
        lines.append(f"at most {limits.tokens:,} tokens (max_tokens)")
    return lines


def _usage(usage: Usage) -> str:
    parts = [f"{usage.total:,} tokens", f"{usage.input:,} in", f"{usage.output:,} out"]
    parts += [f"{usage.cache_read:,} from the cache"] if usage.cache_read else []
    parts += [f"{usage.cache_write:,} written to it"] if usage.cache_write else []
    return f"{parts[0]} ({', '.join(parts[1:])})"


def _usd(usd: float | None, session: Session) -> str:
    return f"the price of {session.model.ref} isn't known" if usd is None else f"${usd:.4f}"


COMMAND = Command("cost", "", "what this session took since it was opened", _run)
