"""Several that are asked before a turn ends, one after the other: the first that has something to say decides."""

from collections.abc import Sequence
from dataclasses import dataclass

from trimtab.agent.ports import Closer, Closing, Emit
from trimtab.coding.output_schema import SchemaCloser
from trimtab.coding.verify.verifier import Verifier
from trimtab.types.messages import Assistant


@dataclass(frozen=True, slots=True)
class Closers:
    """A `Closer` made of several."""

    each: Sequence[Closer]

    async def begin(self) -> None:
        """A turn begins for all of them."""
        for closer in self.each:
            await closer.begin()

    async def resume(self) -> None:
        """A turn goes on for all of them."""
        for closer in self.each:
            await closer.resume()

    async def close(self, answer: Assistant, emit: Emit) -> Closing:
        """What the first says that doesn't let the turn end well."""
        for closer in self.each:
            closing = await closer.close(answer, emit)
            if closing.messages or closing.reason != "stop":
                return closing
        return Closing()


@dataclass(frozen=True, slots=True)
class Ending:
    """Who is asked before a turn ends well."""

    verifier: Verifier
    schema: SchemaCloser | None
