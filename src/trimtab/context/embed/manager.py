"""The engine for a program that has its own agent: messages in the shape that the program keeps them, in and out.

    step(message) ──▶ log ──▶ observation ──policy──▶ one action, not done yet          execute(action) ──▶ edits in the log
    run(message)  ──▶ the same, and everything that the policy wants is done            messages() ──▶ a request that fits, or ContextFloor

Everything that was said stays in the log, so whatever an action takes out of view can be read (`recall`) and brought back (`reload`). No file,
no clock, no network: a summarizer and a policy are functions of the program. The generator protocol beneath (`engine`, `asks`) is for
programs that want to do these themselves.
"""

import dataclasses
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import structs

from trimtab.context.actions import Action, action_of
from trimtab.context.cycle.look import Look
from trimtab.context.editing.outcomes import outcome
from trimtab.context.embed.alone import alone
from trimtab.context.embed.dumped import BROKEN, opened, refused, sealed
from trimtab.context.embed.embedded import Embedded, FormatName, Setup
from trimtab.context.embed.foreign import EstimateTokens, PolicyFunction, Summarizer
from trimtab.context.embed.problems import Problem, problem
from trimtab.context.embed.step_log import StepLog
from trimtab.context.embed.toolbox import definition, spec_of
from trimtab.context.policies.base import Policy
from trimtab.context.settings import Profile
from trimtab.context.shorten.compress import Compressor
from trimtab.context.slips import Slips, slips_in_fields
from trimtab.context.telling.layers import action_data
from trimtab.context.tools.arguments import item_name
from trimtab.context.vendor.errors import VendorMessageError
from trimtab.context.vendor.plain import Dumps, VendorMessage, plain_object
from trimtab.context.vendor.usage import usage_of
from trimtab.types.errors import UsageError
from trimtab.types.text import scrub
from trimtab.types.tools import ToolSpec
from trimtab.types.usage import Usage

Given: TypeAlias = VendorMessage | Sequence[VendorMessage]
"""A message, or several in the order in which they were said."""
Reported: TypeAlias = Usage | Mapping[str, Any] | Dumps
"""The `usage` of an answer, as its API gives it."""
KEEP = Action("keep", reason="nothing has to be done")
"""What a step returns when the policy wants nothing."""


