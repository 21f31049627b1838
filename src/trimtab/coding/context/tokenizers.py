"""Which servers count tokens themselves, and what a person is told when one stops.

model ──settings: providers.P.tokenizer──▶ ServerTokenizer, asked when a text is first counted          else None: a vocabulary counts

By default only servers on this machine that are known to have a tokenizer are asked: a text goes nowhere that the conversation doesn't go.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.providers.resolve import is_loopback
from trimtab.types.errors import UsageError
from trimtab.types.models import ModelInfo

if TYPE_CHECKING:
    from trimtab.context.counting.counter import Tokenize
    from trimtab.providers.tokenize import ServerTokenizer

_HAVE_ONE = ("llamacpp", "vllm")
"""Providers of the catalogue whose servers have one."""


@dataclass(slots=True)
class Tokenizers:
    """The tokenizers of one session's models."""

    project: Project
    _made: "list[tuple[ServerTokenizer, bool]]" = field(default_factory=list)

    def of(self, model: ModelInfo) -> "Tokenize | None":
        """Return what counts texts for `model`; None: nothing but us. No server is asked yet."""
        said = self.project.settings.providers.get(model.provider)
        wanted = said.tokenizer if said is not None else None
        if wanted == "local" or (wanted is None and model.provider not in _HAVE_ONE):
            return None
        try:
            endpoint = resolve_model(self.project, model.ref).endpoint
        except UsageError:
            return None
        if not endpoint.base_url.startswith("http") or (wanted is None and not is_loopback(endpoint.base_url)):
            return None
        found: list[ServerTokenizer] = []

        def count(text: str) -> int | None:
            if not found:
                from trimtab.providers.post import Address  # noqa: PLC0415 - a small first request counts nothing
                from trimtab.providers.tokenize import ServerTokenizer  # noqa: PLC0415 - as above

                address = Address(
                    endpoint.base_url,
                    endpoint.api_key,
                    endpoint.headers,
                    proxy=endpoint.proxy,
                    ca_file=endpoint.ca_file,
                )
                found.append(ServerTokenizer(address, model.id))
                self._made.append((found[0], wanted == "server"))
            return found[0](text)

        return count

    def take_notes(self) -> tuple[str, ...]:
        """What a person should be told, once: a tokenizer that was asked for, or that worked, and counts no more."""
        stopped = [made for made in self._made if made[0].problem]
        self._made = [made for made in self._made if made not in stopped]
        return tuple(
            f"the tokenizer of {one.address.host} can't be used ({one.problem}); its tokens are estimated from here on"
            for one, asked_for in stopped
            if asked_for or one.worked
        )

    def close(self) -> None:
        """Close their connections."""
        for one, _ in self._made:
            one.close()
