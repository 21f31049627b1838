"""The training script: read it from top to bottom.

    config ─▶ lessons of teachers ─▶ clone ─▶ steps: groups ▸ credit ▸ clipped descent, validation now and then ─▶ the best on validation ─▶ weights, record

Where it differs from the textbook: advantages are those of a query's tree and not of a learned value; a decision is a sequence of choices, all with its advantage; the policy is held near its clone, not near
its last step only; cost weighs more at the start than where it is judged. Budgets are decisions, so a run comes to the same wherever it runs; a clock only ever breaks it off, and then it can go on.
"""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import torch

from trimtab.context.policies.learned.weights import Weights, write_weights
from trimtab.lab.executor import Executor, Here
from trimtab.lab.suite import PARTS
from trimtab.lab.train.batches import lines_of, padded
from trimtab.lab.train.config import Config
from trimtab.lab.train.curriculum import hardest, stage_at, tasks_at, weights_at
from trimtab.lab.train.extras import extra_of
from trimtab.lab.train.judging import LAST_FROM, Score, Who, scores
from trimtab.lab.train.lessons import packed, unpacked
from trimtab.lab.train.losses import Terms, clipped_loss, entropies
from trimtab.lab.train.network import ChoiceNetwork, export, fresh_network
from trimtab.lab.train.progress import Progress, gone_on, keep
from trimtab.lab.train.rollouts import Candidate, Job, Worth, played
from trimtab.lab.train.runs import RunFolder, key_of, version
from trimtab.lab.train.seeing import Eye
from trimtab.lab.train.teachers import NEEDED, Lessons, TeachJob, best_of, lines_for, present, taught
from trimtab.lab.train.telling import said, told
from trimtab.types.errors import UsageError

