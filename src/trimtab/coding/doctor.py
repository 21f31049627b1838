"""The doctor: looks at what is configured, asks what can be asked, and says in plain words what is missing and what to do.

Each check is a value; frontends print them. Nothing beyond loopback is contacted unless `online` is given, and then only the configured model's own server.
"""

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from urllib.parse import urlsplit

import anyio

from trimtab import __version__
from trimtab.coding.agents.checks import agent_checks
from trimtab.coding.auth.check import auth_checks
from trimtab.coding.auth.open import no_key
from trimtab.coding.check import Check
from trimtab.coding.confine import sandbox_checks
from trimtab.coding.context.advice import adviser_for
from trimtab.coding.context.chosen import chosen_tools
from trimtab.coding.context.engine import context_settings, engine_settings
from trimtab.coding.context.learned import learned_file
from trimtab.coding.context_check import refusals
from trimtab.coding.extensions.open import open_extensions
from trimtab.coding.first_model import Found, first_model, look_around
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.mcp.checks import mcp_checks
from trimtab.coding.models import resolve_model
from trimtab.coding.person import NOBODY
from trimtab.coding.project import Project
from trimtab.coding.role_models import find_members
from trimtab.coding.roles import ROLES, configured_model, members_of, model_of
from trimtab.coding.telling.extension_text import extension_checks
from trimtab.coding.telling.printable import one_path
from trimtab.coding.tools.ripgrep import find_rg
from trimtab.coding.toolset import removed_variables
from trimtab.coding.trust import project_inputs, stored_answer
from trimtab.context.budget import budget_for
from trimtab.providers.probe import probe
from trimtab.providers.resolve import Resolved, is_loopback
from trimtab.types.errors import ConfigError, TrimtabError, UsageError
from trimtab.types.models import ModelInfo


async def examine(project: Project, *, mistakes: Iterable[ConfigError] = (), online: bool = False) -> tuple[Check, ...]:
    """Look at everything. `mistakes` are what `open_anyway` left out. Never raises for what it finds."""
    around = await look_around(project)
    return (
        Check("ok", "version", f"trimtab {__version__}, Python {platform.python_version()} on {project.platform}"),
        *_folders(project),
        *_settings(project, mistakes),
        await _model(project, around, online=online),
        *_roles(project),
        *_context(project),
        *await anyio.to_thread.run_sync(lambda: tuple(auth_checks(project))),
        *_around(project, around),
        *_programs(project.env.get("PATH")),
        *_safety(project),
        *await anyio.to_thread.run_sync(sandbox_checks, project),
        *await _extensions(project),
        *await mcp_checks(project),
        *await anyio.to_thread.run_sync(agent_checks, project),
    )


async def _extensions(project: Project) -> tuple[Check, ...]:
    """What of others acts, loaded as a run would: what nobody let run doesn't."""
    try:
        async with AsyncExitStack() as stack:
            _, extensions = await open_extensions(project, NOBODY, stack)
            return tuple(extension_checks(extensions))
    except ConfigError as e:
        return (Check("missing", "hooks", e.message, e.hint),)
    except UsageError as e:
        return (Check("missing", "extension", e.message, e.hint),)


def _folders(project: Project) -> Iterator[Check]:
    home = project.home
    one = home.config == home.data
    folders = {"home": home.config} if one else {"settings folder": home.config, "sessions folder": home.data}
    for name, folder in folders.items():
        problem = _unwritable(folder)
        if problem:
            what = "settings, logins and trust" if folder == home.config and not one else "sessions"
            yield Check(
                "missing",
                name,
                f"{folder} can't be written: {problem}",
                f"Fix its permissions, or set TRIMTAB_HOME to another folder. Until then {what} aren't kept.",
            )
        else:
            yield Check("ok", name, f"{folder}")


def _unwritable(folder: Path) -> str:
    """Why nothing can be written to `folder` (or to where it would be made); empty when it can."""
    there = folder
    while not there.exists() and there != there.parent:
        there = there.parent
    try:
        with tempfile.TemporaryFile(dir=there):
            return ""
    except OSError as e:
        return e.strerror or str(e)


def _settings(project: Project, mistakes: Iterable[ConfigError]) -> Iterator[Check]:
    file = project.home.config_file
    wrong = [Check("missing", "config", f"{e.message}; a run stops at this", e.hint) for e in mistakes]
    yield from wrong
    if not file.exists():
        yield Check("note", "config", f"{file} isn't there; defaults, variables and flags are used")
    elif not any(str(file) in check.found for check in wrong):
        yield Check("ok", "config", f"{file}")
    for notice in project.loaded.notices:
        yield Check("note", "config", notice)


