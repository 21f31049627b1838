"""Stories: what an episode plays, whichever tier it comes from.

    Task ──its key points are the needs──▶ Story T0          Recording ──strings that later calls used──▶ Story T1

A story is prepared once and played any number of times.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeVar

from trimtab.lab.env.facts import Tier
from trimtab.lab.tasks.task import Task
from trimtab.sessions.recorded import Recording
from trimtab.sessions.replay.needs import Need, texts_of
from trimtab.sessions.replay.player import Prepared, prepare
from trimtab.sessions.replay.steps import steps_of

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Story:
    """What is played. `points`: for each step the number of the key point behind each of its needs, where there are key points."""

    tier: Tier
    name: str
    prepared: Prepared
    points: Mapping[int, tuple[int, ...]] = field(default_factory=dict)

    @property
    def recording(self) -> Recording:
        """What happens in it."""
        return self.prepared.recording


def recorded_story(recording: Recording) -> Story:
    """The story of a recording, with the needs that `trimtab replay` finds in it."""
    return Story("T1", recording.id or recording.file, prepare(recording))


def task_story(task: Task) -> Story:
    """The story of a task: each of its key points is a need of its own, in every step that uses it. Raises `ValueError` for one that doesn't stand where it is said to."""
    steps = steps_of(task.recording.events)
    messages = [m for step in steps for m in (*(came.message for came in step.came), step.answer.message)]
    needs: dict[int, list[Need]] = {}
    points: dict[int, list[int]] = {}
    for number, point in enumerate(task.points):
        shown = messages[point.message : point.message + 1]
        if not any(point.text in text for message in shown for text in texts_of(message)):
            raise ValueError(f"{task.name}: key point {number} doesn't stand in message {point.message}")
        for step in point.needed:
            needs.setdefault(step, []).append(Need(point.message, step, (point.text,)))
            points.setdefault(step, []).append(number)
    prepared = Prepared(task.recording, steps, _fixed(needs))
    return Story("T0", task.name, prepared, _fixed(points))


def _fixed(lists: Mapping[int, list[T]]) -> dict[int, tuple[T, ...]]:
    return {step: tuple(values) for step, values in lists.items()}
