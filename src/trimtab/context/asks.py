"""What the engine asks of the outside: requests that it yields, and the answers that whoever drives it sends back.

    plan = engine.prepare(request)            a generator: nothing runs before it is driven
    ask = next(plan)                          Record | Keep | Summarize | Consult | Consent
    ask = plan.send(answer)                   Recorded | Kept | Summary | Advice | Consented | Failed
    … StopIteration.value                     Prepared

The same engine so runs in an async agent, a sync script, a proxy and a simulator. Every ask may be answered with `Failed`; then the
engine takes the next way, and the log says why.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any, TypeAlias, TypeVar

from trimtab.context.seeing.observation import Observation
from trimtab.types.entries import CustomEntry, EditEntry, RevertEntry
from trimtab.types.messages import Message
from trimtab.types.models import ModelRequest
from trimtab.types.usage import Usage


@dataclass(frozen=True, slots=True)
class Record:
    """Make these entries durable behind the leaf, fold them in, and answer `Recorded`. All or none."""

    values: tuple[EditEntry | RevertEntry | CustomEntry, ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The ids of the entries, in order."""

    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Keep:
    """Put these texts into files that the model may read, make sure that they can be read, and answer `Kept`.

    Asked only while the model has no `recall`: then the file is the way back to what a stub hides.
    """

    texts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """The path of each text."""

    paths: dict[str, str]


@dataclass(frozen=True, slots=True)
class Summarize:
    """Ask a model for a summary and answer `Summary`.

    `mode` `serialised`: send `messages` alone, without tools, to `models.small` or the session's model. `in_place`: send `messages`
    behind the request as it was, same system prompt and tools. `max_output` in tokens.
    """

    messages: tuple[Message, ...]
    mode: str
    max_output: int
    system: str = ""
    purpose: str = "compact"
    request: ModelRequest | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """What the model said, unjudged. `calls`: how many tool calls stood in the answer. `finished`: its stop reason was `stop`."""

    text: str
    finished: bool = True
    calls: int = 0
    usage: Usage | None = None
    model: str = ""
    ms: int = 0
    meta: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Consult:
    """Ask a policy that lives elsewhere and answer `Advice`."""

    observation: Observation
    url: str = ""
    timeout_s: float = 5.0


@dataclass(frozen=True, slots=True)
class Advice:
    """The actions as they came, unjudged."""

    actions: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Consent:
    """Say what others have against a compaction, or want of it, and answer `Consented`. Only a compactor that `asks_first` asks.

    `messages` (`tokens` of them) are to give way, in a request of `used` tokens for which there are `room`. `by_model`: a model would be asked for the
    text; `author` as in the log; `wishes` as they came. `ahead`: the text would be prepared, for a compaction that comes later.
    """

    messages: tuple[Message, ...]
    tokens: int
    used: int
    room: int
    author: str
    by_model: bool
    wishes: str = ""
    ahead: bool = False


@dataclass(frozen=True, slots=True)
class Consented:
    """What was said: why nothing is to be compacted, or not by a model; a text that stands in place of the messages; or wishes about it. All empty: go on."""

    cancelled: str = ""
    no_model: str = ""
    text: str = ""
    by: str = ""
    """Whose text it is."""
    wishes: str = ""


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be done, and why, in words."""

    reason: str


Ask: TypeAlias = Record | Keep | Summarize | Consult | Consent
Answer: TypeAlias = Recorded | Kept | Summary | Advice | Consented | Failed
T = TypeVar("T")
A = TypeVar("A", bound=Record | Keep | Summarize | Consult | Consent)


def run_plan(plan: Generator[Ask, Answer, T], answer: Callable[[Ask], Answer]) -> T:
    """Run a plan of the engine to its end, with a function that answers at once, and return its result."""
    try:
        next(partly_answered(plan, answer))
    except StopIteration as stop:
        value: T = stop.value
        return value
    raise AssertionError("every ask was answered, and one came out all the same")


def partly_answered(plan: Generator[Ask, Answer, T], answer: Callable[[Ask], Answer | A]) -> Generator[A, Answer, T]:
    """Run a plan of the engine, and pass on what isn't answered at once: the asks that `answer` gives back as they came."""
    given: Answer | None = None
    while True:
        try:
            ask = next(plan) if given is None else plan.send(given)
        except StopIteration as stop:
            value: T = stop.value
            return value
        said = answer(ask)
        given = (yield said) if isinstance(said, Record | Keep | Summarize | Consult | Consent) else said
