"""The extensions and hooks of one session, from its opening to its end.

    load_all ──find ▸ judge ▸ load──▶ Extensions ──tools, providers, policies──▶ the rest of the opening
                                                 └──▶ begin (session_start) ── turns: sections, points ── listening ── end (session_end)

It is one object, so that the opening has one thing to wire. The one rule: what fails here is a notice, and the session opens all the same, unless it was named for this run.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import msgspec

from trimtab.agent.feed import Feed
from trimtab.agent.ports import Hooks, Provider, Tool
from trimtab.agent.run import Agent
from trimtab.coding.confine import confiner_of
from trimtab.coding.context.ahead import Work
from trimtab.coding.context.around import Around, NobodyAround
from trimtab.coding.extensions.api import Body, PythonHook, RegisteredCommand, RegisteredSection, Renderer
from trimtab.coding.extensions.bodies import body_of
from trimtab.coding.extensions.chain import Hook, HookPoints, Tell, clean
from trimtab.coding.extensions.events import listen
from trimtab.coding.extensions.find import Found, LeftOut, find_extensions
from trimtab.coding.extensions.foreign import HookFailed, call_foreign, make_foreign
from trimtab.coding.extensions.here import Ground, Here, SessionHere
from trimtab.coding.extensions.judge import Judged, judge_code, name_in
from trimtab.coding.extensions.load import Loaded, load_extension, taken_names
from trimtab.coding.extensions.match import Match
from trimtab.coding.extensions.points import Answer, Heard, Input, SessionEnd, SessionStart
from trimtab.coding.extensions.providers import ExtensionProvider
from trimtab.coding.extensions.shell_hooks import ShellHook, as_hooks, runner_of, shell_hooks
from trimtab.coding.extensions.titles import title_of
from trimtab.coding.extensions.tool_hooks import ToolHooks
from trimtab.coding.extensions.tools import as_tool
from trimtab.coding.extensions.transcript_hooks import TranscriptHooks
from trimtab.coding.guard import workspace_of
from trimtab.coding.instructions.section import Section
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.code import read_items
from trimtab.context.policies.registry import offer as offer_policy
from trimtab.context.stores.log import SessionLog
from trimtab.providers.open import offer as offer_provider
from trimtab.types.config import ProviderConfig
from trimtab.types.errors import ConfigError, UsageError
from trimtab.types.messages import Text, User
from trimtab.types.text import scrub

SECTION_S = 5.0
"""Seconds in which a section's function has to give its text."""
LEAVING_S = 8.0
"""Seconds that all hooks at the end of a session have together."""


