"""Episodes: a story played step by step, with the decisions left open.

    Episode(story, setup) ──advance──▶ Observation: the policy would be asked here      None: the story is over
                          ◀──act(actions)── the request is made with what the engine makes of them, answered as in the story, and paid
                          ──facts──▶ what each request took and lacked

The engine, its guards, its ladder and its bills are those that run live, and everything beside the decision is played as `trimtab replay` plays it: an episode
that does what a policy says comes to the figures of a replay with that policy. The decision is open the way it is for a policy behind a URL: the engine asks
whoever drives it, and judges what comes back. So three answers in a row that make no sense are answered as they are live: the rules decide, and go on deciding.

An observation shows the past only. What the story still holds is in the player, whom no policy sees.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field

from trimtab.context.actions import Action
from trimtab.context.asks import Advice, Answer, Consult
from trimtab.context.counting.counter import Counter
from trimtab.context.policies.base import ByRules, Manners, Policy, Wrapper, manners_of, unwrap
from trimtab.context.policies.remote import Remote
from trimtab.context.seeing.observation import Observation
from trimtab.context.settings import EngineSettings
from trimtab.lab.env.acceptance import Acceptance
from trimtab.lab.env.facts import NeedFacts, StepFacts, edit_facts, refusals
from trimtab.lab.env.snapshot import Snapshot, fork
from trimtab.lab.env.story import Story
from trimtab.sessions.replay.player import Plan, Player, StepRun
from trimtab.sessions.replay.reach import Reach
from trimtab.types.models import ModelInfo

NOTICED = 0.85
"""How likely a model notices that a stub hides what it needs, where nobody says otherwise. An assumption: sweep it."""


@dataclass(frozen=True, slots=True)
class Open:
    """A policy whose decisions whoever plays makes. `around` are the wrappers of the policy in whose place it stands, the innermost first."""

    name: str = "open"
    manners: Manners = field(default=Manners(guarded=False))
    around: tuple[Wrapper, ...] = ()

    @property
    def inner(self) -> Policy:
        """It decides elsewhere."""
        return Remote(name=self.name)

    def keeps(self, observation: Observation, actions: Sequence[Action]) -> Sequence[Action]:
        """Return what the wrappers let through."""
        for wrapper in self.around:
            actions = wrapper.keeps(observation, actions)
        return actions

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return nothing: the engine asks whoever plays."""
        return ()


def opened(policy: Policy) -> Open:
    """Return the open policy that the engine treats as it would treat `policy`, whose core then decides: see `play`. One that is open stays as it is."""
    return policy if isinstance(policy, Open) else Open(policy.name, manners_of(policy), unwrap(policy)[1])


@dataclass(frozen=True, slots=True)
class Setup:
    """How stories are played. `model` has the window and the prices. `policy` says how the engine treats whoever decides: unguarded and asked from the soft threshold on, unless it
    says otherwise. `noticed`: how likely a stub is noticed. `counter`: of the same model, so that texts are counted once for many episodes.
    """

    model: ModelInfo
    policy: Open = field(default_factory=Open)
    settings: EngineSettings = field(default_factory=lambda: EngineSettings(result_share=1e6))
    noticed: float = NOTICED
    counter: Counter | None = None


