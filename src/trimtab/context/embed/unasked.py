"""Results that no request can carry as such: nobody made their call, or it was answered before.

    result ──does a call wait for it?──▶ the result
                └ no ──▶ a message that says whose result it is, and holds it        no API takes a result without a call, and none is thrown away

The call may stand in a part of the conversation that the program didn't give us, or behind its result; or a server answered twice.
"""

from collections.abc import Iterable

from trimtab.context.window.stand_ins import is_stand_in
from trimtab.context.window.view import View
from trimtab.types.messages import Message, Text, ToolResult, User


def placed(view: View, message: Message) -> Message:
    """Return what is to be recorded behind `view` for `message`."""
    if not isinstance(message, ToolResult) or view.awaits(message.call_id) or _says_nothing(message):
        return message
    head, (first, *rest) = _head(view, message), message.parts
    if isinstance(first, Text) and first.wire is None:
        return User((Text(f"{head}\n{first.text}"), *rest), origin="answer")
    return User((Text(head), first, *rest), origin="answer")


def as_read(messages: Iterable[Message]) -> tuple[Message, ...]:
    """Return a conversation as a model reads it: every call answered, and every result somewhere."""
    view = View()
    for number, message in enumerate(messages):
        view = view.with_message(f"#{number}", placed(view, message))
    return view.messages()


def why_unasked(view: View, result: ToolResult) -> str:
    """Return why `result` has no place, and what to do about it."""
    known = "was answered before" if view.find(result.call_id) is not None else "is not in this conversation"
    return (
        f"the result for call {result.call_id!r} stands as a message of the user, since that call {known};"
        " give each call before its result, and one result for each"
    )


def _head(view: View, result: ToolResult) -> str:
    if view.find(result.call_id) is not None:
        return f"[another result of call {result.call_id}]"
    return f"[result of call {result.call_id}, which is not in this conversation]"


def _says_nothing(result: ToolResult) -> bool:
    return is_stand_in(result) or not any(not isinstance(part, Text) or part.text.strip() for part in result.parts)
