"""What to say when no model is configured: three lines, with what was found on this machine.

Looks at names of variables (never at their values) and asks the usual loopback ports; nothing else is contacted.
"""

from dataclasses import dataclass

from trimtab.coding.project import Project
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.probe import Probe, find_local_servers
from trimtab.types.errors import UnknownModel


@dataclass(frozen=True, slots=True)
class Found:
    """What could answer: (provider, variable) pairs whose key is set, and servers on loopback."""

    keys: tuple[tuple[str, str], ...]
    servers: tuple[Probe, ...]


async def look_around(project: Project) -> Found:
    """Find keys in the environment and servers on the usual loopback ports."""
    keys = tuple(
        (p.name, p.api_key_env)
        for p in Catalogue.load().providers()
        if p.api_key_env and project.env.get(p.api_key_env)
    )
    return Found(keys, await find_local_servers())


def key_variables() -> str:
    """In words: the variables in which the providers we know look for a key."""
    names = [p.api_key_env for p in Catalogue.load().providers() if p.api_key_env]
    return f"{', '.join(names[:-1])} or {names[-1]}"


def no_model(project: Project, found: Found) -> UnknownModel:
    """The error that says what to do."""
    catalogue = Catalogue.load()
    offers = [
        f"--model {m.ref} ({variable} is set)"
        for name, variable in found.keys
        if (m := next(iter(catalogue.models(name)), None))
    ]
    for server in found.servers:
        model = server.models[0].id if server.models else "MODEL"
        offers.append(
            f"--model local/{model} --set providers.local.base_url={server.base_url} ({server.kind} answers there)"
        )
    nothing = f"no key in the environment (it would be in {key_variables()}) and no server on the usual local ports"
    offered = "; ".join(offers[:3]) or nothing
    return UnknownModel(
        "no model is configured",
        hint=f'Found here: {offered}.\n  Once: trimtab -p TEXT --model PROVIDER/MODEL (trimtab models lists them). For good: model = "PROVIDER/MODEL" in {project.home.config_file}.',
    )
