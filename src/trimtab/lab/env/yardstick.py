"""The yardstick of a story: what it costs at some prices when everything is kept.

    story ──played with no policy──▶ the request of each step, whole ──keep_all_usd, cut to the room──▶ USD

It depends on the story, the window and the prices, and on no policy, so one yardstick serves a whole group.
"""

from trimtab.context.budget import budget_for
from trimtab.context.counting.counter import Counter
from trimtab.context.economics import RequestShape
from trimtab.context.policies.none import NoPolicy
from trimtab.lab.env.story import Story
from trimtab.lab.rewards.keep_all import keep_all_usd
from trimtab.lab.rewards.outcome import Yardstick
from trimtab.lab.rewards.prices import Regime
from trimtab.sessions.replay.player import Plan, Player
from trimtab.types.models import ModelInfo


def kept_requests(story: Story, model: ModelInfo, *, counter: Counter | None = None) -> list[tuple[RequestShape, int]]:
    """The request of each step with everything in it, and the tokens of its answer. They serve any prices, but not any cache rules: pass the model at its regime."""
    player = Player(story.prepared, Plan(NoPolicy(), model, counter=counter, refetch=False))
    made: list[tuple[RequestShape, int]] = []
    for step in player.steps:
        played = player.play(step)
        try:
            next(played)
        except StopIteration as stop:
            made.append((player.shape, stop.value.output))
        else:
            raise AssertionError("a story without a policy asks nobody")
    return made


def yardstick_of(
    story: Story, model: ModelInfo, regime: Regime, *, seed: int, counter: Counter | None = None
) -> Yardstick:
    """Return the yardstick of the group that plays `story` with this seed at these prices. `model`: its window counts."""
    requests = kept_requests(story, regime.of(model), counter=counter)
    times = [step.asked_at for step in story.prepared.steps]
    usd = keep_all_usd(requests, budget_for(model).room, regime, times=times, warm=True)
    return Yardstick(story.name, seed, regime.name, usd)
