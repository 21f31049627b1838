"""The hook in front of every call: lets it run, asks a person, or answers it, so that the turn goes on.

    call ─judge─▶ Allow ─▶ it runs
                  Ask ──▶ one question at a time ─▶ judged again (an answer before may allow it now) ─▶ the person ─▶ it runs, its rules are kept, or it is answered
                  Deny ─▶ it is answered

Resolving links, reading files and keeping rules touch the disk, so they happen in threads. The one rule: only an answer that was offered lets a call run.
"""

import os
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, TypeAlias

import anyio

from trimtab.agent.ports import Answer, Proceed, ToolOutput, meanwhile
from trimtab.coding.permissions.asking import MORE, SETTLED, WHY, question
from trimtab.coding.permissions.decide import judge
from trimtab.coding.permissions.forms import Form, FormOf, no_form
from trimtab.coding.permissions.grants import Granted, nothing, with_grant
from trimtab.coding.permissions.places import GO_ON
from trimtab.coding.permissions.policy import Mode, Policy, narrower
from trimtab.coding.permissions.preview import preview
from trimtab.coding.permissions.rules import TOOLS, Rule, Rules, parse_rule
from trimtab.coding.permissions.verdicts import Allow, Ask, Deny, Judgement
from trimtab.coding.permissions.workspace_paths import WorkspacePaths
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.tools.paths import Workspace
from trimtab.types.errors import ConfigError
from trimtab.types.messages import ToolCall
from trimtab.types.text import scrub

Where: TypeAlias = Literal["here", "always"]
"""For which projects a rule is kept beyond the session."""
Keep: TypeAlias = Callable[[str, Where], str]
"""Keeps a rule for later sessions and says where it stands then. Raises `ConfigError`."""
SESSION = "an answer in this session"
"""The origin of rules that hold until the session ends."""
_CHOSEN = "set in this session"
_ROUNDS = 3
"""How often one call is asked about, when what is asked changes under the question."""


