"""Loading a model on its server, and letting it go, for a person who says so.

    "llamacpp/qwen" ─▶ its server ─▶ does it load on demand? ─no─▶ UsageError, with what it does instead
                                                             └yes─▶ load, waited for ─▶ "… is loaded, window …"

The rule: nothing is downloaded, and no model but the named one is touched.
"""

from dataclasses import dataclass

from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.providers.llama_router import load, unload
from trimtab.providers.probe import Probe, ProbedModel, probe
from trimtab.providers.resolve import Resolved
from trimtab.types.errors import TrimtabError, UsageError

_ASK_S = 3.0


@dataclass(frozen=True, slots=True)
class OnDemand:
    """A model at a server that loads models on demand."""

    found: Resolved
    served: ProbedModel

    @property
    def ref(self) -> str:
        """Its name."""
        return self.found.model.ref

    async def load(self) -> str:
        """Load it and wait; return what to tell. Raises `TrimtabError`."""
        if self.served.state == "loaded":
            return f"{self.ref} is loaded already{_window(self.served)}"
        if why := await load(self.found.endpoint, self.served.id):
            raise TrimtabError(
                f"{self.ref} isn't loaded: {why}", hint="Its server's log says more; /models says what it has."
            )
        again = (await _ask(self.found)).model(self.served.id)
        return f"{self.ref} is loaded{_window(again)}"

    async def unload(self) -> str:
        """Let it go; return what to tell. Raises `TrimtabError`."""
        if why := await unload(self.found.endpoint, self.served.id):
            raise TrimtabError(f"{self.ref} isn't unloaded: {why}", hint="Its server's log says more.")
        return f"{self.ref} is unloaded"


async def on_demand(project: Project, ref: str) -> OnDemand:
    """The model that `ref` names, at a server that loads on demand. Raises `UnknownModel`, `ConfigError`, or `UsageError` where there is nothing to load."""
    found = resolve_model(project, ref)
    if found.model.api not in ("openai-chat", "openai-responses", "anthropic"):
        raise UsageError(f"{found.model.ref} is on no server that loads models", hint="docs/models.md says which do.")
    answer = await _ask(found)
    if answer.kind is None:
        raise UsageError(
            f"{found.endpoint.base_url} doesn't answer: {answer.error}",
            hint="Start the server; trimtab doctor looks for it.",
        )
    served = answer.model(found.model.id)
    known = [one.id for one in answer.models if one.state]
    if not known:
        raise UsageError(
            f"{answer.kind} at {answer.base_url} isn't told what to load",
            hint="llama.cpp in router mode (llama-server without a model) is; Ollama and LM Studio load at the first request.",
        )
    if served is None:
        raise UsageError(f"{answer.base_url} has no {found.model.id!r}", hint=f"It has {', '.join(known[:8])}.")
    return OnDemand(found, served)


async def _ask(found: Resolved) -> Probe:
    at = found.endpoint
    return await probe(
        at.base_url, api_key=at.api_key, headers=at.headers, proxy=at.proxy, ca_file=at.ca_file, timeout_s=_ASK_S
    )


def _window(served: ProbedModel | None) -> str:
    return f", window {served.context_window:,} tokens" if served and served.context_window else ""
