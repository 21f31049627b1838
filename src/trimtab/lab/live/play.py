"""Playing: an assignment under an arm ──▶ a row.

    play_live(spec, family, number, conditions)                    the scripted agent     T2
    play_live(spec, family, number, conditions, live=LiveModel)    a model by endpoint    T3: evaluation only, costs money
    play_item(LiveItem)                                            the same for an `Executor`

The unit of cost is that of the other tiers: keeping everything, cut hard to the window, at the same prices; it is made of the requests of the scripted agent in a
window that holds everything (also for a live model, of which a second run would be another story). What that run itself cost is `extra["whole_usd"]`.
"""

from dataclasses import dataclass, field
from functools import lru_cache

import msgspec

from trimtab.agent.ports import Provider
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.context.budget import budget_for
from trimtab.context.counting.counter import Counter
from trimtab.context.economics.shapes import RequestShape
from trimtab.context.policies.base import Policy
from trimtab.context.policies.none import NoPolicy
from trimtab.context.policies.remote import remote_of
from trimtab.lab.arms.arm import Arm
from trimtab.lab.arms.playing import Conditions
from trimtab.lab.arms.registry import find_arm
from trimtab.lab.bench.row import Row
from trimtab.lab.env.facts import Tier
from trimtab.lab.env.story import Story
from trimtab.lab.live.agent import ScriptedAgent, Sought
from trimtab.lab.live.assignment import Assignment
from trimtab.lab.live.figures import Played, row_of
from trimtab.lab.live.meter import Meter, Metered
from trimtab.lab.live.noise import USUAL, Size
from trimtab.lab.live.registry import make_assignment
from trimtab.lab.live.workshop import Limits, Worked, Worker, work
from trimtab.lab.rewards.keep_all import keep_all_usd
from trimtab.lab.rewards.outcome import Yardstick
from trimtab.lab.rewards.prices import Regime
from trimtab.providers.open import open_provider
from trimtab.providers.resolve import Resolved
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.player import prepare
from trimtab.types.errors import ConfigError, UsageError
from trimtab.types.models import ModelInfo

_ROOMY = 1_000_000
"""Tokens of a window that holds everything."""
_LOOKUPS = 4
"""Requests that one move of a scripted agent may take, on average, before it is stopped."""


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A model by endpoint; `live_model` finds it. At most so many requests, US dollars (at its own prices, where they are known) and seconds for one assignment."""

    found: Resolved = field(repr=False)
    most_steps: int = 80
    most_usd: float = 1.0
    most_seconds: float = 900.0


def live_model(
    project: Project,
    ref: str | None = None,
    *,
    most_steps: int = 80,
    most_usd: float = 1.0,
    most_seconds: float = 900.0,
) -> LiveModel:
    """Return the model that `ref` names in the settings of `project`, as `--model` would; by default the one that they name.

    Raises `UnknownModel`, or `ConfigError` when a key is needed and missing.
    """
    found = resolve_model(project, ref or project.settings.model)
    if found.needs_key and not found.endpoint.api_key:
        name = found.model.provider
        raise ConfigError(f"there is no key for {name}", hint=f"Set the variable {found.api_key_env or 'of its key'}.")
    return LiveModel(found, most_steps, most_usd, most_seconds)


@dataclass(frozen=True, slots=True)
class LiveItem:
    """What an `Executor` is given: one row's worth of work."""

    spec: str
    family: str
    number: int
    conditions: Conditions
    seed: int = 0
    live: LiveModel | None = None
    size: Size = USUAL


def play_item(item: LiveItem) -> Row:
    """Play one item."""
    return play_live(item.spec, item.family, item.number, item.conditions, item.seed, live=item.live, size=item.size)


