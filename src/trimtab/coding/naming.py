"""A name for a session: from its first prompt, or by a model that is asked beside the conversation.

    first turn over ──prompt──▶ title_from(first prompt) ──▶ log                                            in the background of a talk
                    ──model───▶ the model for summaries, else `roles.small`, else the session's own ──▶ log; what fails falls back on the prompt

Nothing waits for a name, and a name that a person gave is never replaced.
"""

import re
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass

import anyio

from trimtab.agent.ports import Provider
from trimtab.coding.beside import Book, ask_beside
from trimtab.coding.context.ahead import Start
from trimtab.coding.models import OpenModel
from trimtab.coding.project import Project
from trimtab.coding.prompts import load_prompt
from trimtab.coding.role_models import RoleModels
from trimtab.context.stores.log import SessionLog
from trimtab.types.errors import SessionError, StoreError, TrimtabError, UsageError
from trimtab.types.messages import Assistant, User
from trimtab.types.models import ModelInfo
from trimtab.types.text import strip_terminal

MOST = 60
"""Characters of a title that is made."""
_READ = 4_000
"""Characters of a prompt that are looked at."""
_MAX_OUTPUT = 40
_WITHIN_S = 30.0
_FILE = re.compile(r'<file path="(.+)">')
_DRESS = re.compile(r"^(?:#{1,6}\s+|>\s*|[-*+]\s+|\d+[.)]\s+)+")
_CODE = re.compile(r"^ {0,3}(```|~~~).*?(?:^ {0,3}\1|\Z)", re.M | re.S)
_FENCE = re.compile(r"^ {0,3}(?:```|~~~).*$", re.M)
_GREETING = re.compile(r"(?:hi|hello|hey|dear|good (?:morning|evening|day))\b[\w\s]{0,20}[,.!]*", re.I)


def title_from(prompt: str) -> str:
    """The title that a prompt gives: its first line that says something, in at most 60 characters and without secrets; empty where none does.

    Marks of Markdown at its beginning, blocks of code, lines of nothing but signs and greetings are passed over while there is something else; a file that a
    prompt begins with is named.
    """
    text = strip_terminal(prompt.strip()[:_READ])
    telling = [*_telling(_CODE.sub("", text)), *_telling(_FENCE.sub("", text))]
    line = next((line for line in telling if not _GREETING.fullmatch(line)), next(iter(telling), ""))
    if file := _FILE.fullmatch(line):
        line = f"@{file[1]}"
    return clean_title(line)


def _telling(text: str) -> list[str]:
    """The lines that say something, without what only dresses them."""
    lines = [_DRESS.sub("", " ".join(line.split())) for line in text.splitlines()]
    return [line for line in lines if any(map(str.isalnum, line))]


def clean_title(text: str) -> str:
    """`text` as a title: one line, printable, without secrets, cut between words."""
    from trimtab.context.summary.redact import redact  # noqa: PLC0415 - patterns that a run without a new session doesn't need

    line = redact(" ".join("".join(c if c.isprintable() else " " for c in strip_terminal(text)).split()))
    if len(line) <= MOST:
        return line
    cut = line[: MOST - 1]
    at = line[:MOST].rfind(" ")
    return f"{(cut[:at] if at >= MOST // 2 else cut).rstrip()}…"


@dataclass(slots=True)
class Naming:
    """Gives one session its name. `book` takes what a model took for it, `settle` sees to it that the log tells of it."""

    project: Project
    log: SessionLog
    book: Book
    settle: Callable[[], Awaitable[None]]
    small: RoleModels | None = None
    """Who is asked for a name before the session's own model."""
    asked: bool = False
    """Whether a model was asked already, in this opening."""

    async def after_turn(self, provider: Provider, model: ModelInfo, start: Start | None) -> None:
        """Name the session if nobody did. `start`: where a model may be asked in the background; None: nowhere. Raises nothing for what goes wrong."""
        way = self.project.settings.sessions.name
        if way == "off" or self.log.path is None or self.log.archive.title is not None or self.asked:
            return
        prompt, answer = self._beginning()
        if not prompt:
            return
        self.asked = True
        if start is None:
            await self._keep(await anyio.to_thread.run_sync(title_from, prompt))
            return

        async def name() -> None:
            title = await self._by_model(prompt, answer, provider, model) if way == "model" else ""
            title = title or await anyio.to_thread.run_sync(title_from, prompt)
            if self.log.archive.title is None:  # the person may have named it meanwhile
                await self._keep(title)
            await self.settle()

        start(name)

    def _beginning(self) -> tuple[str, str]:
        """The first prompt and the first answer with words."""
        prompt = answer = ""
        for message in self.log.view():
            if isinstance(message, User) and message.origin == "prompt" and not prompt:
                prompt = "\n".join(message.said)
            if isinstance(message, Assistant) and prompt and message.text.strip():
                answer = message.text
                break
        return prompt, answer

    async def _by_model(self, prompt: str, answer: str, provider: Provider, model: ModelInfo) -> str:
        """What a model calls it; empty when it can't be asked or says nothing of use."""
        from trimtab.context.summary.redact import redact  # noqa: PLC0415 - as above

        text = f"<prompt>\n{redact(prompt[:_READ])}\n</prompt>\n<answer>\n{redact(answer[: _READ // 4])}\n</answer>"

        async def ask(opened: OpenModel) -> str:
            return await ask_beside(
                opened.provider,
                opened.info,
                system=load_prompt("name", {}),
                text=text,
                max_output=_MAX_OUTPUT,
                within_s=_WITHIN_S,
                book=self.book,
            )

        own = OpenModel(model, provider, None, ())
        try:
            said = await self._first(ask, own)
        except TrimtabError:
            return ""
        return title_from(said.strip().strip("\"'“”«»*`"))

    async def _first(self, ask: Callable[[OpenModel], Awaitable[str]], own: OpenModel) -> str:
        """What the small model says; the session's own where that one can't even be opened."""
        if self.small is None:
            return await ask(own)
        try:
            return await self.small.ask(ask)
        except UsageError:
            return await ask(own)

    async def _keep(self, title: str) -> None:
        if title:
            with suppress(StoreError, SessionError):  # a log that can't take this says so with the next prompt
                await anyio.to_thread.run_sync(self.log.set_title, title)
