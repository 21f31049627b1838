"""What an open session works with now: model, thinking, tools, mode, and the words in front of the conversation.

    set_model, set_thinking, set_mode ──▶ what the next turn begins with ──record──▶ the log
    begin_turn ── servers, files, the day, another model's tools ──▶ tools and system prompt, and what is told of them

A turn that runs keeps what it began with; only the instructions may change under it, and a mode is said to it.
"""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, suppress

import anyio

from trimtab.agent.run import Agent
from trimtab.coding.attachment_text import attached_to
from trimtab.coding.context.engine import context_settings
from trimtab.coding.context.open import OpenContext
from trimtab.coding.extensions.acting import Acting
from trimtab.coding.fallback import Standby, names_level
from trimtab.coding.guard import workspace_of
from trimtab.coding.heard import is_news
from trimtab.coding.kit import Kit
from trimtab.coding.logs import record_choices
from trimtab.coding.model_preview import Preview, preview_of
from trimtab.coding.models import close_provider, open_model, resolve_model
from trimtab.coding.permissions.policy import MODE_WORDS, Mode
from trimtab.coding.project import Project
from trimtab.coding.role_models import Roles
from trimtab.context.stores.log import SessionLog
from trimtab.providers.resolve import carried_level
from trimtab.types.errors import SessionError, StoreError, UsageError
from trimtab.types.messages import User, user

Tell = Callable[[str], Awaitable[None]]


