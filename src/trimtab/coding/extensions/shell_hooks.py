"""The shell hooks of all layers of settings, those of a project judged by content: `[[hooks.POINT]]`.

    layer ──each by itself──▶ ShellHook(point, command, match, limit) ──▶ a Hook that starts it
      └─ the project's: the entry, and each of its files that the command names, are judged before, looked at again before each run, and run in the sandbox

The hooks of all layers act together. The one rule: a command of a project acts only as it was when the person let it.
"""

import os
import re
import shlex
import shutil
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import anyio

from trimtab.coding.extensions.chain import Hook, Tell
from trimtab.coding.extensions.foreign import HookFailed
from trimtab.coding.extensions.match import Match, parse_match
from trimtab.coding.extensions.points import POINTS, Answer, Point
from trimtab.coding.extensions.shell import answer_of, payload, run_hook
from trimtab.coding.permissions import redirect_targets
from trimtab.coding.project import Project
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.tables import shortened
from trimtab.coding.toolset import environment_of
from trimtab.coding.trust.code import digest_of, read_items
from trimtab.coding.trust.own import is_own
from trimtab.config.load import Layer, load
from trimtab.types.errors import ConfigError

_SHOWN = 60
_OPERATORS = re.compile(r"[;&|<>$`(){}*?\[\]#!\n]")
"""What makes a line more than words, for which only a shell knows what it names."""
_INTERPRETER = re.compile(r"(python|node|ruby|perl|bash|sh|zsh|dash|deno|bun|php|lua)[0-9.]*")
_BUILTIN = frozenset({"exit", "echo", "true", "false", "test", "printf", ":", ".", "source", "exec", "cd", "eval"})
_LEAVING_S = 5.0
"""Seconds that a command at the end of a session has at most."""


@dataclass(frozen=True, slots=True)
class ShellHook:
    """A command at a point, and where it was set. `files` are the digests of the project's files that it names; `entry` is what is judged of the setting itself."""

    point: Point
    command: str
    match: Match
    limit_s: float
    origin: str
    of_project: bool = False
    label: str = ""
    entry: bytes = b""
    files: Mapping[str, Path] = field(default_factory=dict)

    @property
    def who(self) -> str:
        """How people know it."""
        return f"hook `{shortened(one_line(self.command), _SHOWN)}`"


def shell_hooks(project: Project) -> tuple[ShellHook, ...]:
    """The hooks of all layers, the weakest layer first. Raises `ConfigError` for one that can't be read. Touches the disk."""
    found: list[ShellHook] = []
    for layer in project.loaded.layers:
        if "hooks" in layer.values:
            found += _in_layer(layer, project)
    return tuple(found)


def _in_layer(layer: Layer, project: Project) -> list[ShellHook]:
    table = load([layer]).settings.hooks
    of_project = layer.name.startswith("project config")
    found = []
    for point in POINTS:
        for at, one in enumerate(getattr(table, point)):
            place = f"hooks.{point}[{at}]"
            try:
                if not one.command.strip() or "\0" in one.command:
                    raise ConfigError("it has no command", hint="Write command = …")
                match = parse_match(one.match, point)
            except ConfigError as e:
                raise ConfigError(f"{layer.name}: setting '{place}': {e.message}", hint=e.hint) from None
            file = os.path.relpath(layer.file or "", project.trust.root) if of_project else ""
            label, files = f"{file} {place}", _named_files(one.command, project) if of_project else {}
            entry = f"command = {one.command}\nmatch = {one.match}\ntimeout_s = {one.timeout_s:g}\n".encode()
            found.append(
                ShellHook(point, one.command, match, one.timeout_s, layer.name, of_project, label, entry, files)
            )
    return found


def _named_files(command: str, project: Project) -> dict[str, Path]:
    """The project's files that a command line names, by their paths from the project's root on; not those that it only writes."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        words = command.split()
    root, found, written = project.trust.root, {}, redirect_targets(command)
    for word in words:
        if word in written:
            continue
        path = project.cwd / os.path.expanduser(word.strip(";&|()<>"))
        try:
            named = path.is_file() and is_own(root, path)
        except (OSError, ValueError):
            continue
        if named:
            real = Path(os.path.realpath(path))
            found[os.path.relpath(real, root)] = real
    return found


@dataclass(frozen=True, slots=True)
class Runner:
    """Starts hooks: `shell` is its path, `environment` that of commands; those of a project go through `confiner`."""

    shell: str
    environment: Mapping[str, str]
    cwd: Path
    confiner: Confiner

    async def ask(self, hook: ShellHook, digests: Mapping[str, str], told: Any, tell: Tell) -> Answer | None:
        """Run a hook, and read its answer. Raises `HookFailed`."""
        argv: tuple[str, ...] = (self.shell, "-c", hook.command)
        environment = self.environment
        if hook.of_project:
            await anyio.to_thread.run_sync(_require_same, hook, digests)
            started = await anyio.to_thread.run_sync(self.confiner.wrap, argv, environment, self.cwd)
            if isinstance(started, str):
                raise HookFailed(started)
            argv, environment = started
        limit_s = min(hook.limit_s, _LEAVING_S) if hook.point == "session_end" else hook.limit_s
        ran = await run_hook(argv, payload(told), environment=environment, cwd=self.cwd, limit_s=limit_s)
        return await answer_of(ran, hook.point, _as(hook, tell))


def runner_of(project: Project, confiner: Confiner) -> Runner:
    """How hooks are started in a project."""
    environment = {**environment_of(project), "TRIMTAB_PROJECT_DIR": str(project.cwd)}
    path = environment.get("PATH")
    shell = shutil.which("bash", path=path) or shutil.which("sh", path=path) or "/bin/sh"
    return Runner(shell, environment, project.cwd, confiner)


def as_hooks(hooks: Sequence[ShellHook], judged: Mapping[str, bytes], runner: Runner) -> tuple[Hook, ...]:
    """The hooks as a session asks them. `judged` are the bytes of the files that commands of a project name."""
    digests = {name: digest_of(data) for name, data in judged.items()}
    return tuple(Hook(one.point, one.who, partial(runner.ask, one, digests), one.match) for one in hooks)


def missing_of(hook: ShellHook, project: Project) -> str:
    """The program, or the file for its interpreter, that a command of no more than words names and that isn't there; empty where nothing is known to be missing. Touches the disk."""
    try:
        words = shlex.split(hook.command)
    except ValueError:
        return ""
    if not words or _OPERATORS.search(hook.command) or "=" in words[0]:
        return ""
    program, *rest = (os.path.expanduser(word) for word in words)
    path = environment_of(project).get("PATH")
    if shutil.which(str(project.cwd / program) if "/" in program else program, path=path) is None:
        return "" if program in _BUILTIN else program
    script = next(iter(rest), "")
    interpreted = _INTERPRETER.fullmatch(os.path.basename(program)) and script and not script.startswith("-")
    return script if interpreted and not (project.cwd / script).exists() else ""


def _require_same(hook: ShellHook, digests: Mapping[str, str]) -> None:
    """Raise `HookFailed` when a file that the command names isn't what it was when it was let run."""
    found, unreadable = read_items(dict(hook.files))
    for name in hook.files:
        if name in unreadable or digest_of(found[name]) != digests.get(name):
            raise HookFailed(f"{one_line(name)} isn't what it was when you let it run; /reload asks about it")


def _as(hook: ShellHook, tell: Tell) -> Callable[[str], Awaitable[None]]:
    async def told(text: str) -> None:
        await tell(f"{hook.who}: {text}")

    return told
