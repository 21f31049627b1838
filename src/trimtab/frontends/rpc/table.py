"""Every verb by its name, and when it is done.

now     at once, whatever else runs
lane    in the order in which it came, one after the other
queue   the same among what is queued for the agent, which waits for nothing else
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.frontends.rpc import verbs

Way: TypeAlias = Literal["now", "lane", "queue"]


@dataclass(frozen=True, slots=True)
class Verb:
    """A verb of the protocol. `ours`: pi has none of that name."""

    name: str
    request: type[verbs.Request]
    way: Way

    @property
    def ours(self) -> bool:
        """Whether it is an addition of ours."""
        return self.name.startswith("trimtab.")


_LANE: tuple[type[verbs.Request], ...] = (
    verbs.Prompt,
    verbs.NewSession,
    verbs.SetModel,
    verbs.CycleModel,
    verbs.SetThinkingLevel,
    verbs.CycleThinkingLevel,
    verbs.Compact,
    verbs.SwitchSession,
    verbs.Fork,
    verbs.Clone,
    verbs.RunCommand,
    verbs.Revert,
    verbs.Undo,
    verbs.Redo,
    verbs.GoTo,
    verbs.Verify,
    verbs.AcceptProtected,
    verbs.AnswerCall,
)
_QUEUE: tuple[type[verbs.Request], ...] = (verbs.Steer, verbs.FollowUp, verbs.ClearQueue)
_NOW: tuple[type[verbs.Request], ...] = (
    verbs.Abort,
    verbs.GetState,
    verbs.GetMessages,
    verbs.GetAvailableModels,
    verbs.GetAvailableThinkingLevels,
    verbs.SetSteeringMode,
    verbs.SetFollowUpMode,
    verbs.SetAutoCompaction,
    verbs.SetAutoRetry,
    verbs.AbortRetry,
    verbs.Bash,
    verbs.AbortBash,
    verbs.GetSessionStats,
    verbs.ExportHtml,
    verbs.GetForkMessages,
    verbs.GetEntries,
    verbs.GetTree,
    verbs.GetLastAssistantText,
    verbs.SetSessionName,
    verbs.GetCommands,
    verbs.Complete,
    verbs.GetContext,
    verbs.Diff,
    verbs.GetPermissions,
    verbs.SetMode,
    verbs.SkipSummary,
    verbs.GetResult,
    verbs.Jobs,
    verbs.Sessions,
    verbs.ArchiveSession,
    verbs.SetEvents,
    verbs.SetDialogs,
)


def _verbs(requests: tuple[type[verbs.Request], ...], way: Way) -> dict[str, Verb]:
    named = ((str(request.__struct_config__.tag), request) for request in requests)
    return {name: Verb(name, request, way) for name, request in named}


VERBS: dict[str, Verb] = {**_verbs(_LANE, "lane"), **_verbs(_QUEUE, "queue"), **_verbs(_NOW, "now")}
"""Every verb by its name."""

REPLY = "extension_ui_response"
"""The record by which a client answers a question; it has no answer of its own."""
