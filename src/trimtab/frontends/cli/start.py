"""From flags to a project: what every command that runs a session does first."""

import os
import re
from pathlib import Path
from typing import Any

from trimtab.coding.project import Project, open_project
from trimtab.coding.toolset import removed_variables
from trimtab.config.hide import hide_variables
from trimtab.frontends.cli.options import Flags
from trimtab.types.errors import UsageError

_LIKE_A_FILE = re.compile(r"\S+\.(?:md|txt|prompt)|(?:\.{0,2}|~)/\S+")
MAX_PROMPT_FILE = 1_000_000


def open_flags(flags: Flags) -> Project:
    """Open the project that `flags` name, and hide this process's keys from the commands to come. Raises `UsageError` and `ConfigError`."""
    overrides: dict[str, Any] = {}
    for key in ("model", "max_steps"):
        value = getattr(flags, key)
        if value is not None:
            overrides[key] = value
    for key in ("system_prompt", "append_system_prompt"):
        value = getattr(flags, key)
        if value is not None:
            overrides[key] = _text_or_file(value)
    if flags.permission is not None:
        overrides["permissions"] = {"mode": flags.permission}
    if flags.policy is not None:
        overrides["context"] = {"policy": flags.policy}
    if flags.no_tools and flags.tools:
        raise UsageError("--tools and --no-tools exclude each other", hint="Give one of them.")
    if flags.tools is not None and not flags.tools.strip(", "):
        raise UsageError("--tools names no tool", hint="Name some, as in --tools read,grep; --no-tools turns all off.")
    if flags.no_tools or flags.tools is not None:
        names = [] if flags.no_tools else [n.strip() for n in (flags.tools or "").split(",") if n.strip()]
        overrides["tools"] = {"enabled": names}
    cwd = Path(flags.cwd or ".")
    project = open_project(
        cwd, overrides=overrides, sets=flags.sets, trust=flags.trust, cwd_given=flags.cwd is not None
    )
    hide_variables(removed_variables(project))
    return project


def _text_or_file(value: str) -> str:
    """The content of the file that `value` names, or `value` itself."""
    if "\n" in value or len(value) > 255 or not os.path.isfile(value):
        if _LIKE_A_FILE.fullmatch(value):
            raise UsageError(
                f"there is no file {value!r}", hint="Check the path; a prompt of one such word needs a blank after it."
            )
        return value
    try:
        data = Path(value).read_bytes()[:MAX_PROMPT_FILE]
    except OSError as e:
        raise UsageError(f"{value} can't be read: {e.strerror}", hint="Check the file's permissions.") from None
    return data.decode("utf-8", "replace")