class Extensions:
    """What of others acts in one session. `loaded`, `left_out` and `shell` are for people; `notices` are told when the session opens."""

    def __init__(
        self,
        project: Project,
        loaded: tuple[Loaded, ...] = (),
        left_out: tuple[LeftOut, ...] = (),
        shell: tuple[tuple[ShellHook, str], ...] = (),
        shell_points: tuple[Hook, ...] = (),
        notices: tuple[str, ...] = (),
        agent: str = "",
    ) -> None:
        self.project = project
        self._agent = agent
        self._shell_points = shell_points
        self.loaded = loaded
        self.left_out = left_out
        self.shell = shell
        """The shell hooks, each with why it doesn't act, if it doesn't."""
        python = [self._python(one, hook) for one in loaded for hook in one.api.hooks]
        self.points = HookPoints((*python, *shell_points), fits=self._fits)
        self.points.tell = self._tell
        self._notices = list(notices)
        self._ground: Ground | None = None
        self._file: str | None = None
        self._publish: Tell | None = None
        self._ended = False
        self._sections: dict[str, Section] = {}
        self._where: dict[str, Any] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that were registered; where the settings turn tools on by name, those that they name."""
        enabled = self.project.settings.tools.enabled
        tools = [as_tool(tool, partial(self.here, one.name)) for one in self.loaded for tool in one.api.tools]
        return tuple(tool for tool in tools if enabled is None or tool.spec.name in enabled)

    @property
    def renderers(self) -> Mapping[str, Renderer]:
        """How calls are shown, by tool."""
        return {renderer.tool: renderer for one in self.loaded for renderer in one.api.renderers}

    def title_of(self, tool: str, arguments: Mapping[str, Any] | None) -> str:
        """The line that stands for a call; empty where nobody says how it is shown."""
        return title_of(self.renderers, tool, arguments)

    def body_of(self, tool: str) -> Body:
        """What the output of a tool is, for who shows it."""
        return body_of(self.renderers, tool)

    @property
    def commands(self) -> tuple[tuple[str, RegisteredCommand], ...]:
        """The commands, each with the name of its extension."""
        return tuple((one.name, command) for one in self.loaded for command in one.api.commands)

    @property
    def listens(self) -> bool:
        """Whether a hook wants events."""
        return self.points.has("event")

    def sections(self) -> tuple[Section, ...]:
        """The parts of the system prompt, as they were when they were asked last."""
        return tuple(self._sections.values())

    def here(self, name: str) -> Here:
        """The session as the extension `name` sees it. There is one once it is open."""
        if self._ground is None:
            raise HookFailed("no session is open yet")
        return SessionHere(name, self._ground)

    def take_notices(self) -> tuple[str, ...]:
        """What a person should know of the opening."""
        notices, self._notices = tuple(self._notices), []
        return notices

    def around(self, hooks: Hooks, log: SessionLog, person: Person) -> Hooks:
        """`hooks` with those at tool calls around them, in the session of `log`."""
        if not self.points.has("tool_call", "tool_result"):
            return hooks
        return ToolHooks(hooks, self.points, self._where_of(log), person)

    def beneath(self, agent: str) -> "Extensions":
        """The same hooks, tools and sections in a session that works for this one as `agent`: they see that session, which for them has no start and no end of its own."""
        again = tuple(replace(hook, failures=0) for hook in self._shell_points)
        child = Extensions(self.project, self.loaded, self.left_out, self.shell, again, agent=agent)
        child._sections = {**self._sections}
        return child

    def transcript_hooks(self) -> Around:
        """What the transcript asks."""
        if not self.points.has("before_request", "before_compaction", "after_compaction"):
            return NobodyAround()
        return TranscriptHooks(self.points, self._where)

    async def begin(self, agent: Agent, log: SessionLog, person: Person) -> None:
        """The session opens: hooks at its start are asked, and the sections made."""
        self._file = str(log.path) if log.path else None
        self._where = self._where_of(log)
        self._ground = Ground(
            cwd=self.project.cwd,
            session_id=log.header.id,
            model=lambda: agent.model.ref,
            messages=log.view,
            tell=self._tell,
            steer=agent.steer,
            person=person,
            state=self.project.home.data / "extensions",
            project=self.project,
            log=log,
        )
        if self.points.has("session_start") and not self._agent:
            resumed = bool(log.view())
            told = SessionStart(model=agent.model.ref, resumed=resumed, session_file=self._file, **self._where)
            if notes := await self.points.notes(told):
                self._sections["hooks"] = Section("hooks", "hooks at the start of the session", "\n".join(notes))
        await self.refresh()

    async def hear(self, prompt: str | User) -> str | User | None:
        """What becomes of what the person said; None where it is seen to. A subagent's task is nothing that a person said."""
        if self._agent or not self.points.has("input"):
            return prompt
        parts = prompt.parts if isinstance(prompt, User) else (Text(scrub(prompt)),)
        others = tuple(part for part in parts if not isinstance(part, Text))
        before = "\n".join(part.text for part in parts if isinstance(part, Text))
        text, notes, handled = await self.points.input(Input(text=before, pictures=len(others), **self._where))
        if handled is not None:
            if handled.text:
                await self._tell(handled.text)
            return None
        if text == before and not notes:
            return prompt
        texts = tuple(Text(text) for text in (text, "\n" + "\n".join(notes) if notes else "") if text)
        return User((*texts, *others), origin=prompt.origin if isinstance(prompt, User) else "prompt")

    async def refresh(self) -> None:
        """Ask the functions of sections again; one that fails keeps what it said."""
        for one in self.loaded:
            for section in one.api.sections:
                await self._refresh(one, section)

    async def _refresh(self, one: Loaded, section: RegisteredSection) -> None:
        key = f"{one.name}.{section.name}"
        text = section.text
        if not isinstance(text, str):
            try:
                text = await call_foreign(text, limit_s=SECTION_S)
                if not isinstance(text, str):
                    raise HookFailed("it gave no text")
            except HookFailed as problem:
                if key not in self._sections:
                    self._sections[key] = Section(section.name, f"extension {one.name}", "")
                    await self._tell(f"{one.name}: its section {section.name!r} is left out: {problem}")
                return
        self._sections[key] = Section(section.name, f"extension {one.name}", clean(text))

    def announce_by(self, publish: Tell) -> None:
        """From here on notices go to whoever watches."""
        self._publish = publish

    def listening(self, feed: Feed, closing: anyio.Event) -> Work:
        """From here on events are heard; what is returned passes them on until the session closes."""
        return partial(listen, feed.subscribe(), self.points, closing, self._where)

    async def end(self) -> None:
        """The session closes; asked again, nothing more happens."""
        if self._ended or self._agent or not self.points.has("session_end"):
            return
        self._ended = True
        with anyio.CancelScope(shield=True):
            with anyio.move_on_after(LEAVING_S) as scope:
                await self.points.say(SessionEnd(session_file=self._file, **self._where))
            if scope.cancelled_caught:
                await self._tell(
                    f"the hooks at session_end took more than {LEAVING_S:g} seconds together; the rest of them didn't run"
                )

    async def run_command(self, name: str, command: RegisteredCommand, rest: str) -> object:
        """What a command answers. Raises `HookFailed`."""
        return await call_foreign(command.run, rest, self.here(name), limit_s=float("inf"))

    def _where_of(self, log: SessionLog) -> dict[str, Any]:
        return {"session_id": log.header.id, "cwd": str(self.project.cwd), "agent": self._agent}

    async def _tell(self, text: str) -> None:
        if self._publish is None:
            self._notices.append(text)
        else:
            await self._publish(text)

    def _python(self, one: Loaded, hook: PythonHook) -> Hook:
        async def ask(told: Any, tell: Tell) -> Answer | None:
            told = told.event if isinstance(told, Heard) else told
            answer: Answer | None = await call_foreign(hook.function, told, self.here(one.name), limit_s=hook.limit_s)
            return answer

        return Hook(hook.point, one.name, ask, hook.match)

    async def _fits(self, match: Match, tool: str, arguments: dict[str, Any]) -> bool:
        if not match.rules:
            return True
        return await anyio.to_thread.run_sync(match.fits_call, tool, arguments, workspace_of(self.project))


