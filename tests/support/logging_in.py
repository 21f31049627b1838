"""A frontend as a login sees it: a person with answers, lines that were told, a browser."""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from trimtab.coding.auth.means import Means
from trimtab.coding.person import Question


@dataclass
class Answers:
    """A person who answers from a list and remembers what was asked. `patient`: waits when the list is over, as a person does."""

    given: list[str] = field(default_factory=list)
    asked: list[Question] = field(default_factory=list)
    patient: bool = False

    async def ask(self, question: Question) -> str | None:
        """Answer."""
        self.asked.append(question)
        if not self.given and self.patient:
            await anyio.sleep_forever()
        return self.given.pop(0) if self.given else None


@dataclass
class LoginDesk:
    """`told` is what the person read."""

    browse: Callable[[str], bool] = lambda url: False
    told: list[str] = field(default_factory=list)
    person: Answers = field(default_factory=Answers)

    @property
    def means(self) -> Means:
        """What a login has of it."""
        return Means(self.person, self.told.append, self.browse)

    @property
    def text(self) -> str:
        """All that was told."""
        return "\n".join(self.told)
