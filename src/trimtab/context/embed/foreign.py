"""Code of the program that embeds the engine: its policy, its counter, its summariser. The doors through which the engine calls it.

    name, object, function ──▶ a policy                                   policy_of
    dict ──▶ policy function ──▶ action, a list of them, or None          FunctionPolicy
    text ──▶ estimate_tokens ──▶ a number                                 EstimateTally
    messages as dicts ──▶ summarizer ──▶ text                             asked

Whatever comes out of such a function is a value that somebody judges: the decider judges actions, acceptance judges summaries, and a count that
is none gives way to ours.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias, cast

from msgspec import structs

from trimtab.context.actions import Action
from trimtab.context.asks import Failed, Summarize, Summary
from trimtab.context.counting.counter import Counter
from trimtab.context.counting.estimate import Estimate
from trimtab.context.policies.base import Manners, Policy, require_ready
from trimtab.context.policies.fallback import Fallback
from trimtab.context.policies.registry import find_policy, require_sense
from trimtab.context.policies.remote import remote_of
from trimtab.context.seeing.observation import Observation
from trimtab.context.vendor.formats import Format
from trimtab.context.window.view import View
from trimtab.types.errors import UsageError
from trimtab.types.messages import Assistant, Message, Opaque, Text, Thinking, ToolCall, user
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec

Act: TypeAlias = Mapping[str, Any] | Action
PolicyFunction: TypeAlias = Callable[[dict[str, Any]], Act | Iterable[Act] | None]
"""Gets what `observe` gives; returns an action, several, or None for none."""
Summarizer: TypeAlias = Callable[[list[dict[str, Any]]], str]
"""Gets a conversation that asks for a summary, and returns what the model said."""
EstimateTokens: TypeAlias = Callable[[str], int]
PLAIN_FUNCTION = "Give a plain function; in an async program drive the engine yourself, or wait for it from a worker thread (docs/embedding.md)."
"""What to do where an async function was given."""
_NEVER = 1 << 60
"""Failures after which a function isn't asked any more: it may need what its program has only later."""
_OVERHEAD = 4
"""Tokens that a wire adds around a message, a call or a tool."""
_MOST = 1 << 40
_MOST_ACTIONS = 1_000
"""Of one answer; more than anybody means, so the decider will say so."""
_UNHELD = Manners(guarded=False, early=True)


