"""The typed stop in the words of our agent: what the engine advises, with what a person types for it.

    ContextFloor of the engine ──with_options──▶ the same, its hint with options and commands behind the words that they do

The engine is embedded in programs that have none of these, so its hints name none. The one rule: each advice of its hints that we have a word for gets
that word, and a test compares the two lists.
"""

from collections.abc import Mapping

from trimtab.types.errors import ContextFloor

OPTIONS: Mapping[str, str] = {
    "shorten the system prompt": "--system-prompt, --append-system-prompt",
    "give the model fewer tools": "--tools",
    "unpin something": "trimtab context unpin; trimtab context show marks what is pinned",
    "choose another policy, such as rules": "--policy rules",
    "take the last edits of the context back": "trimtab context revert, or /revert in a talk",
    "use a model with a larger window": "--model, or /model in a talk",
    "or a model with a larger window": "--model, or /model in a talk",
    "use another model": "--model, or /model in a talk",
}
"""What an advice of the engine is done with."""


def with_options(floor: ContextFloor) -> ContextFloor:
    """Return the error with a hint that names what can be typed."""
    hint = floor.hint or ""
    for advice, options in OPTIONS.items():
        place = hint.casefold().find(advice)
        if place >= 0:
            end = place + len(advice)
            hint = f"{hint[:end]} ({options}){hint[end:]}"
    return ContextFloor(floor.message, hint=hint)
