"""Arms by name: those of this lab, else any policy of the engine, with the parameters and wrappers that it may have.

    "keep-all"   "lru"   "lru(left=0.3)"   "rules(left=0.3)"   "claude-code"   "cost-gate:lru"
       OWN      ╰─ MAKERS, by parameters ─╯   ╰─ policies of the engine ─╯

A maker is a dataclass of parameters that is a policy itself, or makes one of a story (`of`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, runtime_checkable

from trimtab.context.policies.base import Policy, require_ready, unwrap
from trimtab.context.policies.learned.policy import Learned
from trimtab.context.policies.none import NoPolicy
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import configured, find_policy, known_policies, named_in, policy_of
from trimtab.lab.arms.arm import Arm, ArmKind
from trimtab.lab.arms.break_even import BreakEven
from trimtab.lab.arms.chance import RandomAtRate
from trimtab.lab.arms.clairvoyant import ClairvoyantRule
from trimtab.lab.arms.clear import ThresholdClear
from trimtab.lab.arms.dedupe import Dedupe
from trimtab.lab.arms.hybrid import Hybrid
from trimtab.lab.arms.ladder import LadderOnly
from trimtab.lab.arms.lru import Lru
from trimtab.lab.arms.occupancy import Occupancy
from trimtab.lab.env.story import Story
from trimtab.types.errors import UsageError


@runtime_checkable
class OfStory(Protocol):
    """Parameters of an arm that depends on the story."""

    def of(self, story: Story) -> Policy:
        """Make the policy that plays `story`."""
        ...


@dataclass(frozen=True, slots=True)
class Maker:
    """A kind of arm with parameters: `make` is the dataclass of them."""

    make: type[Policy] | type[OfStory]
    about: str
    kind: ArmKind = "rule"


OWN: Mapping[str, Arm] = {
    "keep-all": Arm("keep-all", "keep", "everything stays, and what doesn't fit can't be sent", lambda _: NoPolicy()),
    "ladder": Arm("ladder", "rule", "nobody decides, and the ladder does what has to be done", lambda _: LadderOnly()),
}
"""The arms that only the lab has, and that have no parameters."""
MAKERS: Mapping[str, Maker] = {
    "clear": Maker(ThresholdClear, "past a trigger old results go, if enough of them go at once"),
    "hybrid": Maker(Hybrid, "old results are masked in batches, then comes a digest"),
    "dedupe": Maker(Dedupe, "only what something else makes superfluous goes"),
    "lru": Maker(Lru, "what was used least recently goes"),
    "break-even": Maker(BreakEven, "what is old and unused goes when that saves more than it breaks"),
    "occupancy": Maker(Occupancy, "how full the space is says what is done"),
    "random": Maker(RandomAtRate, "as many batches as another arm, of whatever there is", "random"),
    "clairvoyant": Maker(ClairvoyantRule, "knows what later requests use", "bound"),
}
"""Those that have some, by the name in front of them."""
BASELINES: tuple[str, ...] = (
    "keep-all",
    "ladder",
    "truncate",
    "mask(batch=1, always=True)",
    "mask",
    "clear",
    "summary",
    "hybrid",
    "dedupe",
    "lru",
    "break-even",
    "occupancy",
    "rules",
    "random",
    "clairvoyant",
)
"""The baselines that every table has, untuned. The peers come beside them: `PEER_ARMS`."""
PEER_ARMS: tuple[str, ...] = tuple(f"{row.name}(scaled=True)" for row in PEERS)
"""What other agents do, by their own figures, which are meant for 200,000 tokens and scaled to the window: in a window of the suite 100,000 tokens never come, and 33,000 below it is nowhere."""
_PEERS = frozenset(row.name for row in PEERS)


def find_arm(spec: str) -> Arm:
    """Return the arm that `spec` names. Raises `UsageError` for one that isn't there, or whose weights aren't."""
    if spec in OWN:
        return OWN[spec]
    name = named_in(spec)
    if name in MAKERS:
        maker = MAKERS[name]
        policy_of(spec, partial(_checked, maker))
        return Arm(spec, maker.kind, maker.about, lambda story: policy_of(spec, partial(_made, maker, story)))
    if name not in known_policies():
        raise UsageError(
            f"there is no policy {name!r}, and no arm of the lab",
            hint=f"Arms of the lab: {', '.join((*OWN, *MAKERS))}. Policies: {', '.join(known_policies())}.",
        )
    policy = find_policy(spec)
    require_ready(policy)
    return Arm(spec, _kind(policy), type(policy).__name__, lambda _: find_policy(spec))


def _kind(policy: Policy) -> ArmKind:
    if isinstance(unwrap(policy)[0], Learned):
        return "learned"
    return "keep" if policy.name == "none" else "peer" if policy.name in _PEERS else "rule"


def _made(maker: Maker, story: Story, name: str, parameters: Mapping[str, Any]) -> Policy:
    made = configured(name, maker.make, parameters)
    return made.of(story) if isinstance(made, OfStory) else made


def _checked(maker: Maker, name: str, parameters: Mapping[str, Any]) -> Policy:
    """Complain about parameters before there is a story."""
    made = configured(name, maker.make, parameters)
    return NoPolicy() if isinstance(made, OfStory) else made
