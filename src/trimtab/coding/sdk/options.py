"""What `Session.open` takes, and what that means: which session, and a tree of settings.

OpenOptions ──choice_of──▶ New │ Resume │ Fork │ AtFile │ Ephemeral
            ──overrides_of──▶ settings, over those of files and environment, as flags of the command line are
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from trimtab.coding.choose import AtFile, Choice, Ephemeral, Fork, New, Resume
from trimtab.coding.permissions.policy import Mode
from trimtab.coding.person import Person
from trimtab.coding.trust.answers import TrustAnswer
from trimtab.types.errors import UsageError
from trimtab.types.near import nearest

if TYPE_CHECKING:
    from trimtab.agent.ports import Hooks, Provider, Tool
    from trimtab.coding.context.own_policy import OwnPolicy
    from trimtab.coding.sdk.asking import AskFunction


class OpenOptions(TypedDict, total=False):
    """How a session is opened; all of it may be left out."""

    model: str
    """`PROVIDER/ID[:THINKING]`; without it the one of the settings, or of the session that goes on."""
    resume: str
    """Go on with a session: its id, the start of one, a path, or `last`."""
    fork: str
    """Begin with a copy of a session, named as for `resume`."""
    file: str | PathLike[str]
    """Keep the session in this file; one that is there goes on."""
    ephemeral: bool
    """Keep nothing."""
    takeover: bool
    """Take over a session that another machine has locked."""
    tools: "Sequence[Tool]"
    """Tools of the program beside ours; `tool` makes one of a function. They run unasked unless they say otherwise."""
    builtin_tools: Sequence[str]
    """Which of our tools the model has, by name; `()`: none."""
    mode: Mode
    """The permission mode: `ask`, `auto-edit`, `full` or `plan`."""
    allow: Sequence[str]
    """Rules for what runs unasked, as `permissions.allow` has them: `bash(npm test)`, `write(docs/**)`."""
    ask: Sequence[str]
    """Rules for what `person` is asked about whatever allows it."""
    deny: Sequence[str]
    """Rules for what never runs."""
    person: "Person | AskFunction"
    """Who is asked about what no rule allows; without one it is refused."""
    hooks: "Hooks"
    """Sees each call before our rules do, and each result last; may veto, change or answer."""
    policy: "str | OwnPolicy"
    """What decides about the context: the name of a policy, a function of what it sees, or a `Policy`."""
    output: Any
    """The last answer as data: a type (a dataclass, a msgspec.Struct, `list[int]`, …), which it comes back as, or a JSON schema."""
    system_prompt: str
    """Stands in place of our system prompt."""
    append_system_prompt: str
    """Stands behind it."""
    max_steps: int
    """At most so many model requests in a turn."""
    max_cost_usd: float
    """At most so many USD for all turns together."""
    max_tokens: int
    """At most so many tokens for all turns together."""
    max_time_s: float
    """At most so many seconds from the first prompt on."""
    trust: TrustAnswer
    """Whether what the folder itself brings acts, for this run (`once`) or from now on; without it, what was answered before."""
    safe: bool
    """Nothing of the folder's own acts, whatever was trusted."""
    settings: Mapping[str, Any]
    """Any other settings, as config.toml has them: `{"verify": {"commands": ["pytest"]}}`."""
    env: Mapping[str, str]
    """The environment for keys, settings and commands, in place of the process's own."""
    provider: "Provider"
    """Answers in place of the model's own endpoint; `ScriptedProvider` for tests."""


def require_known(options: OpenOptions) -> None:
    """Raise `UsageError` for an option that there isn't."""
    for name in options:
        if name not in OpenOptions.__annotations__:
            meant = nearest(name, list(OpenOptions.__annotations__))
            hint = f"Did you mean {meant}?" if meant else "OpenOptions lists them; settings={…} takes any setting."
            raise UsageError(f"Session.open has no option {name!r}", hint=hint)


def choice_of(options: OpenOptions) -> Choice:
    """Which session is meant. Raises `UsageError` for several."""
    named = [name for name in ("resume", "fork", "file", "ephemeral") if options.get(name)]
    if len(named) > 1:
        raise UsageError(f"{' and '.join(named)} exclude each other", hint="Give one of them.")
    match named:
        case ["resume"]:
            return Resume(str(options["resume"]))
        case ["fork"]:
            return Fork(str(options["fork"]))
        case ["file"]:
            return AtFile(Path(options["file"]))
        case ["ephemeral"]:
            return Ephemeral()
        case _:
            return New()


_TOP = ("model", "system_prompt", "append_system_prompt", "max_steps", "max_cost_usd", "max_tokens", "max_time_s")


def overrides_of(options: OpenOptions, *, unasked: Sequence[str]) -> dict[str, Any]:
    """The options as a tree of settings, over `settings`. `unasked` are tools of the program that nobody is asked about."""
    given: dict[str, Any] = dict(options.get("settings", {}))
    given |= {name: options.get(name) for name in _TOP if options.get(name) is not None}
    rules = dict(given.get("permissions", {}))
    if "mode" in options:
        rules["mode"] = options["mode"]
    allow = (*options.get("allow", ()), *unasked)
    for name, more in (("allow", allow), ("ask", options.get("ask", ())), ("deny", options.get("deny", ()))):
        if more:
            rules[name] = [*rules.get(name, ()), *more]
    if rules:
        given["permissions"] = rules
    if "builtin_tools" in options:
        given["tools"] = {**given.get("tools", {}), "enabled": list(options["builtin_tools"])}
    if isinstance(policy := options.get("policy"), str):
        given["context"] = {**given.get("context", {}), "policy": policy}
    return given
