"""`/permissions`: what holds, why a call would be asked about, another mode, and taking an answer back."""

from collections.abc import Sequence
from dataclasses import replace

import anyio

from trimtab.coding.calls_in_words import call_in_words
from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.guard import keeper_of
from trimtab.coding.permissions.asking import visible
from trimtab.coding.permissions.policy import MODES
from trimtab.coding.permissions.rules import Rule
from trimtab.coding.session import Session
from trimtab.coding.telling.permission_text import policy_lines, why_lines
from trimtab.types.errors import UsageError


async def _run(desk: Desk, rest: str) -> None:
    word, _, argument = rest.partition(" ")
    session = desk.session
    if not word:
        desk.tell("\n".join(policy_lines(session.permissions.current)))
    elif word == "why":
        await _why(desk, argument.strip())
    elif word == "forget":
        await _forget(desk, argument.strip())
    elif mode := next((mode for mode in MODES if mode == word and not argument), None):
        session.set_mode(mode)
        desk.tell(f"mode {mode}, from the next call on")
    else:
        raise UsageError(f"no mode {visible(rest)!r}", hint=f"{', '.join(MODES)}; or: why TOOL ARGUMENT, forget RULE.")


async def _why(desk: Desk, rest: str) -> None:
    tool, _, argument = rest.partition(" ")
    session = desk.session
    call = call_in_words(tool, argument, tools=[tool.spec.name for tool in session.agent.tools])
    judged = await anyio.to_thread.run_sync(session.permissions.judge, call)
    desk.tell("\n".join(why_lines(rest, judged)))


async def _forget(desk: Desk, text: str) -> None:
    """Take back what an answer allowed, in this session and in the person's file."""
    permissions, keeper = desk.session.permissions, keeper_of(desk.session.project)
    kept = bool(text) and await anyio.to_thread.run_sync(keeper.forget, text)
    if kept:
        left = tuple(r for r in permissions.policy.rules.allow if not (r.text == text and keeper.holds(r)))
        permissions.policy = replace(permissions.policy, rules=replace(permissions.policy.rules, allow=left))
    if permissions.forget(text) or kept:
        desk.tell(f"forgot {visible(text)}")
        return
    rules = permissions.current.rules
    stands = next((rule.origin for rule in (*rules.deny, *rules.ask, *rules.allow) if rule.text == text), "")
    hint = f"It stands in {stands}; take it out there." if stands else "/permissions lists the rules."
    raise UsageError(f"no answer gave the rule {visible(text)!r}", hint=hint)


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    word, blank, rest = typed.partition(" ")
    if not blank:
        others = (Completion("why", "what becomes of a call"), Completion("forget", "take an answer back"))
        choices = (*(Completion(mode, "another mode") for mode in MODES), *others)
        return [choice for choice in choices if choice.value.startswith(word)]
    if word == "forget":
        return [Completion(f"forget {r.text}", r.origin) for r in _given(session) if r.text.startswith(rest)]
    if word == "why" and " " not in rest:
        names = (tool.spec.name for tool in session.agent.tools)
        return [Completion(f"why {name}") for name in names if name.startswith(rest)]
    return ()


def _given(session: Session) -> Sequence[Rule]:
    keeper = keeper_of(session.project)
    return (*session.permissions.answers, *(r for r in session.permissions.policy.rules.allow if keeper.holds(r)))


COMMAND = Command(
    "permissions",
    "[MODE | why TOOL … | forget RULE]",
    "what may run unasked, and why; or another mode",
    _run,
    _complete,
)