async def load_all(project: Project, person: Person, stack: AsyncExitStack) -> tuple[Project, Extensions]:
    """Load what there is for `project`, asking `person` about code of the project; what it brings leaves with `stack`.

    Returns the project with the providers that were registered. Raises `ConfigError` for a hook in the settings that can't be read.
    """
    found, left = await anyio.to_thread.run_sync(find_extensions, project)
    shell = await anyio.to_thread.run_sync(shell_hooks, project)
    _require_named(project, left)
    if not found and not shell:
        return project, Extensions(project, left_out=left, notices=_notices(left))
    judged, notices = await _judged(project, found, shell, person)
    loaded: list[Loaded] = []
    out = list(left)
    taken = await anyio.to_thread.run_sync(taken_names, project) if found else None
    for one in found:
        files, why = await _allowed(project, one, judged)
        result = (
            LeftOut(one.name, one.whose, one.where, why)
            if why or taken is None
            else await load_extension(one, files, project, taken)
        )
        if isinstance(result, Loaded):
            loaded.append(result)
            if result.modules:
                stack.callback(result.modules.close)
        else:
            out.append(result)
    _require_named(project, out)
    acting = [(hook, _why_not(hook, judged)) for hook in shell]
    runner = runner_of(project, confiner_of(project))
    points = as_hooks([hook for hook, why in acting if not why], judged.allowed, runner)
    project = replace(_with_providers(project, loaded, stack), code_once=judged.once)
    _offer_policies(loaded, stack)
    told = (*notices, *_notices(out))
    return project, Extensions(project, tuple(loaded), tuple(out), tuple(acting), points, told)


