"""Which context tools a model has, and what follows for the way back to what is hidden.

tools.enabled not set      the profile `context.tools`
tools.enabled names some   those context tools that it names; none when it names none
─▶ way back: `recall` if it is on, else files if the model can open them, else none, and then nothing is hidden behind a stub
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from trimtab.config.settings import ContextSettings, ToolSettings
from trimtab.context.settings import Profile

WayBack: TypeAlias = Literal["recall", "files", "none"]
CONTEXT_TOOLS: dict[Profile, tuple[str, ...]] = {
    "off": (),
    "archive": ("archive", "memo", "recall"),
    "pilot": ("archive", "memo", "recall", "plan", "edit_context", "memory", "context_status"),
}
"""The tools of each profile. Kept here as names, so that the settings can be judged before any of them is loaded."""
_OPENERS = frozenset({"read", "bash"})


@dataclass(frozen=True, slots=True)
class ChosenTools:
    """The context tools that are on, and how the model reads again what is hidden."""

    names: tuple[str, ...]
    way_back: WayBack

    @property
    def catalogue(self) -> Profile:
        """The smallest profile that has them all."""
        return next(name for name, tools in CONTEXT_TOOLS.items() if set(self.names) <= set(tools))

    @property
    def profile(self) -> Profile:
        """What the engine goes by: `off` without `recall`, for then no handle leads anywhere."""
        return self.catalogue if self.way_back == "recall" else "off"


def chosen_tools(context: ContextSettings, tools: ToolSettings) -> ChosenTools:
    """Return what the settings turn on."""
    wanted = tools.enabled
    names = CONTEXT_TOOLS[context.tools] if wanted is None else tuple(n for n in CONTEXT_TOOLS["pilot"] if n in wanted)
    if "recall" in names:
        return ChosenTools(names, "recall")
    return ChosenTools(names, "files" if wanted is None or _OPENERS & set(wanted) else "none")
