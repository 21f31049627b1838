"""What a session took, over all the times that it was open.

its file ──usage of answers, of summaries, of what was asked beside them──▶ Spent        (`Session.spent` is what this process spent of it)
"""

from trimtab.agent.ports import Spent
from trimtab.coding.session import Session
from trimtab.coding.session_list import cost_of
from trimtab.context.stores.summary import summarise
from trimtab.types.errors import SessionError


def taken_by(session: Session) -> Spent:
    """What all of the session took, at the prices of now; what isn't in its file yet counts too. Reads the file: call it in a thread."""
    path, here = session.log.path, session.spent
    if path is None:
        return here
    try:
        summary = summarise(path)
    except SessionError:
        return here
    # What is asked beside a turn comes to the file at its end, so for a while the file may hold less than was spent.
    if summary.usage.total <= here.usage.total:
        return here
    return Spent(summary.usage, cost_of(session.project, summary))
