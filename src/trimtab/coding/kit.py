"""What a session needs beside its log: a model, what it is told, what its calls go through, and its tools.

Project ──▶ Kit: model ── tools that fit it ── hooks: change recorder ▸ refusals ▸ permissions ── sandbox ── instructions
"""

from collections.abc import Awaitable, Callable, Collection, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import TypeAlias

from trimtab.agent.ports import Provider, Tool
from trimtab.coding.agents.crew import Crew
from trimtab.coding.attachment_text import attached_to
from trimtab.coding.changes import ChangeRecorder
from trimtab.coding.confine import confiner_of
from trimtab.coding.context_check import require_manageable
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.instructions.instructions import Instructions
from trimtab.coding.instructions.touching import may_touch, paths_of
from trimtab.coding.jobs.jobs import Jobs
from trimtab.coding.logs import Opened
from trimtab.coding.models import OpenModel, close_provider, pick_model
from trimtab.coding.permissions.hooks import PermissionHooks
from trimtab.coding.person import Person
from trimtab.coding.project import Project
from trimtab.coding.refusals import RefusalRecorder
from trimtab.coding.role_models import require_members
from trimtab.coding.roles import members_of
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.tools.paths import Workspace
from trimtab.coding.toolset import build_tools, jobs_of
from trimtab.coding.under import Under
from trimtab.context.stores.log import SessionLog
from trimtab.types.messages import Assistant, ToolCall, User
from trimtab.types.models import ModelInfo

_COMMANDS = 300
"""Of a session that goes on, so many commands are looked through for files."""
ToolSource: TypeAlias = Callable[[ModelInfo], tuple[Tool, ...]]
"""Gives the tools that it has now, for a model. Cheap."""
Arrivals: TypeAlias = Callable[[], Awaitable[bool]]
"""Asked as a turn begins, which waits for it: whether a source has other tools now."""


@dataclass(frozen=True, slots=True)
class Kit:
    """What a session needs beside its log: a model, the project's tools, and what it is told. `sources` have tools beside those; they may join until the session opens,
    as may those who are asked for `arrivals`."""

    model: OpenModel
    instructions: Instructions
    hooks: ChangeRecorder
    permissions: PermissionHooks
    refusals: RefusalRecorder
    confiner: Confiner
    outputs: PrivateFolder
    jobs: Jobs
    crew: Crew
    project_tools: ToolSource
    allows: Callable[[str], bool]
    """Whether a tool of that name may be there at all."""
    sources: list[ToolSource] = field(default_factory=list)
    arrivals: list[Arrivals] = field(default_factory=list)

    def tools_for(self, info: ModelInfo) -> tuple[Tool, ...]:
        """The tools that fit the model, the context tools aside; of two with one name, the first."""
        found: dict[str, Tool] = {}
        for source in (self.project_tools, *self.sources):
            for tool in source(info):
                found.setdefault(tool.spec.name, tool)
        return tuple(tool for name, tool in found.items() if self.allows(name))


async def make_kit(
    project: Project,
    session_ref: str | None,
    stack: AsyncExitStack,
    *,
    provider: Provider | None,
    extra: tuple[Tool, ...],
    person: Person,
    under: Under | None = None,
) -> Kit:
    """Make it; what it opens is closed with `stack`. `provider` answers instead of the model's own; `under`: the session works for another one. Raises `UnknownModel` or `ConfigError`."""
    workspace = workspace_of(project)
    instructions = Instructions(project, taken=_command_names)
    more_tools = [tool.spec.name for tool in extra]
    permissions = permission_hooks(
        project,
        workspace,
        more_tools=more_tools,
        reading=[tool.spec.name for tool in extra if getattr(tool, "changes", True) is False],
        person=person,
        granted=instructions.granted,
    )
    if under is not None:
        permissions.above, permissions.stands_for = under.permissions, under.permissions.stands_for
        permissions.form_of = under.permissions.form_of
        permissions.set_mode(under.agent.mode or "full")  # the narrower one of this and the parent's holds
    refusals = RefusalRecorder(permissions)
    outputs = PrivateFolder()
    confiner = under.confiner if under else confiner_of(project)
    stack.callback(outputs.close)
    require_members(project)
    model = await pick_model(project, session_ref, provider=provider, wanted=under.model if under else None)
    stack.push_async_callback(close_provider, model.provider)
    require_manageable(project, model.info)

    jobs = under.jobs if under else jobs_of(project, outputs, confiner)
    crew = Crew(project.settings.agents)
    by, allows = (under.agent.name, under.allows) if under else ("", _everything)
    eyes = bool(members_of(project.settings, "vision"))

    def project_tools(info: ModelInfo) -> tuple[Tool, ...]:
        return build_tools(
            project,
            outputs,
            images="image" in info.input or eyes,
            confiner=confiner,
            jobs=jobs,
            crew=crew,
            by=by,
            allows=allows,
        )

    hooks = ChangeRecorder(refusals, workspace, above=under.changes if under else None)
    return Kit(
        model,
        instructions,
        hooks,
        permissions,
        refusals,
        confiner,
        outputs,
        jobs,
        crew,
        project_tools,
        allows,
        [lambda _info: extra],
    )


def _everything(tool: str) -> bool:
    return True


def _command_names() -> Collection[str]:
    from trimtab.coding.commands.registry import COMMANDS  # noqa: PLC0415 - commands know sessions, and only templates ask for their names

    return COMMANDS.keys()


def touched(log: SessionLog, workspace: Workspace) -> Iterator[str]:
    """The files that the session's calls have read and changed, and those that its person attached. Of commands only the last few count: each is parsed."""
    messages = tuple(log.view())
    calls = (call for message in messages if isinstance(message, Assistant) for call in message.tool_calls)
    by_words = {(call.name, _named_by(call)): call for call in calls if may_touch(call)}
    commands = [call for call in by_words.values() if call.name == "bash"]
    for call in (*(call for call in by_words.values() if call.name != "bash"), *commands[-_COMMANDS:]):
        yield from paths_of(call, workspace)
    for message in messages:
        if isinstance(message, User):
            yield from attached_to(message, workspace)


def _named_by(call: ToolCall) -> str:
    arguments = call.arguments or {}
    return str(arguments.get("command" if call.name == "bash" else "path"))


def thinking_of(project: Project, opened: Opened, model: OpenModel) -> str | None:
    """The level that the session was left at, where it goes on with the same model and the person names none now."""
    named = project.named_now("model") or project.named_now("thinking")
    level = opened.log.archive.thinking
    same = opened.model_ref == model.info.ref and level in model.info.thinking
    return level if same and not named else model.thinking
