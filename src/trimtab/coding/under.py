"""What a session has from another one that it works for: its rules, its purse, its jobs, the record of what it changes.

parent Session ──lent(…)──▶ Under ──▶ open_session(under=…) ──▶ child: its own log, window and model, nothing else of its own
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trimtab.agent.ports import Hooks, Spent, Tool
from trimtab.coding.agents.agent_file import NEVER, Subagent
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.checkpoints.recorder import Checkpointer, ChildCheckpoints
from trimtab.coding.extensions.acting import Acting
from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.texts import shown_path
from trimtab.coding.jobs.jobs import Jobs
from trimtab.coding.mcp.narrowed import CARRIERS, narrowed
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.permissions.policy import CONTEXT_TOOLS
from trimtab.coding.person import NOBODY, Person, Question
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.toolset import TOOLS
from trimtab.context.stores.log import SessionLog
from trimtab.types.usage import Usage

if TYPE_CHECKING:
    from trimtab.coding.mcp.hub import Mcp
    from trimtab.coding.session import Session


@dataclass(frozen=True, slots=True)
class Named:
    """The parent's person, who hears in each question which agent asks, and for which of its tasks: several may work on one each."""

    person: Person
    name: str
    task: str

    async def ask(self, question: Question) -> str | None:
        """Ask them."""
        details = (*question.details, f"for its task: {self.task}") if self.task else question.details
        return await self.person.ask(replace(question, text=f"Agent {self.name}: {question.text}", details=details))


@dataclass(frozen=True, slots=True)
class Purse:
    """What the child takes, it takes from its parent's limits, and stands in its parent's totals."""

    parent: "Session"
    ref: Callable[[], str]

    def spend(self, usage: Usage, usd: float | None) -> None:
        """Book it."""
        self.parent.context.transcript.book_spent(usage, usd, self.ref())

    def check(self, beside: Spent) -> None:
        """Raise `BudgetExceeded` when the parent has no more."""
        self.parent.agent.allowance.check(self.parent.context.transcript.unsettled() + beside)


@dataclass(frozen=True, slots=True)
class Under:
    """All of it. `model` is what the child works with; `depth` how many parents it has."""

    parent: "Session"
    agent: Subagent
    model: str
    depth: int
    permissions: PermissionHooks
    changes: ChangeRecorder
    checkpoints: Checkpointer | None
    jobs: Jobs
    confiner: Confiner
    tools: tuple[Tool, ...]
    """Tools of the parent that came from elsewhere."""
    acting: Acting
    """What of others acts in the parent, and so in it."""
    hooks: Hooks | None
    """What looks at each call before ours do."""
    task: str = ""
    """What it was asked to do, as it may stand in a line."""

    @property
    def mcp(self) -> "Mcp":
        """The parent's servers."""
        return self.parent.mcp

    @property
    def person(self) -> Person:
        """Who can be asked."""
        person = self.permissions.person
        return person if person is NOBODY else Named(person, self.agent.name, self.task)

    def sections(self) -> tuple[Section, ...]:
        """What the agent's file says."""
        source = "Trimtab" if self.agent.path is None else shown_path(self.agent.path)
        return (Section("agent", source, self.agent.text),)

    def allows(self, tool: str) -> bool:
        """Whether the child has the tool of that name: its parent has it, and its file doesn't leave it out."""
        if tool in NEVER or (tool == "task" and self.depth >= self.parent.project.settings.agents.depth):
            return False
        if self.parent.under is not None and not self.parent.under.allows(tool):
            return False
        # What finds and calls tools of servers holds no more than the child may have: `narrowed`.
        return tool in CARRIERS or self.agent.has(tool)


def lent(parent: "Session", agent: Subagent) -> Under:
    """What a session that works as `agent` has from `parent`."""
    own = (*TOOLS, *CONTEXT_TOOLS)
    return Under(
        parent,
        agent,
        agent.model or parent.model.ref,
        parent.under.depth + 1 if parent.under else 1,
        parent.permissions,
        parent.kit.hooks,
        parent.keeper,
        parent.jobs,
        parent.kit.confiner,
        narrowed([tool for tool in parent.agent.tools if tool.spec.name not in own], agent.has),
        parent.extensions,
        parent.hooks,
    )


def hooks_under(under: Under | None, hooks: Hooks, log: SessionLog) -> Hooks:
    """`hooks`, and in front of them what records the changes of a child in its parent's turn."""
    if under is None or under.checkpoints is None:
        return hooks
    return ChildCheckpoints(hooks, under.checkpoints, log.header.id)
