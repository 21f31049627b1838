"""The first start at a terminal: where no model is named and nothing lets one in, the person may log in right there.

no model ──asked──▶ yes ─▶ a provider, its key or its own way ─▶ kept ─▶ the talk begins          no, nobody there ─▶ False: the error says what else there is
"""

from collections.abc import Callable

from trimtab.coding.auth.browser import opener
from trimtab.coding.auth.login import choose_provider, log_in
from trimtab.coding.auth.means import Means
from trimtab.coding.person import Option, Question
from trimtab.coding.project import Project
from trimtab.frontends.cli.asking import LinePerson
from trimtab.types.errors import TrimtabError

_YES = "yes"
_QUESTION = Question(
    "choice",
    "No model is configured, and no key was found. Log in to a provider now?",
    options=(
        Option(_YES, "choose one; its key is kept for you alone"),
        Option("no", "leave, and say what else can be done"),
    ),
)


async def offered_login(project: Project, person: LinePerson, say: Callable[[str], None]) -> bool:
    """Offer it until the person is logged in or would rather not; return whether they are."""
    while await person.ask(_QUESTION) == _YES:
        name = await choose_provider(project, person)
        if name is None:
            continue
        try:
            told = await log_in(project, name, Means(person, say, opener(project.env)))
        except TrimtabError as e:
            say(f"error: {e.message}" + (f"\n  {e.hint}" if e.hint else ""))
            continue
        for line in told:
            say(line)
        return True
    return False
