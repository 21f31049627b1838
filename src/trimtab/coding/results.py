"""What came of a turn: as a value for a program, as the last event of JSON mode."""

from collections.abc import Callable
from dataclasses import dataclass

from trimtab.agent.events import Failure, Result
from trimtab.agent.loop import Turn
from trimtab.coding.changed import Changed, Since
from trimtab.coding.checkpoints.history import history_of
from trimtab.coding.closing import Ending
from trimtab.coding.outcome import exit_code
from trimtab.coding.sdk.reply import Reply, reply_of
from trimtab.context.stores.log import SessionLog


@dataclass(frozen=True, slots=True)
class Results:
    """Sums up the turns of one session."""

    log: SessionLog
    changes: Changed
    closing: Ending

    def begin(self) -> Callable[[Turn], Reply]:
        """What makes a reply of a turn that begins now."""
        since = self.changes.now()

        def reply(turn: Turn) -> Reply:
            return reply_of(
                turn,
                output=self.closing.schema.parsed if self.closing.schema else None,
                changed_files=self.changes.files(since),
                verify=self.closing.verifier.outcome,
                tampered=self.closing.verifier.tampered,
                session_id=self.log.header.id,
                session_file=self.log.path,
            )

        return reply

    def last(self, turn: Turn, *, code: int | None = None) -> Result:
        """The last event; `code` overrides the exit code."""
        made = self.changes.checkpoints is not None and self.changes.checkpoints.made
        return Result(
            reason=turn.reason,
            exit_code=exit_code(turn.reason) if code is None else code,
            text=turn.text,
            usage=turn.usage,
            cost_usd=turn.cost_usd,
            summary_usage=turn.summaries.usage,
            summary_cost_usd=turn.summaries.usd,
            steps=turn.steps,
            session_id=self.log.header.id,
            session_file=str(self.log.path) if self.log.path else None,
            verify=self.closing.verifier.outcome,
            output=self.closing.schema.value if self.closing.schema else None,
            changed_files=self.changes.files(Since(), undone=history_of(self.log.archive).files_undone if made else ()),
            tampered=self.closing.verifier.tampered,
            error=None if turn.error is None else Failure(turn.error.kind, turn.error.message, turn.error.hint),
        )