def play_live(
    spec: str,
    family: str,
    number: int,
    conditions: Conditions,
    seed: int = 0,
    *,
    live: LiveModel | None = None,
    size: Size = USUAL,
) -> Row:
    """Have an assignment worked on under an arm, by the scripted agent or by a live model, and return its row. `seed` is the luck of noticing.

    Raises `UsageError` for an arm, family or model that there is not, and for an arm that can't decide here.
    """
    case = _Case(find_arm(spec), make_assignment(family, number, size), conditions, seed)
    policy = _policy(case.arm, case.assignment.name)
    whole, whole_usd = _whole(family, number, size, conditions.regime, msgspec.json.encode(conditions.model))
    unit = keep_all_usd(whole, budget_for(conditions.played_as).room, conditions.regime)
    yardstick = Yardstick(case.assignment.name, seed, conditions.regime.name, unit)
    played, extra = (_scripted(case, policy), {}) if live is None else _by_endpoint(case, policy, live)
    return row_of(played, yardstick, extra={"whole_usd": whole_usd, **extra})


@dataclass(frozen=True, slots=True)
class _Case:
    arm: Arm
    assignment: Assignment
    conditions: Conditions
    seed: int

    def played(self, tier: Tier, worked: Worked, meter: Meter, sought: tuple[Sought, ...] = ()) -> Played:
        """The same with how it went."""
        return Played(self.arm, self.assignment, self.conditions, self.seed, tier, worked, tuple(meter.paid), sought)


def _policy(arm: Arm, name: str) -> Policy:
    """The policy of an arm. It gets a story without a future: nobody knows here what will be needed."""
    if arm.kind == "bound":
        raise UsageError(
            f"{arm.spec!r} knows the future, and a live run has none yet", hint="Play it on tiers T0 and T1."
        )
    policy = arm.make(Story("T2", name, prepare(Recording(name, "live", "", (), id=name))))
    if remote_of(policy) is not None:
        raise UsageError(
            f"{arm.spec!r} decides elsewhere, and no network is used here", hint="Name a policy that runs here."
        )
    return policy


def _scripted(case: _Case, policy: Policy) -> Played:
    assignment, conditions = case.assignment, case.conditions
    model = conditions.played_as
    meter = Meter(model, Counter(model))
    agent = ScriptedAgent(assignment, noticed=conditions.noticed, seed=case.seed, tokens=meter.counter.text)
    worker = Worker(model, lambda: Metered(agent, meter, reports=True), steady=True)
    worked = work(assignment, policy, worker, limits=Limits(steps=_LOOKUPS * len(assignment.moves)))
    return case.played("T2", worked, meter, agent.sought)


def _by_endpoint(case: _Case, policy: Policy, live: LiveModel) -> tuple[Played, dict[str, float]]:
    info, conditions = live.found.model, case.conditions
    window = min(conditions.window, info.context_window)
    model = conditions.regime.of(msgspec.structs.replace(info, context_window=window))
    meter = Meter(model, Counter(model))

    def reach() -> Provider:
        return Metered(open_provider(live.found.endpoint), meter, most_usd=live.most_usd, prices=info.prices)

    worker = Worker(model, reach, live.found.thinking)
    worked = work(case.assignment, policy, worker, limits=Limits(live.most_steps, live.most_seconds))
    reported = [paid.reported for paid in meter.paid if paid.reported is not None]
    extra = {
        "spent_usd": meter.spent(info.prices),
        "reported_prompt": float(sum(usage.prompt for usage in reported)),
        "reported_cached": float(sum(usage.cache_read for usage in reported)),
        "reported_output": float(sum(usage.output for usage in reported)),
    }
    return case.played("T3", worked, meter), extra


@lru_cache(maxsize=64)
def _whole(
    family: str, number: int, size: Size, regime: Regime, model: bytes
) -> tuple[tuple[tuple[RequestShape, int], ...], float]:
    """The requests of the scripted agent with everything in them, and what they cost. `model` is one as JSON, which can be looked up.

    Raises `RuntimeError` when an assignment can't be done like this: it is broken.
    """
    conditions = Conditions(_ROOMY, regime, model=msgspec.json.decode(model, type=ModelInfo))
    case = _Case(find_arm("none"), make_assignment(family, number, size), conditions, 0)
    played = _scripted(case, NoPolicy())
    if not played.worked.passed:
        raise RuntimeError(f"{case.assignment.name} can't be done with everything in sight: {played.worked.tests}")
    requests = tuple((paid.shape, paid.usage.output) for paid in played.paid)
    return requests, keep_all_usd(requests, _ROOMY, regime)
