"""A browser on another machine can't come back to this one: the person pastes the address at which it ended.

The one rule: what is pasted has to be the answer of this login, as what a browser brings has.
"""

from collections.abc import Callable

from trimtab.coding.auth.loopback import WrongAnswer
from trimtab.coding.person import Person, Question

_QUESTION = Question(
    "text",
    "Waiting for the browser. If it runs on another machine, paste the address at which it ends",
    details=("Ctrl-C gives up.",),
)


async def take_pasted(person: Person, take: Callable[[str], None], tell: Callable[[str], None]) -> None:
    """Ask for the address until `take` has it, which raises `WrongAnswer` for any other. Whoever can't be asked just waits."""
    while (text := await person.ask(_QUESTION)) is not None:
        try:
            take(text)
            return
        except WrongAnswer as e:
            tell(f"that isn't the answer of this login: {e}")