class Choices:
    """The choices of one session. `moved`: it goes on in another folder than the one that its log names."""

    def __init__(
        self,
        project: Project,
        log: SessionLog,
        agent: Agent,
        kit: Kit,
        context: OpenContext,
        stack: AsyncExitStack,
        extensions: Acting,
        roles: Roles,
        *,
        moved: bool,
        tell: Tell,
    ) -> None:
        self._project = project
        self._log = log
        self._agent = agent
        self._kit = kit
        self._context = context
        self._stack = stack
        self._extensions = extensions
        self.moved = moved
        self._tell = tell
        self.told: set[tuple[str, str]] = set()
        """Notices that the person has read, with the folder they were told in: those about a folder or a model are told once, however often one comes back to it."""
        self.standby = Standby(project, log, context, agent, roles.of("main"), roles.circuits, self._refit)
        agent.relief = self.standby
        self._tools = agent.tools
        self.level = agent.thinking if agent.thinking != kit.model.thinking else None
        """How much the person wants thought, whichever model answers; None: as much as settings and its name say."""
        self.switched = False
        """Whether the person chose another model since the session was opened."""
        self._opened_mode = kit.permissions.current.mode
        kit.instructions.changed = self._change_instructions

    async def begin_turn(self, prompt: str | User = "") -> None:
        """Look at the instructions again, those of what is attached to `prompt` too, and say what changed: files, the day, another model's tools, those of servers."""
        for arrivals in self._kit.arrivals:
            if await arrivals():
                self.refresh_tools()
        instructions = self._kit.instructions
        instructions.begin_turn()
        await self._extensions.refresh()
        named = [*instructions.take_named(), *([prompt] if isinstance(prompt, User) else [])]
        workspace = workspace_of(self._project)

        def look() -> tuple[str, ...]:
            instructions.touched(path for one in named for path in attached_to(one, workspace))
            return instructions.refresh()

        for note in await anyio.to_thread.run_sync(look):
            await self._tell(note)
        self._tools = self._agent.tools
        self._agent.system = self._system_prompt()

    async def record(self) -> None:
        """Say in the log what answers and decides from here on."""
        stands_in = self.standby.home is not None
        thinking = self._log.archive.thinking if stands_in else self._agent.thinking
        # A log that can't take this can't take the prompt either, and that ends the turn with an error.
        with suppress(StoreError, SessionError):
            await anyio.to_thread.run_sync(
                lambda: record_choices(
                    self._log,
                    cwd=str(self._project.cwd) if self.moved else None,
                    model=self._agent.model,
                    thinking=thinking,
                    policy=self._context.policy,
                )
            )
            self.moved = False

    async def keep(self) -> None:
        """The same now, where a turn runs on nothing else and the session has begun: what was chosen outlives a quit."""
        if not self._agent.busy and len(self._log.archive):
            await self.record()

    async def preview_model(self, ref: str) -> Preview:
        """What another model would make of the session as it is, and what the switch costs. Raises `UnknownModel` or `ConfigError`; changes nothing."""
        info = resolve_model(self._project, ref).model
        tools = {tool.spec.name for tool in (*self._kit.tools_for(info), *self._context.tools)}
        request = self._context.request()
        return await anyio.to_thread.run_sync(lambda: preview_of(self._project, self._log, request, info, tools=tools))

    async def set_model(self, ref: str, *, told: Sequence[str] = ()) -> None:
        """Use another model from the next turn on; `told` is said once it is open. Raises `UnknownModel` or `ConfigError`, and then nothing changes.

        The old provider stays open until the session closes: a turn may be running on it.
        """
        agent, opened = self._agent, await open_model(self._project, ref)
        self._stack.push_async_callback(close_provider, opened.provider)
        for line in told:
            await self._tell(line)
        departed = agent.provider
        self.standby.home = None
        if names_level(ref):  # that is about this model alone, unless it is the one in use
            same = opened.info.ref == agent.model.ref
            self.level = opened.thinking if same and self.level is not None else None
        level, clamped = opened.thinking, ""
        if self.level is not None:
            level, clamped = carried_level(opened.info, self.level, otherwise=opened.thinking)
        agent.provider, agent.model, agent.thinking = opened.provider, opened.info, level
        self.switched = True
        self.refresh_tools()
        settings = context_settings(self._project, opened.info)
        await self._context.use_model(opened.info, settings, departed=departed)
        await self.keep()
        if clamped:
            await self.tell_once(clamped)
        for note in opened.notes:
            await self.tell_once(note, ever=note in opened.assumed)

    def set_thinking(self, level: str | None) -> None:
        """Let the model think at another of its levels from the next turn on; None: its default. Raises `UsageError` for one that it hasn't, and then nothing changes."""
        model = self._agent.model
        if level is not None and level not in model.thinking:
            levels = ", ".join(model.thinking)
            hint = f"Levels: {levels}." if levels else "It has no levels; /models lists others."
            raise UsageError(f"{level!r} is no thinking level of {model.ref}", hint=hint)
        self._agent.thinking = self.level = level
        self.standby.think(level)

    def set_mode(self, mode: Mode) -> None:
        """Let another permission mode hold from the next call on. A running turn is told before its next step; later ones find it in front."""
        permissions = self._kit.permissions
        if mode == permissions.policy.mode:
            return
        permissions.set_mode(mode)
        if self._agent.busy:
            self._agent.steer(user(f"[notice: {MODE_WORDS[mode]}]", origin="note"))

    def refresh_tools(self) -> None:
        """Look again which tools there are: another model, or a source has others. A running turn keeps those it began with."""
        self._agent.tools = (*self._kit.tools_for(self._agent.model), *self._context.tools)

    async def tell_once(self, text: str, *, ever: bool = False) -> None:
        """Tell a notice that the person hasn't read yet in this talk; with `ever`, in this home. A session that is kept nowhere keeps nothing of that either."""
        about = (str(self._project.cwd), text)
        if about in self.told:
            return
        self.told.add(about)
        file, keep = self._project.home.heard, self._log.path is not None
        if not ever or await anyio.to_thread.run_sync(lambda: is_news(file, text, keep=keep)):
            await self._tell(text)

    def _refit(self) -> None:
        """Another model stands in, or the own one is back: the tools and the system prompt as they fit it."""
        self.refresh_tools()
        self._agent.system = self._system_prompt()

    async def _change_instructions(self, news: tuple[str, ...]) -> None:
        """In the middle of a turn: let its next request have the instructions as they are now. `news` is for the person."""
        for note in news:
            await self._tell(note)
        self._agent.system = self._system_prompt()

    def _system_prompt(self) -> str:
        """What stands in front. The mode is a part of it where it matters beyond the answer to a refused call: in plan, and once it was changed."""
        mode = self._kit.permissions.current.mode
        words = f"\n{MODE_WORDS[mode]}\n" if mode == "plan" or mode != self._opened_mode else ""
        return self._kit.instructions.system(self._tools, window=self._agent.model.context_window) + words