Stage: TypeAlias = Literal["clone", "rl"]
Ended: TypeAlias = Literal["budget", "broken off"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run happens, which changes nothing about what comes of it. `seconds`: after so many it stops at the next step, and after one at the soonest; `steps`: likewise, in this call. `say`: is told a line now and then."""

    folder: Path
    executor: Executor = field(default_factory=Here)
    device: str = "cpu"
    seconds: float | None = None
    steps: int | None = None
    say: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic


@dataclass(frozen=True, slots=True)
class Trained:
    """What came of a run. `ended`: by its budget, or broken off by `seconds` or `steps`; then `weights` is the best so far, and the same call goes on.

    No weights: a network that nothing but the lab can run.
    """

    folder: Path
    weights: Weights | None
    ended: Ended


def train(config: Config, place: Place, *, needed: Weights | None = None, stage: Stage = "rl") -> Trained:
    """Train a policy. `needed`: supervised weights whose figures it sees besides. Raises `UsageError` when no teacher is there."""
    # The network is small: threads would wait for each other, and take the processors from the workers.
    torch.set_num_threads(1)
    begun = place.clock()
    eye = Eye(extra_of(needed))
    clone, folder = cloned(config, place, eye, needed)
    if stage == "clone":
        return Trained(folder.path, folder.weights(), "budget")
    return reinforced(config, place, needed, clone, begun)


# ── The clone: what teachers did ────────────────────────────────────────────────────────────────────────────────────────────────────────────────────────


def cloned(config: Config, place: Place, eye: Eye, needed: Weights | None) -> tuple[ChoiceNetwork, RunFolder]:
    """Return a network that does what teachers did, and its folder: learned now, or before."""
    cloning = config.cloning
    key = key_of("clone", config.seed, config.shape, cloning, _bytes(needed))
    folder = RunFolder(place.folder / f"clone-{key}")
    network = fresh_network(config.shape, eye.widths, seed=config.seed)
    if folder.finished(*_exports(config)) and (known := folder.state()) is not None:
        with folder.whole("state.pt"):
            network.load_state_dict(known["network"])
        return network, folder
    begun = place.clock()
    lessons, about = _lessons(config, place, eye, needed)
    sights = [lesson.sight for one in lessons for lesson in one.decisions]
    network.scale_to(sights)
    network.saw(sights)
    curve = _imitate(network.to(place.device), lessons, config, place)
    network.to("cpu")
    folder.write("config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))
    folder.draw(curve)
    folder.keep({"network": network.state_dict()})
    record = {"stage": "clone", "code": version(), "seed": config.seed, **about, "fit": curve[-1]}
    folder.finish(_timed(record, place, begun), _exported(network, eye, needed, record))
    return network, folder


def _exports(config: Config) -> tuple[str, ...]:
    """The file of what runs in the agent, where a network of this shape can run there."""
    return () if config.shape.attention else ("weights.json",)


def _timed(record: dict[str, Any], place: Place, begun: float) -> dict[str, Any]:
    """A record with how long that took. Weights hold it without: the same lessons give the same weights."""
    return {**record, "seconds": round(place.clock() - begun, 1)}


def _exported(network: ChoiceNetwork, eye: Eye, needed: Weights | None, record: dict[str, Any]) -> Weights | None:
    """What runs in the agent, where the network can run there."""
    return None if network.shape.attention else export(network, needed=needed, extra=eye.names, record=record)


def _lessons(config: Config, place: Place, eye: Eye, needed: Weights | None) -> tuple[list[Lessons], dict[str, Any]]:
    """Let every teacher play the tasks, and keep what is to be learned from; with what is to be said about it."""
    cloning = config.cloning
    here, missing = present(cloning.teachers, needed=needed is not None)
    if not here:
        raise UsageError(f"no teacher is there: {', '.join(missing)}", hint="Name arms that are, such as rules.")
    if missing:
        place.say(f"without the teacher {' and '.join(map(_lacking, missing))}")
    key = key_of("lessons", here, cloning.each, _bytes(needed))
    folder = RunFolder(place.folder / f"lessons-{key}")
    if (known := folder.read("lessons.msgpack")) is not None:
        with folder.whole("lessons.msgpack"):
            found = unpacked(known, eye.widths)
    else:
        found = _taught(here, cloning.each, place, eye, needed)
        folder.write("lessons.msgpack", packed(found))
    kept = best_of(found) if cloning.best else found
    counts = {teacher: sum(one.teacher == teacher for one in kept) for teacher in here}
    about = {
        "teachers": counts,
        "missing": missing,
        "plays": len(found),
        "decisions": sum(len(one.decisions) for one in kept),
        "said": sum(one.said for one in kept) / max(1, sum(one.wanted for one in kept)),
        "reward": _mean([one.reward for one in kept]),
    }
    best = ", ".join(f"{count} of {teacher}" for teacher, count in counts.items() if count)
    place.say(
        f"lessons: {about['decisions']:,} decisions in {len(kept)} plays ({best}); the network has an action for {about['said']:.0%} of what they did"
    )
    return kept, about


def _lacking(teacher: str) -> str:
    """A teacher that isn't there, with the reason."""
    return f"{teacher}: --needed FILE names its weights" if teacher == NEEDED else f"{teacher}: no such arm"


def _taught(teachers: Sequence[str], each: int, place: Place, eye: Eye, needed: Weights | None) -> list[Lessons]:
    jobs = [
        TeachJob(teacher, eye, "train", family, number, needed if teacher == NEEDED else None)
        for family in PARTS["train"]
        for number in range(each)
        for teacher in teachers
    ]
    found: list[Lessons] = []
    for number, one in enumerate(place.executor.map(taught, jobs), 1):
        found.append(one)
        if number % 50 == 0 or number == len(jobs):
            place.say(f"lessons: {number} of {len(jobs)} plays")
    return found


def _imitate(network: ChoiceNetwork, lessons: Sequence[Lessons], config: Config, place: Place) -> list[dict[str, Any]]:
    """Descend on what teachers chose. Returns a line for each epoch."""
    cloning, curve = config.cloning, []
    decisions = [lesson for one in lessons for lesson in one.decisions]
    descent = torch.optim.Adam(network.parameters(), cloning.rate)
    for epoch in range(cloning.epochs):
        dice = random.Random(f"clone {config.seed} {epoch}")
        dice.shuffle(decisions)
        losses, hits = [], []
        for at in range(0, len(decisions), cloning.batch):
            lines = [line for lesson in decisions[at : at + cloning.batch] for line in lines_for(lesson, dice)]
            batch = padded(lines, place.device)
            log_probs = batch.log_probs(network)
            loss = -batch.of_right(log_probs).mean()
            _step(network, descent, loss, 5.0)
            losses.append(float(loss.detach()))
            hits.append(float(batch.right.gather(1, log_probs.argmax(1, keepdim=True)).double().mean()))
        curve.append({"epoch": epoch, "loss": _mean(losses), "right": _mean(hits)})
        place.say(
            f"clone: epoch {epoch + 1} of {cloning.epochs}, loss {curve[-1]['loss']:.3f}, right {curve[-1]['right']:.0%}"
        )
    return curve


# ── Reinforcement: what the clone's own decisions turn out to be worth ─────────────────────────────────────────────────────────────────────────────────


def reinforced(config: Config, place: Place, needed: Weights | None, clone: ChoiceNetwork, begun: float) -> Trained:
    """Improve on a clone until the budget is used, or the clock breaks it off."""
    learning, widths = config.learning, clone.widths
    folder = RunFolder(
        place.folder / f"rl-{key_of('rl', config, *(part.tobytes() for part in clone.arrays().values()))}"
    )
    there = folder.finished("scores.json", *_exports(config))
    if there and folder.ended() == "budget":
        place.say(f"done before: {folder.path}")
        return Trained(folder.path, folder.weights(), "budget")
    folder.write("config.json", msgspec.json.format(msgspec.json.encode(config), indent=2))
    network = fresh_network(config.shape, widths, seed=config.seed).to(place.device)
    network.load_state_dict(clone.state_dict())
    anchor = clone.to(place.device).requires_grad_(requires_grad=False)
    descent = torch.optim.Adam(network.parameters(), learning.rate)
    at = gone_on(folder, network, descent)
    before, made = at.seconds, 0
    if at.best_step < 0:
        _look(network, config, place, needed, at)  # what reinforcement has to beat: the clone
        keep(folder, network, descent, at)
    while at.decisions < learning.decisions and not _broken_off(place, begun, made):
        share = at.decisions / learning.decisions
        stage, weights = stage_at(share, learning), weights_at(share, learning)
        candidate = Candidate(config.shape, network.arrays(), needed)
        jobs = [
            Job(candidate, learning, family, number, f"{config.seed} {at.step}", stage, weights)
            for family, number in tasks_at(share, learning, seed=config.seed, step=at.step)
        ]
        groups = list(place.executor.map(played, jobs))
        rows = [row for group in groups for row in group.rows]
        network.saw([row.decided.sight for row in rows])
        terms = _descend(network, anchor, descent, rows, config, place, at.step)
        made, at.step = made + 1, at.step + 1
        at.decisions += sum(max(1, group.decisions) for group in groups)
        at.seconds = before + place.clock() - begun
        at.curve.append(
            {"step": at.step, "decisions": at.decisions, "seconds": round(at.seconds, 1), "stage": stage}
            | {"cost_weight": weights.cost, "hardest": hardest(share, learning)}
            | told(groups, at.curve)
            | terms
        )
        if at.step % learning.check == 0 or at.decisions >= learning.decisions:
            _look(network, config, place, needed, at)
        keep(folder, network, descent, at)  # before it is told: what a person has read of is there
        place.say(said(at.curve, learning.decisions))
    ended: Ended = "budget" if at.decisions >= learning.decisions else "broken off"
    return _written(config, place, needed, folder, clone, at, ended)


def _broken_off(place: Place, begun: float, made: int) -> bool:
    # One step is always made: a call whose time is gone before the first, for lessons and a look, would never come further.
    late = made > 0 and place.seconds is not None and place.clock() - begun >= place.seconds
    return late or (place.steps is not None and made >= place.steps)


def _descend(
    network: ChoiceNetwork,
    anchor: ChoiceNetwork,
    descent: torch.optim.Optimizer,
    rows: Sequence[Worth],
    config: Config,
    place: Place,
    step: int,
) -> dict[str, float]:
    """Descend on the rows of a step. Returns the means of its last epoch; nothing where there are no rows."""
    learning = config.learning
    means: dict[str, float] = {}
    for epoch in range(learning.epochs if rows else 0):
        order = list(rows)
        random.Random(f"descend {config.seed} {step} {epoch}").shuffle(order)
        terms: list[tuple[float, ...]] = []
        for at in range(0, len(order), learning.batch):
            part = order[at : at + learning.batch]
            batch = padded(
                [line for row in part for line in lines_of(row.decided.sight, row.decided.places)], place.device
            )
            log_probs = batch.log_probs(network)
            with torch.no_grad():
                clone = batch.of_right(batch.log_probs(anchor))
            found = clipped_loss(
                batch.of_right(log_probs),
                _by_line(part, lambda row: row.decided.log_probs, place.device),
                clone,
                _by_line(part, lambda row: (row.advantage,) * len(row.decided.places), place.device),
                _by_line(part, lambda row: (row.weight,) * len(row.decided.places), place.device),
                entropies(log_probs),
                clip=learning.clip,
                entropy_weight=learning.entropy,
                anchor=learning.anchor,
            )
            _step(network, descent, found.loss, learning.most_gradient)
            terms.append(tuple(float(value.detach()) for value in found))
        means = {name: _mean([one[n] for one in terms]) for n, name in enumerate(Terms._fields)}
    return means


def _step(network: ChoiceNetwork, descent: torch.optim.Optimizer, loss: torch.Tensor, most: float) -> None:
    """One step down. `most`: the norm of a gradient, beyond which it is shortened."""
    descent.zero_grad()
    torch.autograd.backward(loss)
    torch.nn.utils.clip_grad_norm_(network.parameters(), most)
    descent.step()


def _by_line(rows: Sequence[Worth], values: Callable[[Worth], Sequence[float]], device: str) -> torch.Tensor:
    """A number for each choice of each row."""
    return torch.tensor([value for row in rows for value in values(row)], dtype=torch.float64, device=device)


# ── Choosing: which step was best on validation ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _look(network: ChoiceNetwork, config: Config, place: Place, needed: Weights | None, at: Progress) -> None:
    """Judge the network as it is, greedily, as it will run, and by chance, as it learns. The best so far, greedily, is kept."""
    candidate = Candidate(config.shape, network.arrays(), needed)
    judged = scores if at.step else partial(_once, place, candidate)  # many runs begin with one clone
    greedy, sampled = judged(
        (("greedy", candidate, "greedy"), ("sampled", candidate, "sampled")), config.judging.each, place.executor
    )
    line = {"step": at.step, "decisions": at.decisions, "greedy": greedy.line(), "sampled": sampled.line()}
    if greedy.reward > at.best:
        at.best, at.best_step = greedy.reward, at.step
        at.parameters = {name: value.detach().cpu().clone() for name, value in network.state_dict().items()}
    at.curve.append(line | {"best_step": at.best_step})
    place.say(
        f"validation, step {at.step}: greedy {greedy.reward:+.3f} (success {greedy.success:.2f}, cost {greedy.cost:.2f}), sampled {sampled.reward:+.3f}; best {at.best:+.3f} of step {at.best_step}"
    )


def _once(
    place: Place, candidate: Candidate, who: Sequence[Who], each: int, executor: Executor, *, first: int = 0
) -> list[Score]:
    """As `scores` does, of what many runs have in common: it is judged by the first of them, and kept."""
    arrays = (part.tobytes() for part in candidate.arrays.values())
    names = [(name, mode) for name, _, mode in who]
    key = key_of("judged", candidate.shape, _bytes(candidate.needed), names, each, first, *arrays)
    kept = RunFolder(place.folder / f"judged-{key}")
    if kept.holds("scores.json"):
        return [kept.score(name) for name, _, _ in who]
    found = scores(who, each, executor, first=first)
    kept.report(found)
    return found


# ── Writing: what comes of it ───────────────────────────────────────────────────────────────────────────────────────────


def _written(
    config: Config,
    place: Place,
    needed: Weights | None,
    folder: RunFolder,
    clone: ChoiceNetwork,
    at: Progress,
    ended: Ended,
) -> Trained:
    """Report the best on other tasks of validation, beside the clone and the arms, and write it."""
    eye = Eye(extra_of(needed))
    network = fresh_network(config.shape, eye.widths, seed=config.seed)
    network.load_state_dict(at.parameters)
    best, first = (Candidate(config.shape, one.arrays(), needed) for one in (network, clone))
    trained: tuple[Who, ...] = (("trained", best, "greedy"), ("trained, sampled", best, "sampled"))
    cloned: tuple[Who, ...] = (("clone", first, "greedy"), ("clone, sampled", first, "sampled"))
    arms: tuple[Who, ...] = tuple((arm, arm, "greedy") for arm in config.judging.arms)
    # A call that was to make a few steps only is one of several: the last one reports.
    waits = ended == "broken off" and place.steps is not None
    last = config.judging.last
    found = [
        *([] if waits else scores(trained, last, place.executor, first=LAST_FROM)),
        *([] if waits else _once(place, first, cloned, last, place.executor, first=LAST_FROM)),
        *([] if waits else scores(arms, last, place.executor, first=LAST_FROM)),
    ]
    for score in found:
        place.say(f"{score.name}: reward {score.reward:+.3f}, success {score.success:.2f}, cost {score.cost:.2f}")
    record = {
        "stage": "rl",
        "ended": ended,
        "code": version(),
        "torch": str(torch.__version__),
        "config": msgspec.json.decode(msgspec.json.encode(config)),
        "needed": None if needed is None else key_of(_bytes(needed)),
        "steps": at.step,
        "decisions": at.decisions,
        "seconds": round(at.seconds, 1),
        "best_step": at.best_step,
        "validation": {score.name: {"tasks": len(score.figures), **score.line()} for score in found},
    }
    folder.draw(at.curve)
    folder.report(found)
    folder.finish(record, _exported(network, eye, needed, record))
    return Trained(folder.path, folder.weights(), ended)


def _bytes(needed: Weights | None) -> bytes:
    return b"" if needed is None else write_weights(needed)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
