"""What holds when a call is judged: the mode, the rules, where the project is, and which tools only look."""

from dataclasses import dataclass, field
from typing import Literal, Protocol, TypeAlias

from trimtab.coding.permissions.rules import Rules
from trimtab.coding.permissions.verdicts import By

Mode: TypeAlias = Literal["ask", "auto-edit", "full", "plan"]
"""`ask`: edits, and commands that may change things, need a person or a rule. `auto-edit`: edits inside the project don't. `full`: nothing does. `plan`: nothing is changed."""
MODES: tuple[Mode, ...] = ("ask", "auto-edit", "full", "plan")

CONTEXT_TOOLS = frozenset({"archive", "memo", "recall", "plan", "edit_context", "memory", "context_status"})
"""What the model does to its own context: nothing of the project changes, and every edit can be taken back."""
READING_TOOLS = frozenset({"read", "ls", "grep", "find", "todo", "jobs", "task", "mcp_find"}) | CONTEXT_TOOLS
"""`jobs` ends and keeps only what a command that was allowed has started; of a `task`, each call is judged by itself."""

MODE_WORDS: dict[Mode, str] = {
    "ask": "Permission mode: ask. Edits, and commands that may change things, run only if the person or a rule allows them.",
    "auto-edit": "Permission mode: auto-edit. Edits inside the project run unasked; other changes only if the person or a rule allows them.",
    "full": "Permission mode: full. Everything runs unasked, unless a rule refuses it.",
    "plan": "Permission mode: plan. Nothing may be changed now, and whatever could change something is refused: look around, then say what you would do.",
}
"""What the model is told of a mode."""


def narrower(one: Mode, other: Mode) -> Mode:
    """Of two modes the one that lets less run unasked."""
    return min(one, other, key=_NARROWEST.index)


_NARROWEST: tuple[Mode, ...] = ("plan", "ask", "auto-edit", "full")


class Paths(Protocol):
    """Real paths (links resolved) of what a call names; None when the text can't be a path."""

    def of_tool(self, text: str, tool: str) -> str | None:
        """As the file tool `tool` finds what is written so."""
        ...

    def of_shell(self, text: str) -> str | None:
        """As a command in the working folder reads it."""
        ...

    def of_program(self, name: str) -> str | None:
        """The program that a shell runs for `name`; None when none is found."""
        ...

    def has_version_by_path(self, name: str) -> bool:
        """Whether the program is one that starts the version which a project's file names, and that file names a folder."""
        ...

    def python_path(self) -> tuple[str, ...]:
        """The folders of PYTHONPATH, from which every Python program takes modules first."""
        ...

    def is_in_git_folder(self, path: str) -> bool:
        """Whether a folder above the real path is one of git's own, whatever its name is."""
        ...

    def has_other_names(self, path: str) -> bool:
        """Whether the file has further names (hard links), which may be anywhere."""
        ...

    def git_program(self, folder: str) -> str:
        """What in the settings of the repository that git finds from `folder` (as a command in the working folder reads it) can make git run a program; empty when nothing does."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds in this session. `project` is a real path, so are `own`, the folders of Trimtab's settings and sessions;
    `reading` are the tools that change nothing. `mode_origin` says where the mode was set."""

    mode: Mode
    project: str
    home: str = "/"
    rules: Rules = field(default_factory=Rules)
    reading: frozenset[str] = READING_TOOLS
    own: tuple[str, ...] = ()
    mode_origin: str = ""

    @property
    def by_mode(self) -> By:
        """The mode as what decided."""
        return By("mode", self.mode, self.mode_origin)
