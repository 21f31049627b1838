"""The hook that answers a refused call, so that the turn goes on.

Resolving links touches the disk, so it happens in a thread.
"""

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import anyio

from trimtab.agent.ports import Answer, Proceed, ToolOutput
from trimtab.coding.permissions.decide import Deny, Policy, decide
from trimtab.coding.permissions.grants import Granted, nothing, with_grant
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, identity
from trimtab.types.messages import ToolCall


@dataclass(frozen=True, slots=True)
class WorkspacePaths:
    """Real paths of what a call names in this workspace (a `decide.Paths`). `search` is the PATH of commands."""

    workspace: Workspace
    search: str = os.defpath

    def of_tool(self, text: str) -> str | None:
        """As the writing tools find it."""
        try:
            return identity(self.workspace.place(text))
        except (ToolFailure, OSError):
            return None

    def of_shell(self, text: str) -> str | None:
        """As a redirection finds it: letter by letter."""
        return None if "\0" in text else os.path.realpath(self.workspace.cwd / text)

    def of_program(self, name: str) -> str | None:
        """As a shell finds it in the working folder."""
        folders = (str(self.workspace.cwd / folder) for folder in self.search.split(os.pathsep))
        found = None if "\0" in name or not name else shutil.which(name, path=os.pathsep.join(folders))
        return found and os.path.realpath(found)

    def is_in_git_folder(self, path: str) -> bool:
        """As git knows them: by HEAD and objects (the repository), or HEAD and commondir (a worktree's part)."""
        return any(
            (above / "HEAD").is_file() and ((above / "objects").is_dir() or (above / "commondir").is_file())
            for above in Path(path).parents
        )


@dataclass(frozen=True, slots=True)
class PermissionHooks:
    """Answers every call that `policy`, with what is `granted` for the moment, refuses with an error for the model; lets the others pass."""

    policy: Policy
    workspace: Workspace
    search: str = os.defpath
    granted: Granted = nothing

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Let `call` run, or answer it."""
        paths = WorkspacePaths(self.workspace, self.search)
        decision = await anyio.to_thread.run_sync(decide, call, with_grant(self.policy, self.granted()), paths)
        if isinstance(decision, Deny):
            text = f"Not run: {decision.reason}.\n{decision.hint}"
            return Answer(ToolOutput.text(text, is_error=True, details={"permission": "denied"}))
        return Proceed()

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Change nothing."""
        return output
