"""A person at the other end of the wire: a question goes out as a dialog, and a record with its id is the answer.

    ask ──extension_ui_request──▶ client ──extension_ui_response──▶ hear ─▶ the key of an option, or words
         └─ time is up, the dialog was closed, nobody is there, whoever asked gave up ─▶ None, and `trimtab.dialog_closed` where the client may still show it

    permission, trust, choice ─▶ select      yes or no ─▶ confirm      text, secret ─▶ input

One at a time is shown. The one rule: only an answer that was offered is one; anything else is no answer, and what holds without a person holds.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import anyio

from trimtab.coding.person import Option, Question
from trimtab.coding.telling.printable import one_line, set_in
from trimtab.frontends.rpc.requests import Reply
from trimtab.frontends.rpc.values import Json
from trimtab.types.ids import new_id
from trimtab.types.text import scrub

TIMEOUT_S = 300.0
"""Seconds until nobody has answered, unless the client says otherwise."""
_YES_NO = ("yes", "no")


@dataclass(slots=True)
class _Open:
    """A dialog that is shown."""

    id: str
    question: Question
    answered: anyio.Event = field(default_factory=anyio.Event)
    answer: str | None = None


@dataclass(slots=True)
class WirePerson:
    """Asks by `put`. `timeout_s` None: as long as it takes."""

    put: Callable[[Json], None]
    timeout_s: float | None = TIMEOUT_S
    enabled: bool = True
    known: bool = False
    """Whether the client has shown that somebody answers."""
    gone: bool = False
    """Nobody will answer any more."""
    _turn: anyio.Lock = field(default_factory=anyio.Lock)
    _open: _Open | None = None

    async def ask(self, question: Question) -> str | None:
        """Show the question and wait for its answer. About trust nobody is asked who hasn't shown yet that somebody answers: a session has to open."""
        if not self.enabled or self.gone or (question.kind == "trust" and not self.known):
            return None
        async with self._turn:
            if self.gone or not self.enabled:
                return None
            dialog = self._open = _Open(new_id(), question)
            self.put({**_shown(question), "id": dialog.id, **self._limit()})
            try:
                with anyio.move_on_after(self.timeout_s):
                    await dialog.answered.wait()
                return dialog.answer
            finally:
                self._open = None
                if not dialog.answered.is_set():
                    self.put({"type": "trimtab.dialog_closed", "id": dialog.id})

    def hear(self, reply: Reply) -> bool:
        """Take an answer; False when no such dialog is open."""
        dialog = self._open
        if dialog is None or reply.id != dialog.id or dialog.answered.is_set():
            return False
        self.known = True
        dialog.answer = _answer(reply, dialog.question)
        dialog.answered.set()
        return True

    def leave(self) -> None:
        """Nobody answers any more: what is asked, and all that will be, stays without an answer."""
        self.gone = True
        self.close()

    def close(self) -> None:
        """Leave what is asked without an answer."""
        if self._open is not None:
            self._open.answered.set()

    def _limit(self) -> Json:
        return {} if self.timeout_s is None else {"timeout": round(self.timeout_s * 1000)}


def _shown(question: Question) -> Json:
    """The question as a dialog of pi's, with all of it in `question`. Made harmless: a client may print it as it is."""
    text = one_line(scrub(question.text))
    details = "".join(set_in(scrub(detail)) for detail in question.details).rstrip("\n")
    whole = f"{text}\n{details}" if details else text
    base: Json = {"type": "extension_ui_request", "question": _whole(question)}
    if not question.options:
        return {**base, "method": "input", "title": whole, **({"secret": True} if question.kind == "secret" else {})}
    if _is_yes_no(question):
        return {**base, "method": "confirm", "title": text, "message": details}
    return {**base, "method": "select", "title": whole, "options": [_label(option) for option in question.options]}


def _whole(question: Question) -> Json:
    return {
        "kind": question.kind,
        "text": one_line(scrub(question.text)),
        "details": [set_in(scrub(detail)).rstrip("\n") for detail in question.details],
        "options": [{"key": o.key, "label": one_line(o.label), "hint": one_line(o.hint)} for o in question.options],
        "default": question.default,
    }


def _label(option: Option) -> str:
    return one_line(f"{option.key}: {option.label}" + (f" ({option.hint})" if option.hint else ""))


def _is_yes_no(question: Question) -> bool:
    return question.kind == "choice" and tuple(option.key for option in question.options) == _YES_NO


def _answer(reply: Reply, question: Question) -> str | None:
    """What the record means: an option by its text or its key, yes or no, words."""
    if reply.fields.get("cancelled") is True:
        return None
    value, confirmed = reply.fields.get("value"), reply.fields.get("confirmed")
    if _is_yes_no(question) and isinstance(confirmed, bool):
        return _YES_NO[0] if confirmed else _YES_NO[1]
    if not isinstance(value, str):
        return None
    if not question.options:
        return scrub(value)
    return next((option.key for option in question.options if value in (option.key, _label(option))), None)
