"""Decide whether a call may run while nobody can be asked.

    call ─▶ denied by a rule? ─▶ mode full? ─▶ reads only? ─▶ edit: is the real path in the project, and no settings?
                                                           └▶ command: each part known, allowed by a rule, or refused

Pure but for `Paths`, which resolves links. A refusal is written for two readers: the model learns to go on, the person which flag
or rule would allow it. Nothing is ever half-run: one refused part refuses the whole command.
"""

import os.path
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeAlias

from trimtab.coding.permissions.commands import SYSTEM_FOLDERS, is_read_only, unsafe_variables, unwrap
from trimtab.coding.permissions.denials import denied
from trimtab.coding.permissions.offers import offer
from trimtab.coding.permissions.rules import WRITING, Rule, Rules
from trimtab.coding.permissions.shell import Command, Unclear, Word, parse
from trimtab.coding.permissions.targets import redirect_targets
from trimtab.types.messages import ToolCall

Mode: TypeAlias = Literal["ask", "auto-edit", "full", "plan"]
"""`ask` and `plan` edit nothing unasked; without a person that means: nothing but what a rule allows."""

CONTEXT_TOOLS = frozenset({"archive", "memo", "recall", "plan", "edit_context", "memory", "context_status"})
"""What the model does to its own context: nothing of the project changes, and every edit can be taken back."""
READING_TOOLS = frozenset({"read", "ls", "grep", "find", "todo"}) | CONTEXT_TOOLS
PROTECTED = frozenset({".git", ".trimtab", ".agents"})
"""Folders whose files can make programs run: not edited without a person, wherever they are in the project."""

_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_MAX_DEPTH = 20
_OUTSIDE = "is outside the project"


class Paths(Protocol):
    """Real paths (links resolved) of what a call names; None when the text can't be a path."""

    def of_tool(self, text: str) -> str | None:
        """As the file tools read a path."""
        ...

    def of_shell(self, text: str) -> str | None:
        """As a command in the working folder reads it."""
        ...

    def of_program(self, name: str) -> str | None:
        """The program that a shell runs for `name`; None when none is found."""
        ...

    def is_in_git_folder(self, path: str) -> bool:
        """Whether a folder above the real path is one of git's own, whatever its name is."""
        ...


@dataclass(frozen=True, slots=True)
class Policy:
    """What holds in this session. `project` is a real path, so are `own`, the folders of Trimtab's settings and sessions;
    `reading` are the tools that change nothing."""

    mode: Mode
    project: str
    home: str = "/"
    rules: Rules = field(default_factory=Rules)
    reading: frozenset[str] = READING_TOOLS
    own: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """Run it."""


@dataclass(frozen=True, slots=True)
class Deny:
    """Don't run it: why, and what a person can do about it."""

    reason: str
    hint: str


Decision: TypeAlias = Allow | Deny


def decide(call: ToolCall, policy: Policy, paths: Paths) -> Decision:
    """Return whether `call` may run."""
    arguments = call.arguments or {}
    if call.name == "bash":
        return _decide_command(str(arguments.get("command", "")), policy, paths)
    if call.name in WRITING:
        return _decide_edit(call.name, arguments, policy, paths)
    if _any(policy.rules.deny, call.name):
        return _denied_by_rule(call.name)
    if policy.mode == "full" or call.name in policy.reading or _any(policy.rules.allow, call.name):
        return Allow()
    return Deny(f"the tool {call.name!r} may change things", _hint(f'permissions.allow = ["{call.name}"]'))


def _decide_edit(tool: str, arguments: dict[str, Any], policy: Policy, paths: Paths) -> Decision:
    text = str(arguments.get("path", ""))
    path = paths.of_tool(text)
    if path is None:
        return Allow()  # the tool says better what is wrong with it
    if _denies_path(tool, path, policy):
        return _denied_by_rule(f"{tool} {text}")
    problem = None if policy.mode == "full" else _edit_problem(path, policy, paths)
    return Deny(f"{text} {problem}", _hint(_path_rule(path))) if problem else Allow()


def _denies_path(tool: str, path: str, policy: Policy) -> bool:
    return _any(policy.rules.deny, tool, lambda rule: rule.fits_path(path, project=policy.project, home=policy.home))


def _edit_problem(path: str, policy: Policy, paths: Paths) -> str | None:
    """Return why the real path may not be written, None when it may."""
    if _any(policy.rules.allow, "write", lambda rule: rule.fits_path(path, project=policy.project, home=policy.home)):
        return None
    if policy.mode in ("ask", "plan"):
        return f"is not edited in mode {policy.mode}"
    if not _is_in(path, policy.project):
        return _OUTSIDE
    if policy.project == "/" or _is_in(policy.home, policy.project):
        return f"is in {policy.project}, which is too wide for a project: the whole home folder is in it"
    if any(_is_in(path, folder) for folder in policy.own):
        return "is among Trimtab's own settings and sessions"
    if _is_personal(path, policy):
        return "is among the person's own settings, which can make programs run"
    parts = path[len(policy.project) :].casefold().split("/")
    protected = next((part for part in parts if part in PROTECTED), None)
    if protected is None and paths.is_in_git_folder(path):
        protected = "a folder of git's own"
    return f"is in {protected}, whose files can make programs run" if protected else None


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _is_personal(path: str, policy: Policy) -> bool:
    """Whether the path is a dot file of the home folder (`~/.bashrc`), of which the project is no part."""
    if not _is_in(path, policy.home):
        return False
    top = path[: len(policy.home.rstrip("/")) + 1] + path[len(policy.home.rstrip("/")) + 1 :].partition("/")[0]
    return os.path.basename(top).startswith(".") and top != policy.project and not _is_in(policy.project, top)


