"""The sections that Trimtab and the person's settings bring, whatever the project is."""

from collections.abc import Iterator

from trimtab.agent.ports import Tool
from trimtab.coding.instructions.own_docs import docs_folder, docs_line
from trimtab.coding.instructions.section import Section
from trimtab.coding.instructions.system_files import SystemFiles
from trimtab.coding.logs import now
from trimtab.coding.project import Project
from trimtab.coding.prompts import describe_tools, load_prompt
from trimtab.types.text import scrub


def first_sections(project: Project, tools: tuple[Tool, ...], files: SystemFiles) -> Iterator[Section]:
    """What stands in front: who the model is, its tools, where it works. A system prompt of the person's own, by setting or file, takes the place of all of it."""
    settings, origins = project.settings, project.loaded.origins
    if settings.system_prompt is not None:
        yield Section("base", _setting("system_prompt", origins.get("system_prompt", "")), settings.system_prompt)
    elif files.base is not None:
        yield files.base
    else:
        place = {
            "cwd": scrub(str(project.cwd)),
            "platform": project.platform,
            "date": now().strftime("%Y-%m-%d"),
        }
        yield Section("base", "Trimtab", load_prompt("system", {}))
        yield Section("tools", "the tools that are on", describe_tools(tools))
        yield Section("place", "this machine and today", load_prompt("place", place))
    yield from files.appended
    if settings.append_system_prompt:
        source = _setting("append_system_prompt", origins.get("append_system_prompt", ""))
        yield Section("appended", source, settings.append_system_prompt)


def docs_section(project: Project, tools: tuple[Tool, ...], files: SystemFiles) -> Section | None:
    """Where Trimtab's documentation is, for a model that can read it and wasn't given a system prompt of its own."""
    settings = project.settings
    if settings.system_prompt is not None or files.base is not None or not settings.instructions.enabled:
        return None
    if all(tool.spec.name != "read" for tool in tools):
        return None
    folder = docs_folder()
    return Section("docs", "Trimtab", docs_line(folder)) if folder else None


def _setting(key: str, origin: str) -> str:
    return f"setting {key}" + (f" ({origin})" if origin else "")
