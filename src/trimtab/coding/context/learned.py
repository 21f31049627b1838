"""What a session takes from earlier ones of its project, and leaves to later ones.

first count of a request ──calibration──▶ factors of the model        first edit ──regret──▶ which kinds of result are left alone longer
a model is left, the session closes ──note, leave──▶ HOME/learned/PROJECT.json

The file is read when one of the two is first needed, so a first request that is small reads nothing. A session without a file of its own takes, and leaves nothing.
"""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING

from trimtab.coding.logs import session_folder
from trimtab.types.errors import StoreError

if TYPE_CHECKING:
    from trimtab.coding.project import Project
    from trimtab.context.counting.ratio import CalibrationState
    from trimtab.context.engine import Engine
    from trimtab.context.seeing.regret import Learned
    from trimtab.context.stores.learned import Lessons
    from trimtab.context.stores.log import SessionLog
    from trimtab.types.models import ModelInfo


def learned_file(project: "Project") -> Path:
    """Where it is kept for a project."""
    name = session_folder(project).folder_of(str(project.cwd)).name
    return project.home.data / "learned" / f"{name}.json"


@dataclass(slots=True)
class Experience:
    """What one session knows from others and will leave. `keeps`: whether it leaves anything."""

    file: Path
    session: str
    parent: str | None = None
    keeps: bool = True
    _known: "Lessons | None" = None
    _models: "dict[str, CalibrationState]" = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def calibration(self, model: "ModelInfo") -> "CalibrationState | None":
        """What is known of a model's counts."""
        return self._models.get(model.ref) or self._lessons().models.get(model.ref)

    def regret(self) -> "Learned":
        """What other sessions taught about hiding results: not this one, nor the one that it was forked from, whose entries it holds."""
        return regret_of(self._lessons(), without=(self.session, self.parent))

    def note(self, engine: "Engine") -> None:
        """Keep in mind what was learned about the model in use."""
        state = engine.calibration
        if state is not None:
            self._models[engine.model.ref] = state

    def leave(self, engine: "Engine") -> None:
        """Write down what was learned, if anything was. A disk that refuses loses it: nobody waits for it."""
        self.note(engine)
        regret = engine.regret.kinds if engine.regret else None
        if not self.keeps or not (self._models or regret):
            return
        from trimtab.context.stores.learned import LessonsFile  # noqa: PLC0415 - a session that learned nothing needs no file

        with suppress(StoreError):
            LessonsFile(self.file).update(models=self._models, session=self.session, regret=regret)

    def take_notes(self) -> tuple[str, ...]:
        """What a person should be told, once."""
        notes = tuple(self._notes)
        self._notes.clear()
        return notes

    def _lessons(self) -> "Lessons":
        if self._known is None:
            from trimtab.context.stores.learned import LessonsFile  # noqa: PLC0415 - a small first request needs none

            self._known, problem = LessonsFile(self.file).read()
            if problem is not None:
                self._notes.append(
                    f"what earlier sessions learned is left aside: {self.file} can't be used ({problem}); trimtab context learned --reset removes it"
                )
        return self._known


def experience_of(project: "Project", log: "SessionLog") -> Experience:
    """Return what a session that was just opened may know. Reads nothing yet."""
    return Experience(
        learned_file(project), log.header.id, parent=log.header.parent_session, keeps=log.path is not None
    )


def regret_of(lessons: "Lessons", *, without: tuple[str | None, ...] = ()) -> "Learned":
    """Return what all sessions taught together, but for those."""
    from trimtab.context.seeing.regret import KindRecord, Learned  # noqa: PLC0415 - not needed before something is edited

    def added(sum_so_far: Learned, kinds: Mapping[str, KindRecord]) -> Learned:
        return reduce(lambda learned, kind: learned.having(*kind), kinds.items(), sum_so_far)

    parts = (kinds for session, kinds in lessons.regret.items() if session not in without)
    return reduce(added, parts, Learned())
