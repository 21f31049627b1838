"""What the doctor says about servers: whether each could be used. None is started."""

import os
import shutil

import anyio

from trimtab.coding.check import Check
from trimtab.coding.mcp.config import ServerConfig
from trimtab.coding.mcp.open import configured, login_of
from trimtab.coding.mcp.sdk import installed
from trimtab.coding.person import NOBODY
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line
from trimtab.coding.toolset import environment_of
from trimtab.types.extras import install_command


async def mcp_checks(project: Project) -> tuple[Check, ...]:
    """A line for each server that is named, and one about the extra where servers need it."""
    configs, notices = await configured(project, NOBODY)
    checks = [await anyio.to_thread.run_sync(_check, project, config, why) for config, why in configs]
    if configs and not installed():
        checks.append(
            Check(
                "missing",
                "mcp",
                "servers are configured, and what speaks with them isn't installed",
                install_command("mcp"),
            )
        )
    judged = tuple(
        Check("note", "mcp", one_line(notice)) for notice in notices if "of .mcp.json isn't used" not in notice
    )
    return (*checks, *judged)


def _check(project: Project, config: ServerConfig, why: str) -> Check:
    name = f"mcp {one_line(config.name)}"
    where = one_line(config.where)
    if config.problem:
        return Check("missing", name, one_line(config.problem), "Correct it, or set disabled = true.")
    if config.server.disabled:
        return Check("note", name, "disabled")
    if why:
        return Check("note", name, f"{where}: {why}", f"trimtab mcp allow {one_line(config.name)} shows and allows it.")
    if config.command:
        environment = {**environment_of(project), **config.server.env}
        command = config.command[0]
        local = os.path.join(config.folder, command) if os.sep in command else command
        found = shutil.which(local, path=environment.get("PATH", os.defpath))
        if found is None:
            return Check("missing", name, f"there is no program {one_line(command)}", "Install it, or correct command.")
        return Check("ok", name, f"{where} (trimtab mcp list --start tries it)")
    login = login_of(project).store.get(config.server.url or "")
    return Check("ok", name, f"{where}{', logged in' if login else ''} (trimtab mcp list --start tries it)")
