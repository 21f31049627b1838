"""Settings: every key Trimtab knows, as one frozen value.

The structs here are the schema: a key that isn't a field is an error that names the nearest one, a wrong type is an error with
its path. `docs/settings.md` is generated from them, docstrings included.
"""

from typing import Literal

import msgspec

from trimtab.types.config import ModelConfig, ProviderConfig

Permission = Literal["ask", "auto-edit", "full", "plan"]
ToolProfile = Literal["off", "archive", "pilot"]


class _Section(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    pass


class ReadTool(_Section, frozen=True):
    """`[tools.read]`: what one read may show."""

    max_lines: int = 2_000
    max_bytes: int = 50_000


class BashTool(_Section, frozen=True):
    """`[tools.bash]`: output kept (bytes at both ends), seconds allowed, variables given back to commands (`env_pass`), and
    first words of commands that may run unasked (`allow`)."""

    head_bytes: int = 30_000
    tail_bytes: int = 20_000
    timeout_s: float = 120.0
    max_timeout_s: float = 3_600.0
    env_pass: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


class SearchTool(_Section, frozen=True):
    """`[tools.grep]`, `[tools.find]`, `[tools.ls]`: rows shown."""

    max_rows: int = 200


class ToolSettings(_Section, frozen=True):
    """`[tools]`: which tools are on (None: all), and their limits."""

    enabled: tuple[str, ...] | None = None
    read: ReadTool = ReadTool()
    bash: BashTool = BashTool()
    grep: SearchTool = SearchTool()
    find: SearchTool = SearchTool()
    ls: SearchTool = SearchTool(max_rows=500)


class PermissionSettings(_Section, frozen=True):
    """`[permissions]`: the mode, and rules such as `bash(npm test)` or `edit(docs/**)` that allow more."""

    mode: Permission = "auto-edit"
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()


class ContextSettings(_Section, frozen=True):
    """`[context]`: how the window is managed. Fractions are of `window - reserve - safety`; `*_tokens` are absolute; the lower wins."""

    policy: str = "rules"
    tools: ToolProfile = "archive"
    soft: float = 0.70
    target: float = 0.50
    hard: float = 0.92
    soft_tokens: int | None = None
    target_tokens: int | None = None
    hard_tokens: int | None = None
    reserve_tokens: int | None = None


class VerifySettings(_Section, frozen=True):
    """`[verify]`: checks that run when the model says it is done."""

    commands: tuple[str, ...] = ()
    model: str | None = None
    rounds: int = 2
    timeout_s: float = 600.0
    protect: tuple[str, ...] = ()


class ModelOverride(_Section, frozen=True):
    """`[models."PROVIDER/ID"]`: settings for one model."""

    context_window: int | None = None
    max_output: int | None = None
    thinking: str | None = None
    context: ContextSettings | None = None


class Settings(_Section, frozen=True):
    """All settings. `model` is `PROVIDER/ID[:THINKING]`; `max_steps` bounds one turn; `system_prompt` replaces ours."""

    model: str | None = None
    thinking: str | None = None
    max_steps: int | None = None
    system_prompt: str | None = None
    append_system_prompt: str | None = None
    providers: dict[str, ProviderConfig] = {}
    models: dict[str, ModelOverride] = {}
    tools: ToolSettings = ToolSettings()
    permissions: PermissionSettings = PermissionSettings()
    context: ContextSettings = ContextSettings()
    verify: VerifySettings = VerifySettings()


NOT_USED_YET = ("context", "verify")
"""Sections that are read and checked but act only in a later version; setting one gives a notice."""

__all__ = [
    "BashTool",
    "ContextSettings",
    "ModelConfig",
    "ModelOverride",
    "Permission",
    "PermissionSettings",
    "ProviderConfig",
    "ReadTool",
    "SearchTool",
    "Settings",
    "ToolProfile",
    "ToolSettings",
    "VerifySettings",
]