async def _model(project: Project, around: Found, *, online: bool) -> Check:
    configured = configured_model(project.settings)
    first = None if configured else first_model(project)
    ref = configured or (first.ref if first else None)
    if not ref:
        return Check(
            "missing",
            "model",
            "none is configured",
            f'Keep a key: trimtab login. Or set model = "PROVIDER/MODEL" in {project.home.config_file}. {_offer(around)}'.strip(),
        )
    try:
        resolved = resolve_model(project, ref)
    except TrimtabError as e:
        return Check("missing", "model", e.message, e.hint)
    check = await _ask(project, resolved, online=online)
    notes = (*((first.notice,) if first else ()), *resolved.notes)
    if check.status == "ok" and notes:
        return Check("note", check.name, check.found, "; ".join(notes))
    return check


def _roles(project: Project) -> Iterator[Check]:
    """Who has which role, and who of them can't be asked."""
    for role in ROLES:
        said = members_of(project.settings, role)
        if not said:
            continue
        found = {one.member.ref: one for one in find_members(project, said)}
        lacking = [one.info.provider for one in found.values() if not one.ready]
        who = "; then ".join(member.ref for member in said)
        if lacking:
            hint = "One that can't be asked is passed over; trimtab models --usable lists those that can."
            yield Check("note", f"role {role}", f"{who}: there is no key for {', '.join(dict.fromkeys(lacking))}", hint)
        else:
            yield Check("ok", f"role {role}", who)


def _context(project: Project) -> Iterator[Check]:
    """What a run would stop at before its first request: the doctor's model is the configured one, where that can be found."""
    try:
        ref = configured_model(project.settings) or (first.ref if (first := first_model(project)) else None)
        model = resolve_model(project, ref).model if ref else None
    except TrimtabError:
        model = None  # told as the model's own check
    wrong = [Check("missing", name, e.message, e.hint) for name, e in refusals(project, model)]
    yield from wrong or [Check("ok", "context", line) for line in _in_force(project, model)]
    learned = learned_file(project)
    yield Check("ok", "learned", f"{learned}" if learned.exists() else f"nothing yet ({learned})")


def _in_force(project: Project, model: ModelInfo | None) -> Iterator[str]:
    """The settings of the context that a run with `model` would have."""
    settings = project.settings.context if model is None else context_settings(project, model)
    small = settings.summary_model or model_of(project.settings, "small")
    writer = f"summaries by {small}" if small else "summaries by the session's model"
    chosen = chosen_tools(settings, project.settings.tools)
    tools = (
        f"tools {settings.tools}"
        if project.settings.tools.enabled is None
        else f"tools {', '.join(chosen.names) or 'off'}"
    )
    policy = f"policy {settings.policy}"
    if adviser := adviser_for(project, settings):
        policy += f" at {adviser.address.host}, {adviser.timeout_s:g} s"
    yield f"{policy}; {tools}; {writer}"
    if model is not None:
        budget = budget_for(model, engine_settings(settings, profile=chosen.profile).thresholds)
        done = f"nothing is done below {budget.soft:,}, the aim is {budget.target:,}, no request has more than {budget.hard:,}"
        if settings.policy == "none":
            done = f"nothing is ever done; a turn ends before a request with more than {budget.hard:,}"
        yield (
            f"of {budget.window:,} tokens {budget.reserve:,} are kept for the answer and {budget.safety:,} as a margin; {done}"
        )


