"""How an engine behaves: one frozen value, which whoever builds the engine fills."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from trimtab.context.budget import Thresholds

Profile: TypeAlias = Literal["off", "archive", "pilot"]


@dataclass(frozen=True, slots=True)
class EngineSettings:
    """Behaviour of an engine.

    `tools` is the profile of context tools that the model has. `min_gain` is the share of the room that a batch of a policy must take out.
    `cooldown` is how many requests pass between two batches of one policy. `attempts` bounds the tries of each rung of the ladder before one request.
    `immune` is how many requests what somebody brought back stays untouched. `headed_tokens`: results of so many tokens get a handle.
    `result_share` is the share of the room that one fresh result may show. What is above is cut when it is recorded if its tool kept the whole,
    and else recorded whole and folded before it is first sent. None: neither. `ahead`: summaries may be prepared before they are needed.
    `epochs`: a request keeps the system prompt and the tools of the one before while the cache makes that worth it; False where whoever sends it
    takes those from elsewhere.
    """

    thresholds: Thresholds = field(default_factory=Thresholds)
    tools: Profile = "archive"
    min_gain: float = 0.05
    cooldown: int = 2
    attempts: int = 3
    immune: int = 5
    headed_tokens: int = 400
    result_share: float | None = 0.5
    ahead: bool = True
    epochs: bool = True
