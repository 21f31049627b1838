"""Long chats in which somebody says something wrong, and takes it back later.

The user dictates settings of a job, sometimes wrongly; a later message corrects it, in the form in which other messages change other things. What counts is needed
much later. What was taken back is stale: whoever uses it is wrong.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random

from trimtab.lab.tasks.material import talk
from trimtab.lab.tasks.material.code import path, profile, source_line
from trimtab.lab.tasks.material.names import SERVICES, amount, code, day, fresh, place
from trimtab.lab.tasks.material.pages import page
from trimtab.lab.tasks.plot import Sizes, seeded, threads
from trimtab.lab.tasks.stage import Stage
from trimtab.lab.tasks.story import Act, Cue, Fact, Turn
from trimtab.lab.tasks.task import Level, PointKind, Task

NAME = "misleading-turn"
_TOPICS: tuple[tuple[str, PointKind, str], ...] = (
    ("release branch", "name", "release/20##.#-@##"),
    ("target bucket", "name", "bkt-&&&&-####"),
    ("cost centre", "value", "CC-####-@#"),
    ("rollback tag", "name", "rb-20##-####"),
    ("contract number", "value", "CTR/#####/@"),
    ("escalation pager", "value", "PG-@@@-####"),
)
_SAID = (
    "For {about}, use {value}.",
    "By the way: {about} is {value}.",
    "{about}: {value}, I just looked it up.",
    "You will need {about} later. It's {value}.",
    "Somebody asked me about {about}; the answer is {value}.",
)
_CORRECTED = (
    "I was wrong about {about}: it has to be {value}.",
    "Forget what I said about {about}. It is {value}.",
    "Correction from the team on {about}: {value}, not what I wrote.",
    "Sorry, I mixed up two lines. {about} is {value}.",
    "On second thought {value} is the right one for {about}.",
)
_CHATTER = (
    "We had a good call about {place} today, nothing new for you.",
    "The review of {service} moved to {day}.",
    "Could you have a look at the next file as well?",
    "The budget for {place} was {amount}, if you wonder.",
    "Please keep the tone of the comments friendly.",
)


@dataclass(slots=True)
class _Chat:
    rng: Random
    sizes: Sizes
    taken: set[str] = field(default_factory=set)
    system: str = "You prepare release jobs together with a user who thinks aloud. The last word on a setting counts."

    def pair(self) -> tuple[Fact, Fact]:
        """What was said first, and what replaces it."""
        what, kind, form = self.rng.choice(_TOPICS)
        about = fresh(self.rng, lambda rng: f"the {what} of {rng.choice(SERVICES)} at {place(rng)}", self.taken)
        wrong, right = (fresh(self.rng, lambda rng: code(rng, form), self.taken) for _ in range(2))
        question = f"What is {about}?"
        return (
            Fact(wrong, kind, about, self._line(_SAID, about, wrong), question),
            Fact(right, kind, about, self._line(_CORRECTED, about, right), question, (wrong,)),
        )

    def opening(self, facts: Sequence[Fact]) -> str:
        return (
            "I'll give you the settings of the release jobs as I find them, while you go through the code and tell me what you see. "
            f"There will be about {len(facts)} jobs. When I ask, start the job with exactly what we agreed on."
        )

    def turn(self, step: int, uses: Sequence[Fact], shows: Sequence[Fact]) -> Turn:
        if shows:
            used = " ".join(f"Noted, {fact.about} was {fact.text}." for fact in uses)
            lines = [fact.line for fact in shows] + [self._chatter() for _ in range(self.rng.randint(0, 2))]
            self.rng.shuffle(lines)
            return Turn(used or self._seen(), then=" ".join(lines), about=shows[0].about)
        acts = [self._started(fact) for fact in uses]
        if not acts and self.rng.random() < 0.45:
            words = " ".join(self._chatter() for _ in range(self.rng.randint(1, 3)))
            return Turn(self._seen(), then=words, about=self._topic()[0])
        if not acts or self.rng.random() < 0.5:
            acts.append(self._read())
        return Turn(talk.coming(self.rng, "the next file") if self.rng.random() < 0.5 else "", tuple(acts))

    def closing(self, facts: Sequence[Fact]) -> str:
        return "\n".join(["That was the last job.", *(f"- {fact.about}: {fact.text}" for fact in facts)])

    def _line(self, templates: Sequence[str], about: str, value: str) -> str:
        text = self.rng.choice(templates).format(about=about, value=value)
        return text[:1].upper() + text[1:]

    def _topic(self) -> tuple[str, str]:
        """A setting that may be anybody's, and the form of its values."""
        what, _, form = self.rng.choice(_TOPICS)
        return f"the {what} of {self.rng.choice(SERVICES)} at {place(self.rng)}", form

    def _chatter(self) -> str:
        rng = self.rng
        if rng.random() < 0.45:
            about, form = self._topic()
            return self._line(_CORRECTED if rng.random() < 0.5 else _SAID, about, code(rng, form))
        template = rng.choice(_CHATTER)
        return template.format(place=place(rng), service=profile(rng), day=day(rng), amount=amount(rng, 100, 90_000))

    def _seen(self) -> str:
        return self.rng.choice(
            (
                "The file does what its name says. I found nothing that stops the release.",
                "Two of the functions there are unused, the rest is fine.",
                "I would leave this one as it is; the tests cover it.",
                "The error handling there is uneven, but nothing that we need to touch.",
                "Noted.",
            )
        )

    def _started(self, fact: Fact) -> Act:
        arguments = {"job": fact.about, "value": fact.text, "dry_run": self.rng.random() < 0.3}
        return Act("start_job", arguments, f"job {self.rng.randint(1000, 9999)} accepted")

    def _read(self) -> Act:
        return Act("read", {"path": path(self.rng)}, page(self.rng, source_line, self.sizes.result("code")))


def make(seed: int, level: Level) -> Task:
    """Make a task of this family."""
    rng = seeded(NAME, seed, level)
    script = _Chat(rng, Sizes(rng, level.tokens))
    cues: list[Cue] = []
    for shown, used in threads(rng, level, first=2):
        wrong, right = script.pair()
        said = rng.randint(1, shown - 1)
        cues += [Cue(wrong, said, (), stale=True), Cue(right, shown, (used,))]
    return Stage(NAME, seed, level, rng).play(script, cues)
