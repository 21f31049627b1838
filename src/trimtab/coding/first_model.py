"""Which model answers where none is named, and what to say when nothing lets one in anywhere.

    your own providers' first model ─▶ the default of a provider that you logged in to ─▶ of one whose key is set ─▶ no_model, with what was found on this machine

Among several the order of the settings, then of the catalogue (`docs/providers.md`) decides. No value of a variable is shown; the usual loopback ports are asked, and nothing else is contacted.
"""

from dataclasses import dataclass

from trimtab.coding.auth.found import in_use, keys_held_back, providers_with_keys, sources
from trimtab.coding.project import Project
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.loopback import is_loopback
from trimtab.providers.probe import Probe, find_local_servers
from trimtab.types.errors import UnknownModel

_NAMED = 3
"""How many variables are named to a person who has none."""


@dataclass(frozen=True, slots=True)
class First:
    """A model that nobody named, and why it is the one."""

    ref: str
    why: str

    @property
    def notice(self) -> str:
        """What a person is told."""
        return f"no model is configured: {self.ref} answers ({self.why}). Another one: --model PROVIDER/MODEL; for good: trimtab config set model PROVIDER/MODEL"


def first_model(project: Project) -> First | None:
    """The model that answers where none is named; None where nothing lets one in."""
    providers, catalogue = project.settings.providers, Catalogue.load()
    for name, said in providers.items():
        url = said.base_url or ""
        if said.models and (is_loopback(url) or said.headers or in_use(sources(project, name))):
            return First(f"{name}/{said.models[0].id}", f"the first model of your provider {name}")
    keys = providers_with_keys(project)
    for logged_in in (True, False):
        for name, source in keys.items():
            listed = catalogue.provider(name)
            if listed is not None and listed.default and (source.kind == "login") is logged_in:
                why = f"you logged in to {name}" if logged_in else f"{source.where} is set"
                return First(f"{name}/{listed.default}", why)
    return None


@dataclass(frozen=True, slots=True)
class Found:
    """What could answer: (provider, variable) pairs whose key is set, and servers on loopback. `held`: why set keys aren't used."""

    keys: tuple[tuple[str, str], ...]
    servers: tuple[Probe, ...]
    held: tuple[str, ...] = ()


async def look_around(project: Project) -> Found:
    """Find keys in the environment and servers on the usual loopback ports."""
    held = keys_held_back(project)
    keys = tuple(
        (p.name, p.api_key_env)
        for p in Catalogue.load().providers()
        if p.api_key_env and project.env.get(p.api_key_env) and p.name not in held
    )
    return Found(keys, await find_local_servers(), tuple(held.values()))


def key_variables() -> str:
    """In words: some of the variables in which the providers we know look for a key, and where the others stand."""
    names = [p.api_key_env for p in Catalogue.load().providers() if p.api_key_env]
    return f"{', '.join(names[:_NAMED])} or one of {len(names) - _NAMED} others, which docs/providers.md lists"


class NoModel(UnknownModel):
    """No model is named, and nothing lets one in anywhere."""


def no_model(project: Project, found: Found) -> NoModel:
    """The error that says what to do."""
    catalogue = Catalogue.load()
    offers = [
        f"--model {name}/{listed.default or 'MODEL'} ({variable} is set)"
        for name, variable in found.keys
        if (listed := catalogue.provider(name))
    ]
    for server in found.servers:
        model = server.models[0].id if server.models else "MODEL"
        offers.append(
            f"--model local/{model} --set providers.local.base_url={server.base_url} ({server.kind} answers there)"
        )
    nothing = f"no key in the environment (it would be in {key_variables()}), no login, and no server on the usual local ports"
    unused = "; ".join(f"no key is used: {why}" for why in found.held)
    offered = "; ".join((*offers[:3], *([unused] if unused else []))) or nothing
    return NoModel(
        "no model is configured",
        hint=f'Found here: {offered}.\n  Keep a key: trimtab login. Once: trimtab -p TEXT --model PROVIDER/MODEL (trimtab models lists them). For good: model = "PROVIDER/MODEL" in {project.home.config_file}.',
    )