class ContextManager:
    """Keeps one conversation within `max_tokens`.

    `policy`: a name, a `Policy`, or a function that gets what `observe` gives and returns an action, several, or None. `reserve`: tokens that are
    kept free for the answer (default: a quarter). `system` and `tools` go with each request and are counted; for `openai`, `system` is the first
    of `messages()`. `compressor` does what an action `compress` wants, in place of the built-in one.

    Raises `UsageError` for settings that make no sense.
    """

    def __init__(
        self,
        policy: str | Policy | PolicyFunction = "rules",
        *,
        max_tokens: int,
        summarizer: Summarizer | None = None,
        estimate_tokens: EstimateTokens | None = None,
        format: FormatName = "openai",
        reserve: int | None = None,
        system: str | None = None,
        tools: Iterable[ToolSpec | Mapping[str, Any] | Dumps] = (),
        compressor: Compressor | None = None,
    ) -> None:
        if system is not None and not isinstance(system, str):
            raise UsageError(f"system must be text, not {type(system).__name__}", hint="Join its blocks to one text.")
        if isinstance(tools, str | Mapping) or not isinstance(tools, Iterable):
            raise UsageError(f"tools must be a list, not {type(tools).__name__}", hint="Give [] for none.")
        specs = tuple(spec_of(tool, number) for number, tool in enumerate(tools))
        setup = Setup(
            policy, max_tokens, summarizer, estimate_tokens, format, reserve, scrub(system or ""), specs, compressor
        )
        self._inner = Embedded(setup)
        self._steps = StepLog()
        self._chosen: Action | None = None
        """What the last step returned."""
        self._replaced: list[Problem] = []
        """Settings that a dump has put in place of this object's own."""
        self._lock = threading.Lock()

    @property
    def system(self) -> str:
        """The instructions that go with each request."""
        return self._inner.setup.system

    @property
    def max_tokens(self) -> int:
        """The window: what a request and its answer may have together."""
        return self._inner.setup.max_tokens

    @property
    def log(self) -> list[dict[str, Any]]:
        """What was seen and decided at each of the last steps (1,000 at most), `{obs, action}`; empty the list when you don't need it.

        `obs` is `{used_tokens, max_tokens, budget, active_context}` with the id, kind and state of each item: no texts; those are what `observe` gives.
        """
        return self._steps.records

    @property
    def logged(self) -> int:
        """How many steps were logged in all, those that `log` no longer holds included."""
        return self._steps.total

    @property
    def problems(self) -> list[dict[str, str]]:
        """What went wrong and gave way to something else (the last 100), oldest first: `{kind, reason, entry}`. A program that wants all of it to work looks here.

        `kind` is `policy_failed` (the rules decided), `summarizer_failed` or `summary_rejected` (a digest was written), `counter_failed` (we count), `compressor_failed` (the built-in one stands in),
        `result_without_call` (no request can carry it as a result, so it stands as a message), `usage_not_believed` (what was reported can't be true and counts as none), `not_applied` (nothing came of what was wanted)
        or `settings_replaced` (by `load`). `entry` is the id in the log.
        """
        return [*self._replaced, *self._inner.problems()]

    @property
    def notes(self) -> list[str]:
        """What a person should know of how actions and requests were made (the last 100), oldest first: a summary that was rejected and what stands in its place, what was left out of a request.

        What an action brought is in its result too, as `notes`. A dump doesn't hold them.
        """
        return list(self._inner.notes)

    # What happens at each step

    @alone
    def step(self, message: Given, usage: Reported | None = None) -> dict[str, Any]:
        """Take in what was said, ask the policy, and return the action that it wants most; nothing is done yet.

        `usage` is what the provider reported for the request that a message answers. What else the policy wanted is proposed again at the next
        step. Raises `VendorMessageError` for a message that can't be read; then nothing was taken in.
        """
        actions, look = self._decided(message, usage)
        self._chosen = actions[0] if actions else KEEP
        self._inner.proposed = actions[1:]
        self._steps.add(look, [self._chosen])
        return action_data(self._chosen)

    @alone
    def run(self, message: Given, usage: Reported | None = None) -> list[dict[str, Any]]:
        """Take in what was said and do all that the policy wants; return what came of each action."""
        actions, look = self._decided(message, usage)
        self._inner.proposed, self._chosen = [], None
        wanted = actions or [KEEP]
        self._steps.add(look, wanted)
        return [self._inner.execute(action, author=self._inner.author) for action in wanted]

    @alone
    def execute(self, action: Mapping[str, Any] | Action | Dumps) -> dict[str, Any]:
        """Do one action, `{action, target | targets, reason, params}`, and return what came of it. Never raises for a bad action.

        What is taken out of view is in the log already. After an action that brings something into view the budget holds, or it is taken back.
        """
        wanted, slips = _action(action)
        if isinstance(wanted, str):
            return outcome("", (), problems=[wanted], used=self._inner.look().used)
        if slips.problems:
            return outcome(wanted.action, wanted.targets, problems=slips.problems, used=self._inner.look().used)
        author = self._inner.author if wanted == self._chosen or wanted in self._inner.proposed else "user"
        return self._inner.execute(wanted, author=author, notes=slips.notes)

    # What is there

    @alone
    def observe(self) -> dict[str, Any]:
        """Return the context as plain data: `active_context, summary_index, archive, used_tokens, max_tokens, budget, last_actions`."""
        return self._inner.seen(self._inner.observe())

    @alone
    def messages(self) -> list[dict[str, Any]]:
        """Return the messages of the next request, valid for the format and within the budget. Raises `ContextFloor` when none such exist.

        If they don't fit as they are, the ladder takes out what has to go: that is logged and can be taken back like any other edit.
        """
        return self._inner.prepared()

    def recall(self, handle: str) -> str | None:
        """Return the recorded text behind a handle (of `archive`, a call id, an item's id), whole; None when there is none."""
        return self._inner.toolbox.text(handle)

    # The tools of the model

    @alone
    def tools(self, profile: Profile = "archive") -> list[dict[str, Any]]:
        """Return the context tools for the model, as the API takes them; from now on they are counted with each request.

        What is hidden from now on names the call that reads it; before, it says that the text is kept outside the conversation.
        """
        return [definition(spec, self._inner.setup.format) for spec in self._inner.offer(profile)]

    @alone
    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Do what the model called one of `tools` for, and return what it is to read. Never raises for what the model sent."""
        return self._inner.toolbox.call(name, arguments)

    # Elsewhere and later

    @alone
    def dump(self) -> str:
        """Return everything as JSON: the log, its edits, what was decided and what was learned; not the functions of the program."""
        setup = self._inner.setup
        return sealed(
            {
                "format": setup.format,
                "max_tokens": setup.max_tokens,
                "reserve": setup.reserve,
                "system": setup.system,
                "tools": setup.tools,
                "log": self._steps.data(),
                "chosen": self._chosen,
                **self._inner.data(),
            }
        )

    @alone
    def load(self, text: str, *, max_tokens: int | None = None) -> "ContextManager":
        """Go on with what `dump` gave, in place of this conversation. Returns itself.

        Policy, summarizer, counter and compressor stay; format, window, reserve, system prompt and tools are the dump's, and `problems` names those that were others here.
        `max_tokens`: the window from here on, for a model with another one.

        Raises `UsageError` when it is no dump, or not as it was written; then nothing has changed.
        """
        data, own = opened(text), self._inner.setup
        if max_tokens is not None:
            dataclasses.replace(
                own, max_tokens=max_tokens, reserve=None
            ).model()  # a slip of the caller's, not of the dump
        try:
            setup = dataclasses.replace(
                own,
                format=data["format"],
                max_tokens=data["max_tokens"] if max_tokens is None else max_tokens,
                reserve=data["reserve"],
                system=data["system"],
                tools=msgspec.convert(data["tools"], tuple[ToolSpec, ...]),
            )
            inner = Embedded(setup)
            inner.load(data)
            steps = StepLog()
            steps.load(data["log"])
            chosen = msgspec.convert(data["chosen"], Action | None)
        except BROKEN as broken:
            raise refused(broken) from None
        self._inner, self._steps, self._chosen = inner, steps, chosen
        self._replaced = _replaced(own, setup, wished=max_tokens is not None)
        return self

    def _decided(self, message: Given, usage: Reported | None) -> tuple[list[Action], Look]:
        """What the policy wants now, and the context as it stands."""
        several = isinstance(message, Sequence) and not isinstance(message, str | bytes)
        given = cast("Sequence[VendorMessage]", message if several else [message])
        self._inner.take_in(given, usage_of(usage))
        look = self._inner.look()
        return self._inner.propose(look), look


def _action(given: Mapping[str, Any] | Action | Dumps) -> tuple[Action | str, Slips]:
    """The action in what a program gave, with names as a model may write them, or what is wrong with it; and slips among its fields."""
    if isinstance(given, Action):
        given = action_data(given)
    try:
        fields = plain_object(given, 0)
    except VendorMessageError as problem:
        said = problem.message.removeprefix("message 0, ").removeprefix("message 0: ")
        said = f"not {type(given).__name__}" if said.startswith("is no message") else said
        return f"an action is an object such as {{'action': 'keep'}}: {said}", Slips()
    made, slips = action_of(fields), slips_in_fields(fields)
    if isinstance(made, str):
        return "; ".join(slips.problems) or made, slips
    return structs.replace(made, targets=tuple(item_name(target) for target in made.targets)), slips


def _replaced(own: Setup, now: Setup, *, wished: bool) -> list[Problem]:
    """What a dump has put in place of a program's own settings; `wished`: the window was asked for."""
    names = (
        ("format", "reserve", "system", "tools") if wished else ("max_tokens", "format", "reserve", "system", "tools")
    )
    return [
        problem("settings_replaced", f"{name} is the dump's, {_short(now, name)}, not {_short(own, name)}")
        for name in names
        if getattr(own, name) != getattr(now, name)
    ]


def _short(setup: Setup, name: str) -> str:
    value = getattr(setup, name)
    if name == "tools":
        return f"{len(value)} of them"
    return f"{len(value):,} characters" if name == "system" else repr(value)
