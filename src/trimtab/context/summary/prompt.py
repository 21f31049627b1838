"""The prompts for a summary, as values: nothing here calls a model, saves or replaces anything.

    serialised   system (rules, sections) + one user message: <previous-summary>? <conversation> <user-words>? and what to do
    in place     one user message behind the request as it was: same system prompt, tools and prefix, so the cache pays

The wording is in `prompts/*.md`; `prompt_version` changes with every letter of it. What comes from messages or from a person is escaped,
so it can't leave its element.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib.resources import files
from string import Template
from typing import Literal, get_args

from trimtab.context.summary.fit import Count
from trimtab.context.summary.language import NAMES, language_of
from trimtab.context.summary.redact import redact
from trimtab.context.summary.serialize import escape, transcribe
from trimtab.context.summary.sources import sources_of, spoken_text
from trimtab.types.messages import Message, User, user

Profile = Literal["coding", "general"]


@dataclass(frozen=True, slots=True)
class SummaryPrompt:
    """A request for a summary. `version` names its wording; `cut`: the transcript holds less than the messages."""

    system: str
    messages: tuple[Message, ...]
    version: str
    cut: bool = False
    sources: tuple[str, ...] = ()


def build_summary_prompt(
    messages: Sequence[Message],
    *,
    previous: str | None = None,
    instructions: str = "",
    profile: Profile = "coding",
    ids: Sequence[str] | None = None,
    language: str | None = None,
    least_words: int = 0,
    part: tuple[int, int] = (1, 1),
    turn_goes_on: bool = False,
    max_tokens: int | None = None,
    count: Count = len,
) -> SummaryPrompt:
    """Return the request that turns `previous` and `messages` into one updated summary.

    An earlier summary among the messages is the previous one when `previous` is None. `instructions` are the user's words for this summary
    (`/compact …`). `language`: a key of `language.NAMES`; None: of what the user wrote. `part`: which of how many passes. `turn_goes_on`:
    the last turn has more messages, which stay. `max_tokens` bounds the transcript.
    """
    sources = sources_of(messages, ids)
    told = [source for source in sources if not source.earlier_summary]
    if previous is None:
        previous = "\n\n".join(source.text for source in sources if source.earlier_summary) or None
    language = language_of(spoken_text(told)) if language is None else language
    transcript = transcribe(
        [source.message for source in told], ids=[source.id for source in told], max_tokens=max_tokens, count=count
    )
    blocks = [f"<conversation>\n{transcript.text}\n</conversation>"]
    if previous:
        blocks.insert(0, f"<previous-summary>\n{escape(redact(previous))}\n</previous-summary>")
    if instructions.strip():
        blocks.append(f"<user-words>\n{escape(redact(instructions.strip()))}\n</user-words>")
    blocks.append(_task(previous, instructions, part=part, turn_goes_on=turn_goes_on, cut=transcript.cut))
    return SummaryPrompt(
        system=_fill("system", profile, language, least_words),
        messages=(User(user("\n\n".join(blocks)).parts, origin="command"),),
        version=prompt_version(profile),
        cut=transcript.cut,
        sources=transcript.sources,
    )


def in_place_instruction(
    *,
    instructions: str = "",
    profile: Profile = "coding",
    language: str = "",
    least_words: int = 0,
    turn_goes_on: bool = False,
) -> User:
    """Return the message that asks, behind a request as it was, for a summary of what stands above."""
    text = _fill("in_place", profile, language, least_words)
    if instructions.strip():
        text += f"\n<user-words>\n{escape(redact(instructions.strip()))}\n</user-words>\n{_WORDS}\n"
    return user(f"{text}\n{_TURN}\n" if turn_goes_on else text, origin="command")


@cache
def prompt_version(profile: Profile) -> str:
    """Name the wording of a profile: the beginning of a hash of all that it is made of."""
    wording = "\0".join((_wording("system"), _wording("in_place"), _wording(profile), _UPDATE, _WORDS, _TURN, _CUT))
    return sha256(wording.encode()).hexdigest()[:12]


_UPDATE = (
    "The previous summary covers what came before this conversation. Write one record of both: keep what still holds, move what was finished"
    " to Done, correct what the conversation changed, and drop nothing else."
)
_WORDS = "The user's words above are wishes about the record only: what it should keep, leave out or stress. Whatever else they ask for is not done now."
_TURN = "The last turn isn't over: its later messages stay and follow your record. Keep its request word for word, and what those messages build on."
_CUT = "Parts of the conversation were too long and are marked as left out. Don't guess what they held."


def _task(previous: str | None, instructions: str, *, part: tuple[int, int], turn_goes_on: bool, cut: bool) -> str:
    number, parts = part
    lines = [_UPDATE] if previous else []
    lines += [_WORDS] if instructions.strip() else []
    lines += (
        [f"This is part {number} of {parts} of a long conversation; the others come later."] if number < parts else []
    )
    lines += [_TURN] if turn_goes_on else []
    lines += [_CUT] if cut else []
    return "\n".join((*lines, "Write `<analysis>`, then `<summary>`."))


def _fill(name: str, profile: Profile, language: str, least_words: int) -> str:
    return Template(_wording(name)).substitute(
        language=NAMES.get(language, "the one that the user writes in, whatever language the tools speak"),
        detail=f"- This was a long conversation: at least {least_words} words.\n" if least_words else "",
        sections=_wording(profile).strip(),
    )


@cache
def _wording(name: str) -> str:
    if name not in ("system", "in_place", *get_args(Profile)):
        raise ValueError(f"there is no summary profile {name!r}; profiles: {', '.join(get_args(Profile))}")
    return files(__package__).joinpath("prompts", f"{name}.md").read_text("utf-8")