class Episode:
    """One story as it is played. Begin with `advance`.

    `observation`: what is to be decided about now; None between decisions. `facts`: of all requests so far. `done`: the story is over. `branching`: snapshots will be taken,
    so before each request that may be decided about the player is copied.
    """

    def __init__(self, story: Story, setup: Setup, *, branching: bool = False, origin: Snapshot | None = None) -> None:
        self.story, self.setup, self.branching = story, setup, branching
        if origin is None:
            # A generated story says what is lost with what: nobody makes up for it. In a recording a lost result is fetched, as a replay does.
            refetch = story.tier != "T0"
            plan = Plan(setup.policy, setup.model, setup.settings, counter=setup.counter, refetch=refetch)
            self.player = Player(story.prepared, plan)
            self.acceptance = Acceptance()
        else:
            self.player, self.acceptance = fork(origin.player), origin.acceptance
        self.facts: list[StepFacts] = [] if origin is None else list(origin.facts)
        self.place = 0 if origin is None else origin.place
        """Of the step that comes next, or is being played; from 0."""
        self.observation: Observation | None = None
        self._playing: Generator[Consult, Answer, StepRun] | None = None
        self._actions: tuple[Action, ...] = ()
        self._asked = False
        self._before = (0, 0)
        """Edits and events that the log had when the request was begun."""
        self._rest: Player | None = None
        """The player as it was then, for snapshots."""
        if origin is not None and origin.asked:
            self.advance()

    @classmethod
    def of(cls, snapshot: Snapshot, story: Story, setup: Setup, *, branching: bool = False) -> "Episode":
        """An episode that goes on from a snapshot of one with the same story and setup; at its decision, if it was taken in front of one."""
        return cls(story, setup, branching=branching, origin=snapshot)

    @property
    def done(self) -> bool:
        """Whether the story is over."""
        return self.observation is None and self.place >= len(self.player.steps)

    def advance(self) -> Observation | None:
        """Play on until something is to be decided, and return what is seen then; None: the story is over."""
        if self.observation is not None:
            raise RuntimeError("something is to be decided: answer with act()")
        while self.observation is None and self.place < len(self.player.steps):
            player, step = self.player, self.player.steps[self.place]
            self._rest = fork(player) if self.branching and player.may_ask(step) else None
            self._before = len(player.edits), len(player.events)
            self._actions, self._asked = (), False
            self._playing = player.play(step)
            self._go_on(None)
        return self.observation

    def act(self, actions: Sequence[Action]) -> StepFacts:
        """Answer the question with `actions` (none: leave everything as it is) and finish the request. Returns its facts."""
        if self.observation is None:
            raise RuntimeError("nothing is to be decided: advance() first")
        self.observation, self._actions = None, tuple(actions)
        self._go_on(Advice(actions if isinstance(actions, ByRules) else self._actions))
        if self.observation is not None:
            raise RuntimeError("the engine asked twice before one request")
        return self.facts[-1]

    def snapshot(self) -> Snapshot:
        """Return the episode as it is, to go on from: in front of the decision that is open, or behind the request that was finished last."""
        if self.observation is None:
            return Snapshot(
                fork(self.player), self.place, asked=False, facts=tuple(self.facts), acceptance=self.acceptance
            )
        if self._rest is None:
            raise RuntimeError("an episode gives snapshots of decisions when it was made with branching=True")
        return Snapshot(self._rest, self.place, asked=True, facts=tuple(self.facts), acceptance=self.acceptance)

    def accepts(self, action: Action) -> bool:
        """Whether the engine would do what `action` wants, as things are at this decision. Nothing is done; see `acceptance`."""
        return self.acceptance.accepts(self.player, action)

    def _go_on(self, answer: Answer | None) -> None:
        """Run the request until the next question or its end."""
        assert self._playing is not None
        try:
            question = next(self._playing) if answer is None else self._playing.send(answer)
        except StopIteration as stop:
            self._playing = None
            self.place += 1
            self.facts.append(self._facts(stop.value))
            return
        self.observation, self._asked = question.observation, True

    def _facts(self, run: StepRun) -> StepFacts:
        player, (edits, events) = self.player, self._before
        return StepFacts(
            tier=self.story.tier,
            step=run.step,
            prompt=run.prompt,
            cached=run.cached,
            fixed=player.sizes.fixed(player.request.system, player.request.tools),
            room=player.budget.room,
            request=run.request,
            summaries=run.summaries,
            reloads=run.reloads,
            repeated=run.repeated,
            noticed=self.setup.noticed,
            needs=self._needs(run),
            edits=edit_facts(player.edits[edits:]),
            asked=self._asked,
            actions=self._actions,
            refused=refusals(player.events[events:]),
            overflow=run.overflow,
            invalid=run.invalid,
        )

    def _needs(self, run: StepRun) -> tuple[NeedFacts, ...]:
        needs = self.player.needs.get(run.step, ())
        points = self.story.points.get(run.step, (None,) * len(needs))
        return tuple(
            NeedFacts(need.result, reach, self._chance(reach), point)
            for need, reach, point in zip(needs, run.states, points, strict=True)
        )

    def _chance(self, reach: Reach) -> float:
        return {"visible": 1.0, "stub": self.setup.noticed, "lost": 0.0}[reach]


def play(episode: Episode, policy: Policy) -> list[StepFacts]:
    """Play an episode to its end with the decisions of the policy within `policy`, and return all its facts. Its wrappers are those of the setup: see `opened`."""
    core = unwrap(policy)[0]
    if episode.observation is not None:
        episode.act(core.decide(episode.observation))
    while (observation := episode.advance()) is not None:
        episode.act(core.decide(observation))
    return episode.facts
