"""Models to talk to: native wires over one HTTP layer, two public test models, a catalogue, and the way from a name to all of it.

`resolve` finds a model, `open_provider` opens it; both are cheap to import. Wires, the HTTP client and the test models load on use, by
module name (`trimtab.providers.scripted`, `trimtab.providers.probe`, …).
"""

from trimtab.providers.catalogue import Catalogue, ProviderInfo
from trimtab.providers.open import open_provider
from trimtab.providers.provider import Provider
from trimtab.providers.resolve import Resolved, resolve
from trimtab.providers.wire import Endpoint

__all__ = ["Catalogue", "Endpoint", "Provider", "ProviderInfo", "Resolved", "open_provider", "resolve"]