@dataclass(slots=True)
class PermissionHooks:
    """Judges every call by `policy`, the rules that answers added to it, and those that `granted` gives for now; asks `person` where that is allowed.

    `keep` keeps a rule beyond the session; without it none is. `tell` says something to whoever watches. What is `granted` opens no place that is kept apart.
    """

    policy: Policy
    workspace: Workspace
    search: str = os.defpath
    person: Person = NOBODY
    keep: Keep | None = None
    granted: Granted = nothing
    tell: Callable[[str], Awaitable[None]] | None = None
    stands_for: Callable[[ToolCall], ToolCall] = lambda call: call
    """The call that is judged in place of one that only carries it."""
    environment: Mapping[str, str] | None = None
    """What commands get; None: what this process has."""
    form_of: FormOf = no_form
    """What answers about a tool from elsewhere are bound to."""
    answers: tuple[Rule, ...] = ()
    """Rules that answers of a person added in this session, the newest last."""
    above: "PermissionHooks | None" = None
    """Those of the session that this one works for: what doesn't hold there holds here neither, and answers are kept there."""
    _turn: anyio.Lock = field(default_factory=anyio.Lock, repr=False)

    @property
    def current(self) -> Policy:
        """All that holds now."""
        if self.above is not None:
            theirs = self.above.current
            return replace(theirs, mode=narrower(theirs.mode, self.policy.mode))
        answered = replace(self.policy, rules=Rules(allow=self.answers) + self.policy.rules)
        return with_grant(answered, self.granted())

    @property
    def chosen_mode(self) -> Mode | None:
        """The mode, where a person set it in this session."""
        return self.policy.mode if self.policy.mode_origin == _CHOSEN else None

    def may_change_files(self, call: ToolCall) -> bool:
        """Whether a tool that isn't ours may change files by this call: all may but those that are known to read."""
        name = self.stands_for(call).name
        return name not in TOOLS and name not in self.policy.reading

    def set_mode(self, mode: Mode) -> None:
        """Let another mode hold from the next call on."""
        self.policy = replace(self.policy, mode=mode, mode_origin=_CHOSEN)

    def forget(self, text: str) -> bool:
        """Take back an answer of this session; False when none added that rule."""
        left = tuple(rule for rule in self.answers if rule.text != text)
        found, self.answers = left != self.answers, left
        return found

    def judge(self, call: ToolCall) -> Judgement:
        """Return the verdict on `call` as things are now. Touches the disk."""
        return self._judged(call)[0]

    def _judged(self, call: ToolCall) -> tuple[Judgement, Form | None]:
        """The verdict, and the form of the tool on which it was given."""
        meant = self.stands_for(call)
        form = self.form_of(meant)
        return judge(meant, self.current, WorkspacePaths(self.workspace, self.search, self.environment), form), form

    async def before_tool(self, call: ToolCall) -> Proceed | Answer:
        """Let `call` run, or answer it."""
        judgement, form = await anyio.to_thread.run_sync(self._judged, call)
        if isinstance(judgement.decision, Ask) and self.person is not NOBODY:
            meanwhile()
            async with self._top._turn:
                return await self._ask(call)
        if form and isinstance(judgement.decision, Allow) and judgement.decision.by.name.endswith(f"#{form.digest}"):
            form.agreed(call.id)
        return _verdict(judgement)

    async def after_tool(self, call: ToolCall, output: ToolOutput) -> ToolOutput:
        """Change nothing."""
        return output

    async def _ask(self, call: ToolCall) -> Proceed | Answer:
        """Ask until the verdict on which an answer was given is the one that still holds: links, rules and the mode may change meanwhile."""
        judgement, form = await anyio.to_thread.run_sync(self._judged, call)
        for _ in range(_ROUNDS):
            if not isinstance(judgement.decision, Ask):
                break
            key = await self._put(call, judgement, form)
            if key == "tell":
                return _refused((await self.person.ask(WHY) or "").strip())
            if key == "no":
                return _refused("")
            if key not in SETTLED:
                return _unanswered(judgement.decision)
            now, as_now = await anyio.to_thread.run_sync(self._judged, call)
            if now == judgement and _digest(as_now) == _digest(form):
                await self._remember(judgement.decision.rules, key, form)
                if form:
                    form.agreed(call.id)
                return Proceed()
            judgement, form = now, as_now
        return _verdict(judgement)

    async def _put(self, call: ToolCall, judgement: Judgement, form: Form | None) -> str | None:
        """The answer to the question about `call`; None when nobody gave one that was offered, or there is too much to read."""
        call = self.stands_for(call)
        kept = self.keep is not None and (call.name in TOOLS or "__" in call.name)
        key: str | None = MORE.key
        for whole in (False, True):
            seen = await anyio.to_thread.run_sync(partial(preview, call, self.workspace, whole=whole))
            lines = seen.lines
            if form:
                before = [rule.form for rule in self.current.rules.allow if rule.form and rule.is_about(call.name)]
                lines += await anyio.to_thread.run_sync(form.lines, before[0] if before else "")
            asked = question(call, judgement, self.current, lines, kept=kept, more=seen.more, whole=whole)
            key = await self.person.ask(asked) if asked else None
            if not asked or key not in {option.key for option in asked.options}:
                return None
            if key != MORE.key:
                break
        return key

    async def _remember(self, rules: tuple[str, ...], key: str, form: Form | None) -> None:
        """Let `rules` hold from now on, and beyond the session, as the answer says; those about a tool from elsewhere for the form that was shown."""
        if form and key != "once":
            await anyio.to_thread.run_sync(form.keep)
            rules = tuple(text if "#" in text else f"{text}#{form.digest}" for text in rules)
        for text in () if key == "once" else rules:
            origin = SESSION
            where: Where | None = "here" if key == "here" else "always" if key == "always" else None
            if self.keep is not None and where is not None:
                try:
                    origin = await anyio.to_thread.run_sync(self.keep, text, where)
                except ConfigError as error:
                    if self.tell is not None:
                        await self.tell(f"{text} holds for this session only: {error.message}")
            top = self._top
            top.answers = (*top.answers, replace(parse_rule(text), origin=origin, answer=True))

    @property
    def _top(self) -> "PermissionHooks":
        """Those of the session that works for no other."""
        return self if self.above is None else self.above._top


def _digest(form: Form | None) -> str:
    return form.digest if form else ""


def _verdict(judgement: Judgement) -> Proceed | Answer:
    decision = judgement.decision
    if isinstance(decision, Allow):
        return Proceed()
    by = "rules"
    if isinstance(decision, Deny) and (decision.by.kind, decision.by.name) == ("mode", "plan"):
        by = "plan"
    elif isinstance(decision, Ask) and decision.by_rule:
        by = "ask"
    rules = decision.rules if isinstance(decision, Ask) and not decision.by_rule else ()
    return _answer(f"{decision.reason}.\n{decision.hint}", by=by, rules=rules)


def _unanswered(ask: Ask) -> Answer:
    """What the model reads when a person was there, and the question got no answer, or was too long to be read."""
    text = f"{ask.reason}.\nThe person was asked, and the question stands unanswered. {GO_ON}"
    return _answer(text, by="unanswered")


def _refused(words: str) -> Answer:
    """What the model reads when a person said no."""
    said = f"the person said no: {scrub(words)}" if words else "the person said no."
    return _answer(f"{said}\nDon't do it in another way either; go on without it, or ask what they want.", by="person")


def _answer(text: str, *, by: str = "rules", rules: tuple[str, ...] = ()) -> Answer:
    details: dict[str, Any] = {"permission": "denied"} if by == "rules" else {"permission": "denied", "by": by}
    if rules:
        details["rules"] = list(rules)
    return Answer(ToolOutput.text(f"Not run: {text}", is_error=True, details=details))
