"""`/settings [KEY [VALUE]]`: what holds and by whose word; with a value, a line in the user's own file."""

from collections.abc import Sequence

import anyio

from trimtab.coding.commands.command import Command, Completion, Desk
from trimtab.coding.session import Session
from trimtab.coding.settings.in_force import below, rows_of
from trimtab.coding.settings.names import setting_names, setting_values
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.settings_text import setting_lines
from trimtab.types.errors import UsageError

_LIVE = {"model": "/model", "thinking": "/model"}
"""Settings that have a command for the session that runs."""


async def _run(desk: Desk, rest: str) -> None:
    project, (name, _, value) = desk.session.project, rest.partition(" ")
    if value.strip():
        from trimtab.coding.settings.change import set_setting  # noqa: PLC0415 - loads what writes TOML

        told = list(set_setting(project, name, value.strip()))
        live = f"; {_LIVE[name]} changes this one" if name in _LIVE else ""
        desk.tell("\n".join(map(one_line, [*told, f"It acts after /reload, and from the next session on{live}."])))
        return
    rows = below(rows_of(project), [name] if name else [])
    shown = [row for row in rows if name or row.origin]
    lines = list(setting_lines(shown, origin=True))
    if lines:
        from trimtab.coding.settings.change import pending  # noqa: PLC0415 - as above

        changed = await anyio.to_thread.run_sync(pending, project, rows)
        lines += [f"after /reload: {line}" for line in setting_lines(changed.values(), origin=True)]
    if not lines and name:
        raise UsageError(f"nothing is set below {name!r}", hint="/settings lists what is set.")
    desk.tell("\n".join(lines or ["nothing is set; all settings have their defaults (trimtab config show --all)"]))


def _complete(session: Session, typed: str) -> Sequence[Completion]:
    name, blank, value = typed.partition(" ")
    settings = session.project.settings
    if blank:
        start = value.lstrip()
        return [Completion(f"{name} {one}") for one in setting_values(settings, name) if one.startswith(start)]
    return [Completion(key, text) for key, text in setting_names(settings) if key.startswith(name)]


COMMAND = Command(
    "settings", "[KEY [VALUE]]", "what is set and where; with VALUE, set it in your file", _run, _complete
)
