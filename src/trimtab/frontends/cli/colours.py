"""The colours of a theme, as a terminal takes them: a few roles, and only where a terminal shows them.

role, text ──theme──▶ text between two SGR sequences          plain, a pipe, NO_COLOR: the text as it is

Colours are put around text that was made harmless and wrapped; they carry nothing that the words don't say.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

Role: TypeAlias = Literal["error", "note", "tool", "failed", "mark", "added", "removed"]

_THEMES: Mapping[str, Mapping[Role, str]] = {
    "dark": {"error": "91", "note": "90", "tool": "36", "failed": "33", "mark": "1", "added": "32", "removed": "31"},
    "light": {"error": "31", "note": "90", "tool": "34", "failed": "35", "mark": "1", "added": "32", "removed": "31"},
}


@dataclass(frozen=True, slots=True)
class Colours:
    """The colours of a theme. Source of the numbers: ECMA-48, 8.3.117 (SGR)."""

    theme: str = "plain"

    def of(self, role: Role, text: str) -> str:
        """`text` in the colour of its role, each line for itself."""
        number = _THEMES.get(self.theme, {}).get(role)
        if number is None or not text:
            return text
        return "\n".join(f"\x1b[{number}m{line}\x1b[0m" if line else line for line in text.split("\n"))


def colours_for(theme: str, *, terminal: bool, no_color: str = "") -> Colours:
    """The colours of `theme` on a terminal; none elsewhere, or where the variable `NO_COLOR` says something."""
    return Colours(theme) if terminal and not no_color else Colours()
