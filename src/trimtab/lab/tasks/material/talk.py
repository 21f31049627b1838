"""What agents and people say beside the work: remarks, reports on progress, answers to them.

A remark names what was just looked at, never its value. Agents remark on what matters more often than on the rest, but not always and not only.
"""

from random import Random

_REMARKS = (
    "That covers {about}.",
    "Good, {about} is in there.",
    "Noted what it says about {about}.",
    "{about} will come up again.",
    "So much for {about}.",
    "I keep {about} in mind.",
    "Interesting what it says about {about}.",
)
_NEXT = (
    "Next I look at {what}.",
    "Let me check {what}.",
    "Going on with {what}.",
    "I open {what}.",
    "Now {what}.",
    "To be sure, {what}.",
    "I read {what} now.",
    "Let me see {what} as well.",
)
_PROGRESS = (
    "A short report: I am through with a part of the material and have found no contradiction so far.",
    "So far nothing needs your decision. I would go on in the same order.",
    "Half of what I opened so far doesn't bear on the question. I go on with the rest.",
    "I have what I need for the first part and will look at the remaining sources now.",
    "The sources are longer than expected; I read on.",
)
_REPLIES = (
    "Fine, go on.",
    "Thanks. Take the time that you need, but keep the figures exact.",
    "OK. No change of plan from my side.",
    "Sounds good, continue please.",
    "All right. Ping me only if something contradicts the brief.",
    "Yes, please go on as planned.",
)
_THANKS = ("Thank you.", "Good.", "Perfect.", "Great, that helps.", "Understood.", "OK, noted.")


def remark(rng: Random, about: str) -> str:
    """What an agent says about what it has just read."""
    text = rng.choice(_REMARKS).format(about=about)
    return text[:1].upper() + text[1:]


def coming(rng: Random, what: str) -> str:
    """What an agent says before a call."""
    text = rng.choice(_NEXT).format(what=what)
    return text[:1].upper() + text[1:]


def progress(rng: Random) -> tuple[str, str]:
    """A report on the way, and what the user answers."""
    return rng.choice(_PROGRESS), rng.choice(_REPLIES)


def thanks(rng: Random) -> str:
    """A word of thanks."""
    return rng.choice(_THANKS)
