"""The tools of a session: which are on, with which limits, in which folder and environment."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import anyio

from trimtab.agent.ports import Tool
from trimtab.coding.agents.crew import Crew
from trimtab.coding.agents.tool import TaskTool
from trimtab.coding.context.chosen import CONTEXT_TOOLS
from trimtab.coding.guard import workspace_of
from trimtab.coding.jobs.background import BackgroundJobs
from trimtab.coding.jobs.jobs import Jobs
from trimtab.coding.jobs.recorded import records_folder
from trimtab.coding.jobs.records import Records
from trimtab.coding.jobs.tool import jobs_tool
from trimtab.coding.logs import now
from trimtab.coding.project import Project
from trimtab.coding.sandbox.confiner import Confiner
from trimtab.coding.tools.bash import BashTool
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.tools.edit import edit_tool
from trimtab.coding.tools.environment import command_environment, removed_names
from trimtab.coding.tools.fetch import fetch_tool
from trimtab.coding.tools.find import FindTool
from trimtab.coding.tools.grep import GrepTool
from trimtab.coding.tools.ls import ls_tool
from trimtab.coding.tools.read import read_tool
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.coding.tools.todo import todo_tool
from trimtab.coding.tools.write import write_tool
from trimtab.config.settings import ToolSettings
from trimtab.providers.catalogue import Catalogue
from trimtab.types.errors import ConfigError
from trimtab.types.near import nearest

TOOLS = ("read", "write", "edit", "bash", "grep", "find", "ls", "todo", "jobs", "task", "fetch")
"""Names of the tools, in the order in which a model sees them; `fetch` has to be turned on."""


def build_tools(
    project: Project,
    outputs: PrivateFolder,
    *,
    images: bool,
    confiner: Confiner | None = None,
    jobs: Jobs | None = None,
    crew: Crew | None = None,
    by: str = "",
    allows: Callable[[str], bool] = lambda _name: True,
) -> tuple[Tool, ...]:
    """Make the tools that are on, the context tools aside. `outputs` takes long outputs of commands; `images`: whether the model takes pictures;
    `confiner`: what commands are started through; `jobs` and `crew`: those of the session; `by`: who starts them, where that isn't its own model;
    `allows`: which tools there may be at all.

    Raises `ConfigError` for an unknown tool name.
    """
    settings = project.settings.tools
    caps = caps_of(settings)
    workspace = workspace_of(project)
    standard = [name for name in TOOLS if name != "fetch" or settings.fetch.enabled]
    wanted = [name for name in (standard if settings.enabled is None else settings.enabled) if allows(name)]
    jobs = jobs or jobs_of(project, outputs, confiner)
    background = BackgroundJobs(jobs, by) if "jobs" in wanted else None
    rg = find_rg(project.env.get("PATH"))
    makers: Mapping[str, Callable[[], Tool]] = {
        "read": lambda: read_tool(workspace, caps=caps, images=images),
        "write": lambda: write_tool(workspace, caps=caps),
        "edit": lambda: edit_tool(workspace, caps=caps),
        "bash": lambda: BashTool(
            project.cwd,
            environment_of(project),
            outputs,
            caps=caps,
            default_timeout_s=settings.bash.timeout_s,
            max_timeout_s=settings.bash.max_timeout_s,
            confiner=confiner,
            background=background,
            prefix=settings.bash.prefix,
        ),
        "grep": lambda: GrepTool(workspace, rg, replace(caps, search_rows=settings.grep.max_rows)),
        "find": lambda: FindTool(workspace, rg, replace(caps, search_rows=settings.find.max_rows)),
        "ls": lambda: ls_tool(workspace, caps=caps),
        "todo": todo_tool,
        "jobs": lambda: jobs_tool(jobs),
        "task": lambda: TaskTool(crew or Crew(project.settings.agents)),
        "fetch": lambda: fetch_tool(settings.fetch, outputs, project.env, caps=caps, images=images),
    }
    require_tools(settings)
    return tuple(makers[name]() for name in TOOLS if name in wanted)


def jobs_of(project: Project, outputs: PrivateFolder, confiner: Confiner | None) -> Jobs:
    """The jobs of a session that is about to open; `outputs` takes what they print."""

    async def look_after() -> None:
        if confiner is not None:
            await anyio.to_thread.run_sync(partial(confiner.look_after, "", failed=False))

    records = Records(records_folder(project), (project.home.sessions,), str(project.cwd))
    clock = lambda: now().timestamp()  # noqa: E731
    return Jobs(outputs, records, clock, caps_of(project.settings.tools), project.settings.jobs.most, look_after)


def require_tools(settings: ToolSettings) -> None:
    """Raise `ConfigError` for a tool that is turned on and that there is not. One with `__` in its name comes from elsewhere (`mcp__SERVER__TOOL`), and may be a glob."""
    every = (*TOOLS, *CONTEXT_TOOLS["pilot"])
    unknown = next((name for name in settings.enabled or () if name not in every and "__" not in name), None)
    if unknown is not None:
        meant = nearest(unknown, every)
        guess = f"Did you mean {meant}? " if meant else ""
        raise ConfigError(f"there is no tool {unknown!r}", hint=f"{guess}Tools: {', '.join(every)}.")


def environment_of(project: Project) -> dict[str, str]:
    """What every command gets that is run for this project, by a tool or by a check."""
    passed = project.settings.tools.bash.env_pass
    return command_environment(project.env, key_names=_key_names(project), passed=passed)


def removed_variables(project: Project) -> tuple[str, ...]:
    """Names of environment variables that no command gets."""
    return removed_names(project.env, key_names=_key_names(project), passed=project.settings.tools.bash.env_pass)


def _key_names(project: Project) -> tuple[str, ...]:
    declared = (p.api_key_env for p in project.settings.providers.values() if p.api_key_env)
    contexts = (project.settings.context, *(m.context for m in project.settings.models.values() if m.context))
    policies = (context.remote_key_env for context in contexts if context.remote_key_env)
    return tuple(dict.fromkeys((*declared, *policies, *Catalogue.load().key_variables())))


def caps_of(settings: ToolSettings) -> Caps:
    """The limits that the settings give."""
    return Caps(
        read_lines=settings.read.max_lines,
        read_bytes=settings.read.max_bytes,
        list_rows=settings.ls.max_rows,
        bash_head_bytes=settings.bash.head_bytes,
        bash_tail_bytes=settings.bash.tail_bytes,
    )
