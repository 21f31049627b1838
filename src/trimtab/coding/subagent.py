"""A session inside a session: a child works on its own, and only its answer comes back.

    run_subagent(parent, prompt) ──▶ child: own log, engine, policy, context tools ──▶ answer ──capped──▶ ChildResult
                                                                        └ whole: a memo or a file of the parent, and the child's session

The one rule: of what a child read and did nothing reaches the parent but its last words, as many as the parent can afford.
"""

from dataclasses import dataclass

import anyio

from trimtab.agent.events import TurnReason
from trimtab.agent.ports import Provider
from trimtab.coding.choose import AtFile, Choice, Ephemeral
from trimtab.coding.opening import open_session
from trimtab.coding.session import Session
from trimtab.context.shorten.cap import cap_text
from trimtab.types.usage import Usage

KEY = "subagent-"
"""What the name of a child's whole answer begins with; the child's session id follows."""
RESULT_TOKENS = 2_000
"""How many tokens of a child's answer its parent gets when nobody says how many."""


@dataclass(frozen=True, slots=True)
class ChildResult:
    """What came of it. `text` is what the parent may be shown; `cut`: it is less than the child said.

    `session_id` and `session_file` name the child's session, where the whole stands; the file is None when the parent keeps none either.
    """

    text: str
    reason: TurnReason
    cut: bool
    session_id: str
    session_file: str | None
    usage: Usage
    cost_usd: float | None


async def run_subagent(
    parent: Session, prompt: str, *, max_result_tokens: int = RESULT_TOKENS, provider: Provider | None = None
) -> ChildResult:
    """Let a child session with the parent's settings, model and permission mode work on `prompt`, and return what it said.

    Its session file lies beside the parent's. `provider` answers instead of the model's own. Raises as `open_session` does.
    """
    async with open_session(
        parent.project, await anyio.to_thread.run_sync(_beside, parent), provider=provider
    ) as child:
        if provider is None and child.model.ref != parent.model.ref:
            await child.set_model(parent.model.ref)
        child.set_mode(parent.permissions.policy.mode)
        turn = await child.prompt(prompt)
        result = child.result(turn)
    text, cut = cap_text(turn.text, max_result_tokens, parent.context.engine.tally.text, where=result.session_file)
    if cut is not None:
        way = await anyio.to_thread.run_sync(_keep, parent, f"{KEY}{result.session_id}", turn.text)
        text += f"\n[cut; all of it: {way}]" if way else "\n[cut]"
    return ChildResult(
        text, turn.reason, cut is not None, result.session_id, result.session_file, turn.usage, turn.cost_usd
    )


def _beside(parent: Session) -> Choice:
    """A new file beside the parent's, or none when that has none."""
    file = parent.log.path
    if file is None:
        return Ephemeral()
    number = 1
    while (child := file.with_name(f"{file.stem}.child{number}.jsonl")).exists():
        number += 1
    return AtFile(child)


def _keep(parent: Session, key: str, text: str) -> str:
    return parent.context.keep(key, text, summary="the whole answer of a subagent")
