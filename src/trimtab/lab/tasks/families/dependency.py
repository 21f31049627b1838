"""From a setting to an API to a field: three places that only make sense together.

    settings: which profile a service runs on ──▶ API description: which operation that profile serves ──▶ schema: which field it wants ──▶ the edit

Each link is looked up by what the one before it gave, and the three kinds of files are full of lines of the same form.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import code, talk
from trimtab.lab.tasks.material.names import fresh
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, Task

NAME = "dependency"
_LINES = {"profile": code.setting_line, "operation": code.operation_line, "field": code.field_line}
_ABOUT = ("the profile of {}", "the operation for {}", "the field for {}")
_LOOKED_UP = {"operation": code.operation_line, "field": code.field_line}
_NEXT = {"profile": "operation", "operation": "field", "field": ""}


@dataclass(slots=True)
class _Engineer:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    link: dict[str, str] = field(default_factory=dict)
    """Which link each fact is, by its text."""
    system: str = "You change clients of internal APIs. Settings decide which operation a service calls, and schemas which field it has to fill."

    def chain(self) -> tuple[Fact, Fact, Fact]:
        """Settings, operation and field of a service."""
        rng = self.rng
        of = fresh(rng, code.client, self.taken)
        profile = fresh(rng, code.profile, self.taken)
        operation = fresh(rng, code.operation, self.taken)
        name = fresh(rng, code.field_name, self.taken)
        self.link |= {profile: "profile", operation: "operation", name: "field"}
        return (
            Fact(
                profile,
                "value",
                f"the profile of {of}",
                code.setting(rng, f"{of}_profile", profile),
                f"Which profile does {of} run on?",
            ),
            Fact(
                operation,
                "path",
                f"the operation for {of}",
                code.operation_line(rng, of=profile, called=operation),
                f"Which operation does {of} end up calling?",
            ),
            Fact(
                name,
                "field",
                f"the field for {of}",
                code.field_line(rng, of=operation, called=name),
                f"Which field does the client of {of} have to fill?",
            ),
        )

    def opening(self, facts: Sequence[Fact]) -> str:
        services = [fact.about.removeprefix("the profile of ") for fact in facts if self.link[fact.text] == "profile"]
        return (
            f"The gateway rejects calls of {', '.join(services[:8])}{' and the rest on the list' if len(services) > 8 else ''}. For each of them find out which profile is set, which operation that "
            "profile serves and which field its schema wants now, and set that field in the client. Profiles of other services don't concern us."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        acts = [self._applied(fact) for fact in uses if self.link[fact.text] == "field"]
        asked = [fact for fact in uses if self.link[fact.text] != "field"]
        for fact in asked:
            wanted = _NEXT[self.link[fact.text]]
            acts.append(
                self._found(
                    fact, wanted, [fact_ for fact_ in shows if fact_.about.split()[-1] == fact.about.split()[-1]]
                )
            )
        heads = [fact for fact in shows if self.link[fact.text] == "profile"]
        if heads or not acts:
            acts.append(self._read(heads) if heads or self.rng.random() < 0.8 else self._source())
        about = shows[0].about if shows else self.rng.choice(_ABOUT).format(code.client(self.rng))
        return Turn(
            talk.coming(self.rng, "the file behind it") if self.rng.random() < 0.4 else "", tuple(acts), about=about
        )

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["The clients are changed.", *(f"- {fact.about}: `{fact.text}`" for fact in facts)])

    def _applied(self, fact: Fact) -> Act:
        place = code.path(self.rng)
        arguments = {"path": place, "old": "body = {}", "new": f'body = {{"{fact.text}": value}}'}
        return Act("edit", arguments, f"edited {place}: 1 replacement")

    def _found(self, by: Fact, wanted: str, shows: Sequence[Fact]) -> Act:
        return self._grep(by.text, wanted, [fact.line for fact in shows])

    def _read(self, shows: Sequence[Fact]) -> Act:
        dice = self.rng.random()
        if shows or dice < 0.45:
            name = self.rng.choice(("base", "prod", "region", "override", "team"))
            path = f"config/{name}-{self.rng.randint(1, 60)}.yaml"
            return Act("read", {"path": path}, self._page("profile", [fact.line for fact in shows]))
        wanted = self.rng.choice(("operation", "field"))
        if dice < 0.75:
            pattern = code.profile(self.rng) if wanted == "operation" else code.operation(self.rng)
            return self._grep(pattern, wanted, [_LOOKED_UP[wanted](self.rng, of=pattern)])
        return Act("read", {"path": f"api/{wanted}s-{self.rng.randint(1, 60)}.md"}, self._page(wanted, ()))

    def _grep(self, pattern: str, wanted: str, keys: Sequence[str]) -> Act:
        where = "api/operations.md" if wanted == "operation" else "api/schemas.txt"
        arguments = {"pattern": pattern, "path": where, "context": self.rng.choice((20, 50, 200))}
        return Act("grep", arguments, self._page(wanted, keys))

    def _source(self) -> Act:
        return Act("read", {"path": code.path(self.rng)}, page(self.rng, code.source_line, self.sizes.result("code")))

    def _page(self, link: str, keys: Sequence[str]) -> str:
        return page(self.rng, _LINES[link], self.sizes.result("code"), keys)


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Engineer(rng, Sizes(rng, level.tokens))
    cues: list[Cue] = []
    for steps in threads(rng, level, links=3):
        cues += [Cue(fact, steps[i], (steps[i + 1],)) for i, fact in enumerate(script.chain())]
    return Stage(NAME, seed, level, rng).play(script, cues)
