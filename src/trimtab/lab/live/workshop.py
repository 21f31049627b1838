"""The workshop: an assignment worked on in a temp folder, by the real agent under an arm.

    folder/work   the repository                 folder/home   settings (none), the session's log, bodies
    open_session ─▶ policy of the arm, model of the conditions ─▶ prompt … turn ─▶ the tests, in a fresh copy with what was to be changed ─▶ Worked

Loop, tools, permissions, engine, ladder and the log on disk are those that run live. Edits inside the repository, commands that change nothing, and the tests may run;
nothing else does. Whatever happens, the folder is gone afterwards, and neither turn nor tests take longer than they may. Running the tests runs what the agent wrote,
so a live model belongs into a container that may be lost.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import anyio

from trimtab.agent.events import TurnReason
from trimtab.agent.ports import Provider
from trimtab.coding.choose import New
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.coding.session import Session
from trimtab.config.home import environment
from trimtab.context.actions import Action
from trimtab.context.budget import Budget
from trimtab.context.policies.base import Manners, Policy, manners_of
from trimtab.context.seeing.observation import Observation
from trimtab.context.window.view import View
from trimtab.lab.arms.playing import Decisions, decided_of
from trimtab.lab.env.facts import Decided
from trimtab.lab.live.assignment import Assignment
from trimtab.lab.live.steady import make_steady
from trimtab.types.codec import Entry
from trimtab.types.ids import drawn_from
from trimtab.types.models import ModelInfo

_TESTS_S = 30.0
"""Seconds that the tests of a repository may take."""
_NO_MODEL = {"model": "scripted/lab", "providers": {"scripted": {"context_window": 1_000_000}}}
"""What the settings say before the conditions do."""


@dataclass(frozen=True, slots=True)
class Timed:
    """The policy of an arm, with a clock beside it. The engine treats it as it treats the policy."""

    policy: Policy
    decisions: Decisions

    @property
    def name(self) -> str:
        """The policy's."""
        return self.policy.name

    @property
    def manners(self) -> Manners:
        """The policy's."""
        return manners_of(self.policy)

    def decide(self, observation: Observation) -> Sequence[Action]:
        """What the policy decides."""
        return self.decisions(observation)


@dataclass(frozen=True, slots=True)
class Limits:
    """How long somebody may work: requests, and seconds of one turn."""

    steps: int = 120
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class Worker:
    """Who works: as which model it is managed, at which of its thinking levels, and how it is reached. What `reach` gives is closed in the end.

    `steady`: it is a script, which is to be shown the same in every run.
    """

    model: ModelInfo
    reach: Callable[[], Provider]
    thinking: str | None = None
    steady: bool = False


@dataclass(frozen=True, slots=True)
class Worked:
    """How it went. `reason`: how the turn ended, `cancelled` by the clock. `path`: the log. `decisions`, `policy_ms` and `decided` as in a row. `tests`: what they said."""

    passed: bool
    reason: TurnReason
    path: tuple[Entry, ...]
    view: View
    budget: Budget
    decisions: int
    policy_ms: float
    tests: str = ""
    decided: Decided | None = None


def work(assignment: Assignment, policy: Policy, worker: Worker, *, limits: Limits = Limits()) -> Worked:
    """Have an assignment worked on, and return how it went. Raises what opening a session raises, such as `UnknownModel`."""
    ids = drawn_from(assignment.name) if worker.steady else nullcontext()
    with ids, tempfile.TemporaryDirectory(prefix="trimtab-live-") as name:
        return anyio.run(_work, Path(name), assignment, policy, worker, limits)


async def _work(folder: Path, assignment: Assignment, policy: Policy, worker: Worker, limits: Limits) -> Worked:
    project = _project(folder, assignment, limits)
    timed = Timed(policy, Decisions(policy.decide))
    async with open_session(project, New(), provider=worker.reach()) as session:
        _manage(session, timed, worker)
        if worker.steady:
            make_steady(session, folder)
        turn = None
        with anyio.move_on_after(limits.seconds):
            turn = await session.prompt(assignment.prompt)
        passed, told = await anyio.to_thread.run_sync(judged, project.cwd, assignment)
        return Worked(
            passed,
            "cancelled" if turn is None else turn.reason,
            tuple(session.log.archive.path()),
            session.log.snapshot(),
            session.context.engine.budget,
            timed.decisions.count,
            1_000 * timed.decisions.seconds,
            told,
            decided_of(session.context.engine),
        )


def _project(folder: Path, assignment: Assignment, limits: Limits) -> Project:
    """The repository with settings of its own: none of the person's, no key, and a model that is replaced before anything is sent."""
    cwd, home = folder / "work", folder / "home"
    home.mkdir()
    _write(cwd, assignment.files)
    bash = {"allow": ["python3 -m unittest"], "timeout_s": _TESTS_S, "max_timeout_s": _TESTS_S}
    settings = {
        **_NO_MODEL,
        "permissions": {"mode": "auto-edit"},
        "tools": {"bash": bash},
        "max_steps": limits.steps,
        "instructions": {"enabled": False},
    }
    return open_project(cwd, overrides=settings, env=command_env(home))


def _manage(session: Session, policy: Policy, worker: Worker) -> None:
    """Put arm and conditions in place of what the settings say, before anything was sent."""
    agent, engine = session.agent, session.context.engine
    agent.model, agent.thinking = worker.model, worker.thinking
    engine.use_model(worker.model)
    engine.policy = policy


def judged(folder: Path, assignment: Assignment) -> tuple[bool, str]:
    """Run the tests in a fresh copy: all files as they were, but those that may be changed as they are in `folder`. Returns whether they pass, and what they say.

    Tests that take too long don't pass.
    """
    with tempfile.TemporaryDirectory(prefix="trimtab-judge-") as name:
        copy = Path(name)
        _write(copy, {path: text for path, text in assignment.files.items() if path not in assignment.open_files})
        for path in assignment.open_files:
            if (folder / path).is_file():
                (copy / path).parent.mkdir(parents=True, exist_ok=True)
                (copy / path).write_bytes((folder / path).read_bytes())
        return _tested(copy)


def _tested(folder: Path) -> tuple[bool, str]:
    try:
        done = subprocess.run(
            [sys.executable, "-m", "unittest", "-q"],
            cwd=folder,
            env=command_env(folder),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TESTS_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return False, f"the tests took longer than {_TESTS_S:g} s"
    return done.returncode == 0, done.stderr.decode("utf-8", "replace")


def command_env(home: Path) -> dict[str, str]:
    """The environment of everything here: `python3` is this interpreter, and nothing of the person's is read or written."""
    given = environment()
    path = os.pathsep.join((str(Path(sys.executable).parent), given.get("PATH", os.defpath)))
    return {
        "PATH": path,
        "HOME": str(home),
        "TRIMTAB_HOME": str(home),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONHASHSEED": "0",
    }


def _write(folder: Path, files: Mapping[str, str]) -> None:
    for path, text in files.items():
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, "utf-8")
