"""A project's servers are code: each is trusted by its content, beyond the folder, before it is started or asked.

    .mcp.json entry + the project's own files that its command names ──code_decision──▶ trusted: it may be used
                                                                                  └─▶ new, or changed: shown to a person, and asked
    a person: this time · from now on · no          nobody there: it isn't used, and a notice says so
    each start ──changed_since──▶ all of it is as it was judged, or the server isn't started

What such a file loads in turn isn't hashed: it is the project's, which is trusted as a folder. The one rule: what starts, however late, is what was judged.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import anyio

from trimtab.coding.mcp.config import ServerConfig, expanded
from trimtab.coding.mcp.named_files import files_of
from trimtab.coding.person import NOBODY, Option, Person, Question
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.trust_text import revealed
from trimtab.coding.toolset import environment_of
from trimtab.coding.trust.code import CodeDecision, code_decision, difference, digest_of, trust_code
from trimtab.types.errors import ConfigError

_LONGEST = 20_000
_OPTIONS = (
    Option("once", "yes, this time", "nothing is stored"),
    Option("always", "yes, from now on", "asked again when any of it changes"),
    Option("no", "no, not now"),
)


@dataclass(frozen=True, slots=True)
class Allowed:
    """The servers that may be used, each with the digests of what was judged, and what a person should know of the others."""

    judged: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    notices: tuple[str, ...] = ()


async def allowed_servers(project: Project, servers: Sequence[ServerConfig], person: Person) -> Allowed:
    """Which of a trusted project's `servers` may be used; `person` is asked about those that nobody has judged as they are."""
    judged: dict[str, Mapping[str, str]] = {}
    notices: list[str] = []
    for server in servers:
        if server.server.disabled or expanded(server, project.env).problem:
            judged[server.name] = {}  # it isn't used anyway, and its own reason is the better one
            continue
        try:
            digests, notice = await _may_run(project, server, person)
        except ConfigError as e:
            digests, notice = None, e.message
        if digests is not None:
            judged[server.name] = digests
        if notice:
            notices.append(notice)
    return Allowed(judged, tuple(notices))


async def _may_run(project: Project, server: ServerConfig, person: Person) -> tuple[Mapping[str, str] | None, str]:
    """The digests of what was judged, None where it may not be used, and what to tell."""
    store, root = project.home.trust_file, project.trust.root
    items = await anyio.to_thread.run_sync(_items, project, server)
    decision = await anyio.to_thread.run_sync(code_decision, store, root, items)
    shown = f"the server {one_line(server.name)} of {one_line(_file_of(server, root))}"
    if decision.unreadable:
        name, why = next(iter(decision.unreadable.items()))
        return None, f"{shown} isn't used: {one_line(name)} can't be judged ({why})"
    asked = {**decision.new, **decision.changed}
    digests = _digests({**decision.trusted, **asked})
    if not asked:
        return digests, ""
    if person is NOBODY:
        changed = "changed since it was trusted" if decision.changed else "hasn't been judged by a person"
        return (
            None,
            f"{shown} isn't used: it {changed}; a talk (trimtab chat) asks about it, trimtab mcp allow {one_line(server.name)} shows and allows it",
        )
    details = await anyio.to_thread.run_sync(partial(_details, project, server, decision))
    what = "answers from" if server.server.url else "runs on this machine, with your rights"
    key = await person.ask(Question("trust", f"Use {shown}? It {what}:", details, _OPTIONS, default="no"))
    if key not in ("once", "always"):
        return None, f"{shown} isn't used, as you said" if key == "no" else f"{shown} isn't used"
    again = await anyio.to_thread.run_sync(
        code_decision, store, root, await anyio.to_thread.run_sync(_items, project, server)
    )
    if again.unreadable or {**again.new, **again.changed} != asked:
        return None, f"{shown} isn't used: it changed while you were asked"
    if key == "always":
        await anyio.to_thread.run_sync(allow, project, asked)
    return digests, ""


def changed_since(project: Project, server: ServerConfig) -> str:
    """What of a project's server isn't as it was judged, neither when the session opened nor since; empty when all is. Touches the disk."""
    try:
        items = _items(project, server)
        decision = code_decision(project.home.trust_file, project.trust.root, items)
    except ConfigError as e:
        return e.message
    now = _digests({**decision.trusted, **decision.new, **decision.changed})
    names = sorted({*items, *server.judged} - set(decision.trusted))
    return next((one_line(name) for name in names if now.get(name, "") != server.judged.get(name)), "")


def _digests(items: Mapping[str, bytes]) -> dict[str, str]:
    return {name: digest_of(data) for name, data in items.items()}


def as_it_stands(project: Project, server: ServerConfig) -> tuple[Mapping[str, bytes], tuple[str, ...]]:
    """What of a project's server would be judged, and lines that show it. Raises `ConfigError`. Touches the disk."""
    items = _items(project, server)
    decision = code_decision(project.home.trust_file, project.trust.root, items)
    for name, why in decision.unreadable.items():
        raise ConfigError(f"{name} can't be judged: {why}", hint="Make it a file that can be read.")
    return {**decision.new, **decision.changed}, _details(project, server, decision)


def allow(project: Project, items: Mapping[str, bytes]) -> None:
    """Let what was shown be used from now on. Raises `ConfigError`. Touches the disk."""
    trust_code(project.home.trust_file, project.home.trusted_code, project.trust.root, items)


def _file_of(server: ServerConfig, root: Path) -> str:
    return os.path.relpath(server.origin, root)


def _items(project: Project, server: ServerConfig) -> Mapping[str, bytes | Path]:
    """The entry, and the files of the project that it names, once variables are filled in. Raises `ConfigError` for more than can be judged."""
    root = project.trust.root
    name = f"{_file_of(server, root)} {server.name}"
    full = expanded(server, project.env) if server.written is None else server
    files = files_of(full, environment_of(project), os.fspath(root))
    items: dict[str, bytes | Path] = {name: server.said.encode("utf-8", "replace")}
    return items | {f"{name}: {file}": what for file, what in files.items()}


def _details(project: Project, server: ServerConfig, decision: CodeDecision) -> tuple[str, ...]:
    lines = [revealed(line) for line in server.said[:_LONGEST].splitlines()]
    if len(server.said) > _LONGEST:
        lines.append(f"… and {len(server.said) - _LONGEST:,} more characters")
    for name, data in (*decision.new.items(), *decision.changed.items()):
        if data == server.said.encode("utf-8", "replace") and name in decision.new:
            continue
        state = "changed" if name in decision.changed else "new"
        lines.append(f"{state}: {one_line(name)} ({len(data):,} bytes)")
        if name in decision.changed:
            diff = difference(project.home.trust_file, project.home.trusted_code, project.trust.root, name, data)
            lines += [revealed(line) for line in (diff or "").splitlines()[:200]]
    lines.append(
        f"to be asked no more, disable it: [mcp.servers.{one_line(server.name)}] disabled = true in your settings"
    )
    return tuple(lines)
