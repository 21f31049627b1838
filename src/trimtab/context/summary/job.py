"""What a summary is made from, and what comes out: the values that those who ask for one and those who write it share."""

from dataclasses import dataclass, field
from typing import Any, Literal

from trimtab.context.summary.cache import SummaryCache
from trimtab.context.summary.facts import Fact
from trimtab.context.summary.fit import Count
from trimtab.context.summary.prompt import Profile
from trimtab.types.messages import Message
from trimtab.types.models import ModelRequest, Price
from trimtab.types.usage import Usage

Mode = Literal["in_place", "serialised", "digest", "blocks", "given", "none"]


@dataclass(frozen=True, slots=True)
class Retold:
    """What a digest tells: every message that a run stands for, in order, those behind earlier digests as they were before, with their ids.

    `written`: what models or people wrote of the beginning, which isn't told again. A digest of a digest would lose most of what the first one kept.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    written: str = ""


@dataclass(frozen=True, slots=True)
class Summariser:
    """The model that is asked. `window` and `max_output` are its own, in tokens; `thinks`: its thoughts come out of `max_output` too.

    `strict`: too little detail and another language than the user's are faults. A function that a program brings decides about both itself.
    """

    model: str
    window: int
    max_output: int
    thinks: bool = False
    strict: bool = True
    prices: tuple[Price, ...] = ()


@dataclass(frozen=True, slots=True)
class InPlace:
    """The request as it was sent, up to the last message of the run, for a summary behind it. `tokens`: its size, of which the provider's cache
    serves `cached`; `window`: of its model; `max_output`: what such a request asks for otherwise.
    """

    request: ModelRequest
    tokens: int
    window: int
    max_output: int
    cached: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be summarised and under which conditions. Sizes in tokens, costs in USD (or any one unit).

    `previous`: the earlier summary that is updated; None: those among the messages. `facts`: of what that summary stands for; they are
    audited too, so that a rule outlives any number of compactions. `recorded`: the messages one by one as they were recorded, where edits hid what stood in them: the
    audit looks for facts in these. `later` are the messages that stay. `replaces_tokens`: what the run takes in a request, if more than its text counts.
    `source`: the document that the one message shows, by path or address; its summary is found again by the text alone, whoever reads it.
    `wanted`: how long the summary may be. `cost_in_place`, `cost_serialised`: the bills of the two ways; None: unknown, which loses.
    `attempts`: ways tried at most before the digest. `facts_share`: of the wanted size, for the facts block. `retold`: what a digest is made from where that is more than the messages.
    """

    messages: tuple[Message, ...]
    ids: tuple[str, ...]
    count: Count
    replaces_tokens: int
    previous: str | None = None
    facts: tuple[Fact, ...] = ()
    retold: Retold | None = None
    recorded: tuple[Message, ...] = ()
    later: tuple[Message, ...] = ()
    instructions: str = ""
    profile: Profile = "coding"
    purpose: str = "compact"
    wanted: int = 4_000
    summariser: Summariser | None = None
    in_place: InPlace | None = None
    cost_in_place: float | None = None
    cost_serialised: float | None = None
    attempts: int = 2
    turn_goes_on: bool = False
    facts_share: float = 0.25
    digest_allowed: bool = True
    source: str | None = None
    cache: SummaryCache | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class SummaryOutcome:
    """The text for the edit, unframed, facts block included; or mode `none` and no text. `rejected`: what led nowhere, in words.

    `usage` and `usd` are of all requests on the way, those that led nowhere too; `usd` is None when a price isn't known.
    """

    text: str
    mode: Mode
    model: str | None = None
    usage: Usage | None = None
    meta: dict[str, Any] = field(default_factory=dict)
    rejected: tuple[str, ...] = ()
    usd: float | None = 0.0
