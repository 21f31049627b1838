"""Which commands there are, and which of them a line means.

    COMMANDS (Trimtab's own) ─┐
    prompt templates ─────────┤
    extensions ───────────────┼─ commands_of(session) ──parse──▶ the one that a line begins with
    skill:NAME ───────────────┤
    mcp:SERVER:PROMPT ────────┘

`/etc/passwd is a file` is no command but text: one of ours is a word of letters, and of the others only what is there counts. `/HELP` is `/help`.
"""

import re
from collections.abc import Mapping

from trimtab.coding.commands import (
    agents,
    answer,
    bug,
    clone,
    compact,
    context,
    copy,
    cost,
    diff,
    export,
    extensions,
    fork,
    hotkeys,
    import_,
    init,
    jobs,
    label,
    login,
    logout,
    mcp,
    memo,
    memory,
    model,
    models,
    name,
    new,
    permissions,
    pin,
    prompts,
    queue,
    quit,
    redo,
    reload,
    resume,
    revert,
    settings,
    skills,
    stats,
    system,
    theme,
    thinking,
    tools,
    tree,
    trust,
    undo,
    unpin,
    verify,
)
from trimtab.coding.commands.command import Command, Desk
from trimtab.coding.commands.extensions import extension_commands
from trimtab.coding.commands.help import help_command
from trimtab.coding.commands.mcp import mcp_commands
from trimtab.coding.commands.prompts import template_commands
from trimtab.coding.commands.skills import skill_commands
from trimtab.coding.session import Session
from trimtab.types.errors import UsageError
from trimtab.types.near import nearest

AS_TEXT = "To send it as text, put a space before it."
"""What a person does whose words only look like a command."""
_COMMAND = re.compile(r"/([a-z]*|(?:skill|mcp):\S*)(?:\s+(.*))?", re.S)
_ANY = re.compile(r"/([\w-]+)(?:\s+(.*))?", re.S)

COMMANDS: Mapping[str, Command] = {
    command.name: command
    for command in (
        model.COMMAND,
        models.COMMAND,
        thinking.COMMAND,
        tools.COMMAND,
        mcp.COMMAND,
        cost.COMMAND,
        stats.COMMAND,
        jobs.COMMAND,
        agents.COMMAND,
        context.COMMAND,
        compact.COMMAND,
        revert.COMMAND,
        pin.COMMAND,
        unpin.COMMAND,
        memo.COMMAND,
        memory.COMMAND,
        undo.COMMAND,
        redo.COMMAND,
        diff.COMMAND,
        verify.COMMAND,
        init.COMMAND,
        new.COMMAND,
        resume.COMMAND,
        fork.COMMAND,
        clone.COMMAND,
        tree.COMMAND,
        label.COMMAND,
        name.COMMAND,
        copy.COMMAND,
        export.COMMAND,
        import_.COMMAND,
        reload.COMMAND,
        settings.COMMAND,
        theme.COMMAND,
        trust.COMMAND,
        permissions.COMMAND,
        login.COMMAND,
        logout.COMMAND,
        answer.COMMAND,
        queue.COMMAND,
        system.COMMAND,
        skills.COMMAND,
        prompts.COMMAND,
        extensions.COMMAND,
        hotkeys.COMMAND,
        bug.COMMAND,
        help_command(lambda session: commands_of(session)),
        quit.COMMAND,
    )
}
"""By name, in the order in which help lists them."""


def commands_of(session: Session) -> Mapping[str, Command]:
    """All commands of a session: ours, then the templates, skills, prompts of servers and extensions that were found, none of which has the name of one of ours."""
    found = (template_commands, skill_commands, mcp_commands, extension_commands)
    return {**COMMANDS, **{name: command for kind in found for name, command in kind(session).items()}}


def parse(line: str, commands: Mapping[str, Command] = COMMANDS) -> tuple[str, str] | None:
    """`line` as a command's name and what follows it; None when it is text. `commands` are those that there are beside ours."""
    if (found := _ANY.fullmatch(line)) is not None:
        rest = (found[2] or "").strip()
        for name in (found[1], found[1].lower()):
            if name in commands:
                return name, rest
    found = _COMMAND.fullmatch(line)
    return (found[1], (found[2] or "").strip()) if found else None


_ELSEWHERE: Mapping[str, str] = {
    "agent": "agents",
    "branch": "fork",
    "checkpoint": "undo",
    "clear": "new",
    "config": "settings",
    "exit": "quit",
    "keys": "hotkeys",
    "keybindings": "hotkeys",
    "local": "models",
    "plan": "permissions plan",
    "reset": "new",
    "rewind": "undo",
    "scoped-models": "models",
    "session": "stats",
    "sessions": "resume",
    "status": "stats",
    "summarize": "compact",
    "usage": "cost",
}
"""Commands of other programs, and what does their job here."""


def meant_by(name: str, commands: Mapping[str, Command]) -> str | None:
    """The command that was probably meant by `name`: the skill of that name, one that does what others call so, or one that looks like it."""
    return skill if (skill := f"skill:{name}") in commands else _ELSEWHERE.get(name) or nearest(name, commands)


async def run_command(desk: Desk, name: str, rest: str) -> None:
    """Run the command of that name. Raises `UsageError` when there is none."""
    commands = commands_of(desk.session)
    command = commands.get(name)
    if command is None and name.startswith(mcp.MCP):
        await mcp.meet_named(desk.session, name)
        commands = commands_of(desk.session)
        command = commands.get(name)
    if command is None:
        meant = meant_by(name, commands)
        guess = f"Did you mean /{meant}? " if meant else ""
        raise UsageError(f"no command /{name}", hint=f"{guess}/help lists them. {AS_TEXT}")
    await command.run(desk, rest)
