"""Going back in a session: turns taken back and done again, another entry to go on from.

undo, redo, diff ──▶ Rewinder (conversation, files) ──▶ news for the model's next prompt
go_to ──▶ the branch that is left summed up, if wished ──▶ the log keeps the place
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

import anyio

from trimtab.agent.run import Agent, AgentBusy
from trimtab.coding.checkpoints.open import Checkpoints
from trimtab.coding.checkpoints.undo import Outcome, Rewinder, What
from trimtab.coding.context.open import OpenContext
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import UsageError
from trimtab.types.messages import Text, User
from trimtab.types.text import scrub

if TYPE_CHECKING:
    from trimtab.context.summary.job import SummaryOutcome

_FILES_NAMED = 20
_TITLED = 4_000
"""Characters up to which a prompt is kept once more as it was typed, where news stand in front of it."""


class Past:
    """What can be done about what was said and changed. `checkpoints` are None where none are kept."""

    def __init__(self, log: SessionLog, agent: Agent, context: OpenContext, checkpoints: Checkpoints | None) -> None:
        self.checkpoints = checkpoints
        self._log = log
        self._agent = agent
        self._context = context
        self._news: list[str] = []

    def with_news(self, prompt: str | User) -> str | User:
        """The prompt, and before it what the model can't know otherwise: files that the person took back."""
        news, self._news = self._news, []
        if not news:
            return prompt
        said = prompt.parts if isinstance(prompt, User) else (Text(scrub(prompt)),)
        origin = prompt.origin if isinstance(prompt, User) else "prompt"
        words = (prompt.typed or prompt.text) if isinstance(prompt, User) else scrub(prompt)
        typed = words if len(words) <= _TITLED else ""
        return User((Text("\n".join(f"[{line}]" for line in news) + "\n\n"), *said), origin=origin, typed=typed)

    async def undo(
        self, number: int | None = None, *, what: What = "both", force: bool = False, preview: bool = False
    ) -> Outcome:
        """Take the last `number` turns back, one if it is left out: what was said, what was changed in files, or both; `force`: files too that were changed since
        (without a number, right behind an undo that left such files: those of it); `preview`: touch nothing, and say what would come of it.

        Raises `AgentBusy`, or `UsageError` when there is nothing to take back.
        """
        if preview:
            self._require_idle()
            rewinder = self._rewinder()
            return await anyio.to_thread.run_sync(lambda: rewinder.preview(number, what=what, force=force))
        outcome = await self._rewind(lambda rewinder: rewinder.undo(number, what=what, force=force))
        if what == "files" and outcome.put_back:
            self._news.append(f"the person took back what you changed in {_named(outcome)}")
        return outcome

    async def redo(self) -> Outcome:
        """Do again what was taken back last. Raises as `undo` does."""
        outcome = await self._rewind(Rewinder.redo)
        if outcome.talk:
            self._news = []
        elif outcome.put_back:
            self._news.append(f"the person put back what you changed in {_named(outcome)}")
        return outcome

    async def diff(self, number: int | None = 1) -> tuple[str, ...]:
        """What the last turns (None: all) changed in files, a diff of git's a file, named from the project's folder, against how the files are now."""
        return await anyio.to_thread.run_sync(self._rewinder().diff, number)

    async def go_to(self, entry_id: str | None, *, summary: bool = False, wishes: str = "") -> "SummaryOutcome | None":
        """Go on from another entry of the session (None: before the first): the log keeps where, so a quit doesn't lose it.

        `summary`: what was said on the branch that is left is summed up for the other one; `wishes` go to whoever writes that. Returns what was made of it.
        Raises `AgentBusy`, or `UsageError` for an unknown entry.
        """
        self._require_idle()
        if entry_id is not None and entry_id not in self._log.archive:
            raise UsageError(f"no entry {entry_id!r} in this session", hint="Give the id of one of its entries.")
        from trimtab.coding.branches import left_behind, summary_of, told  # noqa: PLC0415 - few leave a branch

        left = left_behind(self._log.archive, entry_id) if summary else None
        outcome = await summary_of(self._context, left, wishes=wishes) if left is not None and left.messages else None
        await anyio.to_thread.run_sync(self._log.move_leaf, entry_id)
        if left is not None and outcome is not None and outcome.text:
            await self._context.transcript.append([told(outcome, left.messages)])
        self._news = []
        self._agent.look_again({p.call_id: p.question for p in self._log.parked})
        return outcome

    async def _rewind(self, work: Callable[[Rewinder], Outcome]) -> Outcome:
        self._require_idle()
        outcome = await anyio.to_thread.run_sync(work, self._rewinder())
        self._agent.look_again({p.call_id: p.question for p in self._log.parked})
        return outcome

    def _rewinder(self) -> Rewinder:
        if self.checkpoints is None:
            raise UsageError("nothing is kept to undo", hint="Set checkpoints.enabled = true for the next session.")
        return self.checkpoints.rewinder

    def _require_idle(self) -> None:
        if self._agent.busy:
            raise AgentBusy("a turn runs", hint="Wait until it is done, or stop it with Ctrl-C.")


def _named(outcome: Outcome) -> str:
    """The files that were put back, a few of them by name."""
    paths = [change.path for change in outcome.put_back]
    more = f" and {len(paths) - _FILES_NAMED} more" if len(paths) > _FILES_NAMED else ""
    return ", ".join(paths[:_FILES_NAMED]) + more