async def _ask(project: Project, resolved: Resolved, *, online: bool) -> Check:
    """What there is to say about a model that was found, and whether its server answers."""
    info, endpoint = resolved.model, resolved.endpoint
    facts = f"{info.ref}: window {info.context_window:,}, at most {info.max_output:,} out (from {info.source})"
    if resolved.needs_key and not endpoint.api_key:
        return Check("missing", "model", f"{facts}; there is no key", no_key(project, resolved).hint)
    if info.api in ("scripted", "recorded"):
        if not await anyio.Path(endpoint.base_url).exists():
            return Check("missing", "model", f"{facts}; there is no file {endpoint.base_url!r}", "Correct the path.")
        return Check("ok", "model", f"{facts}; a test model")
    if not (online or is_loopback(endpoint.base_url)):
        return Check(
            "ok", "model", f"{facts}; key found; not contacted (trimtab doctor --online asks {endpoint.base_url})"
        )
    answer = await probe(
        endpoint.base_url,
        api_key=endpoint.api_key,
        headers=endpoint.headers,
        proxy=endpoint.proxy,
        ca_file=endpoint.ca_file,
    )
    if answer.kind is None:
        return Check(
            "missing",
            "model",
            f"{facts}; {endpoint.base_url} doesn't answer: {answer.error}",
            "Start the server, or correct base_url.",
        )
    served = answer.model(info.id)
    if answer.models and served is None:
        names = ", ".join(m.id for m in answer.models[:5])
        return Check(
            "note", "model", f"{facts}; {answer.kind} answers, but doesn't list {info.id!r} (it lists {names})"
        )
    if served and served.context_window and served.context_window < info.context_window:
        return Check(
            "note",
            "model",
            f"{facts}; the server gives it {served.context_window:,} tokens only",
            f"Set context_window = {served.context_window}, or give the server a larger window.",
        )
    return Check("ok", "model", f"{facts}; {answer.kind} answers at {endpoint.base_url}")


def _offer(around: Found) -> str:
    names = [f"{s.kind} at {s.base_url}" for s in around.servers]
    return f"Found: {', '.join(names)}." if names else ""


def _around(project: Project, around: Found) -> Iterator[Check]:
    declared = [(name, p.base_url or "") for name, p in project.settings.providers.items()]
    own = {_port(url): f"your provider {name}: " for name, url in declared if is_loopback(url)}
    for server in around.servers:
        models = ", ".join(f"{m.id} ({m.state})" if m.state else m.id for m in server.models[:3]) or "no model"
        mine = own.get(_port(server.base_url), "")
        yield Check("ok", "local server", f"{mine}{server.kind} at {server.base_url}: {models}")
    if not around.servers:
        yield Check("note", "local server", "none on the usual loopback ports")


def _port(url: str) -> int:
    """The port of a loopback address, which may be written in more than one way."""
    try:
        return urlsplit(url).port or 80
    except ValueError:
        return 0


def _programs(search: str | None) -> Iterator[Check]:
    for name, use in (("bash", "commands run in sh instead"), ("git", "the model can't look at history")):
        path = shutil.which(name, path=search)
        yield Check("ok", name, path) if path else Check("note", name, f"not found: {use}", f"Install {name}.")
    ripgrep = find_rg(search)
    if ripgrep:
        yield Check("ok", "ripgrep", str(ripgrep))
    else:
        yield Check(
            "note",
            "ripgrep",
            "not found: grep and find work, slower",
            "pip install 'ripgrep<15', or your system's package.",
        )


def _safety(project: Project) -> Iterator[Check]:
    yield _permissions(project)
    yield _trust(project)
    removed = removed_variables(project)
    yield Check(
        "ok",
        "secrets",
        f"not given to commands: {', '.join(removed)}" if removed else "no variable looks like a secret",
    )
    if os.geteuid() == 0:
        yield Check("note", "user", f"running as root ({sys.executable})")


def _permissions(project: Project) -> Check:
    try:
        permission_hooks(project, workspace_of(project))
    except ConfigError as e:
        return Check("missing", "permissions", e.message, f"{e.hint[:1].upper()}{e.hint[1:]}.")
    mode = project.settings.permissions.mode
    return Check("ok", "permissions", f"mode {mode}")


def _trust(project: Project) -> Check:
    names = ", ".join(one_path(one.name) for one in project_inputs(project.trust.root, project.cwd))
    if not names:
        return Check("ok", "trust", "this folder has no settings of its own")
    if project.trusted:
        return Check("ok", "trust", f"{names}: trusted")
    store = project.home.trust_file
    try:
        refused = stored_answer(project.cwd, store, home=project.env.get("HOME")) is False
    except ConfigError:
        refused = False  # the damaged store is among the mistakes
    if refused:
        return Check(
            "note",
            "trust",
            f"{names}: ignored, as you answered: a `never` for this folder is stored in {store}",
            "If you have changed your mind: --trust folder stores a yes instead.",
        )
    why = f" ({project.trust.reason})" if project.trust.reason else ""
    return Check(
        "note", "trust", f"{names}: not trusted, so ignored{why}", "A run with --trust folder trusts this folder."
    )
