"""What may become of a call, and what decided: values that hooks act on, people read and programs print.

    Allow   run it            Ask   run it if a person says so; without one it is answered like a Deny            Deny   don't run it

A call has parts (the commands of a script, the files that it redirects into); each has a verdict of its own, and the worst one is that of the call.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias


@dataclass(frozen=True, slots=True)
class By:
    """What decided: a rule, the mode, or a fact about the tool or command. `origin` says where a rule or mode was set."""

    kind: Literal["rule", "mode", "fact"]
    name: str
    origin: str = ""

    @property
    def words(self) -> str:
        """All of it as a person reads it."""
        named = {"rule": f"rule {self.name}", "mode": f"mode {self.name}", "fact": self.name}[self.kind]
        return f"{named} ({self.origin})" if self.origin else named


@dataclass(frozen=True, slots=True)
class Allow:
    """Run it."""

    by: By


@dataclass(frozen=True, slots=True)
class Ask:
    """A person may allow it: why it isn't allowed, what would allow it where nobody is asked, and the rules that together would (none: no rule is fit)."""

    reason: str
    hint: str
    by: By
    rules: tuple[str, ...] = ()

    @property
    def by_rule(self) -> bool:
        """Whether a rule of `permissions.ask` wants it so: then no mode and no rule that allows lifts it."""
        return self.by.kind == "rule"


@dataclass(frozen=True, slots=True)
class Deny:
    """Don't run it, and ask nobody: why, and what a person can do about it."""

    reason: str
    hint: str
    by: By


Decision: TypeAlias = Allow | Ask | Deny


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a call, as it is shown, and its own verdict."""

    what: str
    decision: Decision


@dataclass(frozen=True, slots=True)
class Judgement:
    """The verdict on a call, and those on its parts in their order."""

    decision: Decision
    parts: tuple[Part, ...]

    @property
    def asked(self) -> tuple[Part, ...]:
        """The parts that a person would have to allow."""
        return tuple(part for part in self.parts if isinstance(part.decision, Ask))


def outcome_of(decision: Decision) -> Literal["allow", "ask", "deny"]:
    """The verdict in one word."""
    return "allow" if isinstance(decision, Allow) else "ask" if isinstance(decision, Ask) else "deny"
