"""What servers say they have, for a person who asks: the lists of those that let one in.

    servers on this machine, and those with a key ──probe, side by side, bounded──▶ Live: windows that nobody stated, models that no list names, and what didn't answer

Asked are the servers of the catalogue on this machine, at their usual addresses, and every provider that speaks an API of OpenAI's and lets one in; the others list all they have in the catalogue. The one rule:
a key goes to its own server alone, and whatever a server does, the rest is listed.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import anyio
import msgspec

from trimtab.coding.auth.found import origin_of
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.probe import Probe, probe
from trimtab.providers.resolve import Resolved, is_loopback
from trimtab.types.errors import UsageError
from trimtab.types.models import Api, ModelInfo

_ASKED: tuple[Api, ...] = ("openai-chat", "openai-responses")
_HERE_S, _FAR_S = 2.0, 5.0
_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Live:
    """`models` are the known ones, with windows that their servers stated, and behind them those of `found`, which only their servers list. `silent`: providers that should have answered and didn't, with why."""

    models: tuple[ModelInfo, ...]
    found: frozenset[str] = frozenset()
    silent: Mapping[str, str] = field(default_factory=dict)


async def ask_servers(project: Project, known: Sequence[ModelInfo]) -> Live:
    """Ask the servers that let one in. Takes seconds at most, and raises nothing for a server that lies, hangs or is gone."""
    servers = await anyio.to_thread.run_sync(_servers, project)
    answers: dict[str, Probe] = {}

    async def ask(name: str, server: Resolved) -> None:
        at, here = server.endpoint, is_loopback(server.endpoint.base_url)
        answers[name] = await probe(
            at.base_url,
            api_key=at.api_key,
            headers=at.headers,
            proxy=at.proxy,
            ca_file=at.ca_file,
            timeout_s=_HERE_S if here else _FAR_S,
            list_only=not here,
        )

    async with anyio.create_task_group() as group:
        for name, server in servers.items():
            group.start_soon(ask, name, server)
    return _merged(project, known, answers, servers)


def _servers(project: Project) -> dict[str, Resolved]:
    """Who can be asked, by the provider's name: any model's name leads to its server. One that the person calls otherwise isn't asked again by the catalogue's name."""
    catalogue, own = Catalogue.load(), project.settings.providers
    named = {origin_of(said.base_url) for said in own.values() if said.base_url}
    found: dict[str, Resolved] = {}
    for name in dict.fromkeys((*own, *(p.name for p in catalogue.providers()))):
        with suppress(UsageError):
            server = resolve_model(project, f"{name}/-", catalogue=catalogue)
            twice = name not in own and origin_of(server.endpoint.base_url) in named
            if server.model.api in _ASKED and not twice and (not server.needs_key or server.endpoint.api_key):
                found[name] = server
    return found


def _merged(
    project: Project, known: Sequence[ModelInfo], answers: dict[str, Probe], servers: dict[str, Resolved]
) -> Live:
    models = {info.ref: _stated(info, answers.get(info.provider)) for info in known}
    found: list[str] = []
    silent: dict[str, str] = {}
    catalogue = Catalogue.load()
    for name, answer in answers.items():
        for served in answer.models:
            ref = f"{name}/{served.id}"
            if ref in models or not served.id.isprintable():
                continue
            with suppress(UsageError):
                info = resolve_model(project, ref, catalogue=catalogue).model
                if info.ref == ref:  # else it ends like a level of thinking, and can't be named
                    models[ref] = _stated(info, answer)
                    found.append(ref)
        if answer.kind is None and (name in project.settings.providers or not is_loopback(answer.base_url)):
            silent[name] = one_line(f"{servers[name].endpoint.base_url} gives no list: {answer.error}")[:_SHOWN]
    return Live(tuple(models.values()), frozenset(found), silent)


def _stated(info: ModelInfo, answer: Probe | None) -> ModelInfo:
    """`info` with the window that its server states, where nobody else does."""
    served = answer.model(info.id) if answer else None
    if served is None or served.context_window is None or info.source != "default":
        return info
    return msgspec.structs.replace(info, context_window=served.context_window, source="probe")