def _decide_command(script: str, policy: Policy, paths: Paths) -> Decision:
    denials = tuple(rule for rule in policy.rules.deny if rule.is_about("bash"))
    if any(rule.argument is None for rule in denials):
        return _denied_by_rule("bash")
    if target := _denied_target(script, policy, paths):
        return _denied_by_rule(f"> {target}")
    if policy.mode == "full" and not denials:
        return Allow()
    try:
        commands = parse(script)
        refused = denied(commands, denials) if denials else None
        if refused is not None:
            return _denied_by_rule(_written(refused))
        return Allow() if policy.mode == "full" else _decide_parts(commands, policy, paths)
    except Unclear as unclear:
        ways = "Rules of permissions.deny hold." if policy.mode == "full" else _hint(None)
        return Deny(f"the command can't be judged: {unclear}", f"Use simpler commands. {ways}")


def _denied_target(script: str, policy: Policy, paths: Paths) -> str | None:
    """A redirection is an edit, so what may not be edited may not be redirected to, in any mode."""
    for target in redirect_targets(script) if policy.rules.deny else ():
        if (path := paths.of_shell(target)) and _denies_path("write", path, policy):
            return target
    return None


def _decide_parts(commands: tuple[Command, ...], policy: Policy, paths: Paths) -> Decision:
    refused = [command for command in commands if not _may_run(command, policy, paths)]
    if refused:
        rules = list(dict.fromkeys(offer(command.words) for command in refused))
        named = ", ".join(repr(_written(command.words)) for command in refused)
        wanted = ", ".join(f'"{rule}"' for rule in rules)
        if any(unsafe_variables(command) for command in commands):
            return Deny(f"{named} may change things", _hint(None))  # a rule alone wouldn't let it run
        return Deny(f"{named} may change things", _hint(f"tools.bash.allow = [{wanted}]" if all(rules) else None))
    for command in commands:
        if variables := unsafe_variables(command):
            return Deny(f"setting {variables[0]} can change what programs do", _hint(None))
    return _decide_writes(commands, policy, paths)


def _decide_writes(commands: tuple[Command, ...], policy: Policy, paths: Paths) -> Decision:
    moves = any(command.words and command.words[0].text == "cd" for command in commands)
    for target in (target for command in commands for target in command.writes):
        if target.text in _SINKS:
            continue
        if moves and not target.text.startswith("/"):
            return Deny(f"after cd it is unclear where {target.text} is", "Redirect to an absolute path.")
        path = paths.of_shell(target.text)
        problem = _edit_problem(path, policy, paths) if path else "is no path"
        if problem:
            return Deny(f"{target.text} {problem}", _hint(_path_rule(path) if path else None))
    return Allow()


def _may_run(command: Command, policy: Policy, paths: Paths, *, depth: int = 0) -> bool:
    if not command.words or _any(policy.rules.allow, "bash", lambda rule: rule.fits_command(command.words)):
        return True
    if _is_editable_program(command.words[0].text, policy, paths):
        return False
    if is_read_only(command.words):
        return True
    inner = unwrap(command) if depth < _MAX_DEPTH else None
    return inner is not None and all(
        _may_run(c, policy, paths, depth=depth + 1) and not unsafe_variables(c) and not c.writes for c in inner
    )


def _is_editable_program(name: str, policy: Policy, paths: Paths) -> bool:
    """Whether an edit that nobody is asked about may decide what the command does (`.venv/bin/pip` of the project)."""
    path = paths.of_program(name)
    if path is None or path.startswith(SYSTEM_FOLDERS):
        return False
    return _edit_problem(path, policy, paths) is None


def _any(rules: tuple[Rule, ...], tool: str, fits: Callable[[Rule], bool] = lambda rule: rule.argument is None) -> bool:
    return any(rule.is_about(tool) and fits(rule) for rule in rules)


def _written(words: tuple[Word, ...]) -> str:
    text = " ".join(word.text for word in words)
    return text if len(text) <= 120 else text[:119] + "…"


def _path_rule(path: str) -> str:
    return f'permissions.allow = ["write({path})"]'


def _denied_by_rule(what: str) -> Deny:
    return Deny(f"a rule of permissions.deny refuses {what!r}", "Go on without it, or say what you need.")


def _hint(rule: str | None) -> str:
    ways = f"--permission full, or the setting {rule}" if rule else "--permission full"
    return f"It isn't asked about in this mode; a person allows it with {ways}. Go on without it, or say what you need."
