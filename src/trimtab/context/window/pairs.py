"""Pairing: what a conversation looks like to a model that wants every call answered.

    assistant(a, b) · result b · user · result a      as it was recorded
    assistant(a, b) · result a · result b · user      as a model reads it

It is the view of a conversation without edits.
"""

from collections.abc import Collection, Iterable

from trimtab.context.window.view import Repairs, View
from trimtab.types.messages import Message


def pair(messages: Iterable[Message], *, parked: Collection[str] = ()) -> tuple[tuple[Message, ...], Repairs]:
    """Return the conversation with every call answered exactly once, right behind its message and in call order.

    `parked` are ids of calls that wait for a person. The result is prefix-stable: more messages only add to its end, or
    put a real answer where a stand-in was. Pairing twice changes nothing.
    """
    view = View()
    for call_id in parked:
        view = view.with_parked(call_id)
    for number, message in enumerate(messages):
        view = view.with_message(f"#{number}", message)
    return view.messages(), view.repairs