@dataclass(frozen=True, slots=True)
class FunctionPolicy:
    """A function as a policy. `see` makes what it gets of an observation."""

    function: PolicyFunction
    see: Callable[[Observation], dict[str, Any]]
    name: str = "function"
    foreign: bool = True
    """Asked with a time limit, whatever module this is."""
    manners: Manners = _UNHELD
    """Asked at each step; what it wants is not weighed."""

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return what the function wants. Raises whatever it raises: the decider catches it, and looks at each action."""
        wanted: Any = self.function(self.see(observation))
        if wanted is None:
            return ()
        if isinstance(wanted, Mapping | Action) or hasattr(wanted, "model_dump"):
            wanted = (wanted,)
        elif isinstance(wanted, str) or not isinstance(wanted, Iterable):
            raise TypeError(f"a policy returns an action, a list of them or None, not {type(wanted).__name__}")
        first = islice(wanted, _MOST_ACTIONS)
        return tuple(one.model_dump() if hasattr(one, "model_dump") else one for one in first)


def policy_of(policy: str | Policy | PolicyFunction, see: Callable[[Observation], dict[str, Any]]) -> Policy:
    """The policy that a program means. Raises `UsageError` for what is none."""
    if isinstance(policy, str):
        found = find_policy(policy)
        if remote_of(found) is not None:
            raise UsageError(
                "nobody here asks a policy behind a URL",
                hint="Give a function that asks it, or drive the engine yourself.",
            )
        require_ready(found)
        return found
    if isinstance(policy, type):
        raise UsageError(f"policy is the class {policy.__name__}", hint=f"Give an instance: {policy.__name__}().")
    if hasattr(policy, "decide"):
        if not callable(policy.decide) or not isinstance(name := getattr(policy, "name", None), str) or not name:
            raise UsageError(
                f"policy {type(policy).__name__} must have a name (text) and decide(observation)",
                hint="Give it both, or give a function of what observe() returns.",
            )
        made = cast(Policy, policy)
        require_sense(made)
        return made
    if inspect.iscoroutinefunction(policy):
        raise UsageError("policy is an async function, and nobody here awaits it", hint=PLAIN_FUNCTION)
    if callable(policy):
        name = getattr(policy, "__name__", "function")
        return Fallback(FunctionPolicy(policy, see, name if isinstance(name, str) else "function"), breaker=_NEVER)
    raise UsageError(
        f"policy is neither a name nor a function but {type(policy).__name__}",
        hint="Give 'rules', or a function of a dict.",
    )


class EstimateTally:
    """Counts with the program's own function; what a provider reports changes nothing. Text that it can't count, and pictures, are ours to count.

    `tell` hears of the first failure.
    """

    def __init__(self, estimate: EstimateTokens, counter: Counter, *, tell: Callable[[str], None]) -> None:
        self._estimate = estimate
        self._counter = counter
        self._tell = tell
        self._failed = False
        self._texts: dict[str, int] = {}
        self._sizes: dict[int, tuple[Message, int]] = {}
        self._sum: tuple[View, int] = (View(), 0)

    def text(self, text: str) -> int:
        """Tokens of a text."""
        known = self._texts.get(text)
        if known is None:
            if len(self._texts) > 10_000:
                self._texts.clear()
            known = self._texts[text] = self._asked(text)
        return known

    def message(self, message: Message) -> int:
        """Tokens of a message: its texts, its calls, its pictures, and a little for what stands around them."""
        known = self._sizes.get(id(message))
        if known is not None and known[0] is message:
            return known[1]
        if len(self._sizes) > 50_000:
            self._sizes.clear()
        size = _OVERHEAD + sum(self.text(text) for text in _texts_of(message))
        others = tuple(p for p in message.parts if not isinstance(p, Text | Thinking | ToolCall))
        if others:
            size += self._counter.message(structs.replace(message, parts=others))
        self._sizes[id(message)] = (message, size)
        return size

    def fixed(self, system: str, tools: Sequence[ToolSpec]) -> int:
        """Tokens of what stands in front of the messages."""
        said = [f"{tool.name} {tool.description} {tool.parameters}" for tool in tools]
        return (self.text(system) if system else 0) + sum(_OVERHEAD + self.text(text) for text in said)

    def estimate(self, view: View, system: str, tools: Sequence[ToolSpec]) -> Estimate:
        """The size of a whole request that shows `view`."""
        done, total = self._sum if view.extends(self._sum[0]) else (View(), 0)
        total += sum(self.message(message) for message in view.messages()[len(done.messages()) :])
        self._sum = (view, total)
        size = total + self.fixed(system, tools)
        return Estimate(size, size, known=True, anchored=False)

    def observe(self, answer: Assistant) -> bool:
        """Learn nothing: the function is what the program wants to go by."""
        return False

    def _asked(self, text: str) -> int:
        try:
            said = self._estimate(text)
            if isinstance(said, int | float) and not isinstance(said, bool) and 0 <= said < _MOST:
                return int(said)
            problem = f"estimate_tokens returned {said!r:.40}, which is no number of tokens"
        except Exception as raised:  # noqa: BLE001 - a door: the program's own function; ours counts instead
            problem = f"estimate_tokens raised {type(raised).__name__}: {raised}"
        if not self._failed:
            self._failed = True
            self._tell(f"{problem}; texts that it can't count are counted by us")
        return self._counter.text(text)


def asked(summarizer: Summarizer, ask: Summarize, form: Format) -> Summary | Failed:
    """Ask the program's function for a summary, in messages of its own format."""
    try:
        text = summarizer(_dicts(ask, form))
    except Exception as problem:  # noqa: BLE001 - a door: the program's own function
        return Failed(f"the summarizer raised {type(problem).__name__}: {problem}")
    if inspect.iscoroutine(text):
        text.close()
        return Failed(f"the summarizer is async and returned no text. {PLAIN_FUNCTION}")
    if not isinstance(text, str):
        return Failed(f"the summarizer returned {type(text).__name__}, not text")
    return Summary(scrub(text), model="summarizer")


def _dicts(ask: Summarize, form: Format) -> list[dict[str, Any]]:
    """Instructions are a message of their own where the format has such messages, else they stand at the head of the first."""
    if not ask.system:
        return form.encode(ask.messages, _nothing)
    if form.name == "openai":
        return [{"role": "system", "content": ask.system}, *form.encode(ask.messages, _nothing)]
    return form.encode((user(ask.system), *ask.messages), _nothing)


def _nothing(_messages: Sequence[Message], _index: int) -> None:
    """Nothing was given in dicts."""


def _texts_of(message: Message) -> list[str]:
    texts: list[str] = []
    for part in message.parts:
        match part:
            case Text(text=text) | Thinking(text=text):
                texts.append(text)
            case ToolCall(name=name, raw=raw):
                texts.append(f"{name} {raw}")
            case Opaque() | _:
                pass
    return texts