async def _judged(
    project: Project, found: tuple[Found, ...], shell: tuple[ShellHook, ...], person: Person
) -> tuple[Judged, tuple[str, ...]]:
    """The judgement on all code of the project's, and what to tell of it."""
    items = code_of(project, found, shell)
    try:
        judged = await judge_code(project, items, person)
    except ConfigError as e:
        refused = dict.fromkeys(items, e.message)
        return Judged(refused=refused, once=project.code_once), (f"code of this project doesn't run: {e.message}",)
    return judged, (judged.notice,) if judged.notice else ()


def code_of(project: Project, found: Sequence[Found], shell: Sequence[ShellHook]) -> dict[str, bytes | Path]:
    """The pieces of the project's own code, by the names by which they are judged."""
    root = project.trust.root
    items: dict[str, bytes | Path] = {
        name_in(root, file): file for one in found if one.whose == "project" for file in one.files.values()
    }
    for hook in shell:
        if hook.of_project:
            items |= {hook.label: hook.entry, **hook.files}
    return items


async def _allowed(project: Project, one: Found, judged: Judged) -> tuple[dict[str, bytes], str]:
    """The bytes of an extension that may run, and why it may not."""
    if one.whose == "project":
        names = {path: name_in(project.trust.root, file) for path, file in one.files.items()}
        why = next((judged.refused[name] for name in names.values() if name in judged.refused), "")
        return ({}, why) if why else ({path: judged.allowed[name] for path, name in names.items()}, "")
    files, unreadable = await anyio.to_thread.run_sync(read_items, one.files)
    why = next((f"{path} can't be read: {problem}" for path, problem in unreadable.items()), "")
    return files, why


def _why_not(hook: ShellHook, judged: Judged) -> str:
    if not hook.of_project:
        return ""
    return next((judged.refused[name] for name in (hook.label, *hook.files) if name in judged.refused), "")


def _require_named(project: Project, left: Sequence[LeftOut]) -> None:
    """Raise `UsageError` when one is left out that the person named for this run: it may be a guard."""
    if not project.named_now("extensions.paths"):
        return
    paths = project.settings.extensions.paths
    places = [one_path(os.path.realpath(project.cwd / os.path.expanduser(path))) for path in paths]
    for one in left:
        if any(one.where == place or one.where.startswith(f"{place}/") for place in places):
            raise UsageError(
                f"the extension {one.where} that was named can't be used: {one.why}",
                hint="Correct it, or leave it out: nothing runs without an extension that was asked for.",
            )


def _notices(left: "tuple[LeftOut, ...] | list[LeftOut]") -> tuple[str, ...]:
    """What a person should know of what was left out; what they turned off, or were told about as a whole, isn't said."""
    quiet = ("turned off", "it is new, and nobody", "it changed, and nobody")
    return tuple(
        f"extension {one.name} ({one.where}) is left out: {one.why}" for one in left if not one.why.startswith(quiet)
    )


def _with_providers(project: Project, loaded: list[Loaded], stack: AsyncExitStack) -> Project:
    """The project with the providers of extensions among its own."""
    providers: dict[str, ProviderConfig] = {}
    for one in loaded:
        for provider in one.api.providers:
            stack.callback(offer_provider(provider.name, partial(_made, one.name, provider.make)))
            providers[provider.name] = ProviderConfig(api="bridge", models=provider.models)
    if not providers:
        return project
    settings = msgspec.structs.replace(project.settings, providers={**project.settings.providers, **providers})
    return replace(project, loaded=replace(project.loaded, settings=settings))


def _made(name: str, make: Callable[[], Provider]) -> Provider:
    try:
        return ExtensionProvider(name, make_foreign(make))
    except HookFailed as problem:
        raise ConfigError(
            f"the provider of extension {name} can't be made: {problem}", hint="Repair or remove the extension."
        ) from problem


def _offer_policies(loaded: list[Loaded], stack: AsyncExitStack) -> None:
    for one in loaded:
        for name, make in one.api.policies.items():
            stack.callback(offer_policy(name, make))
