"""A saved session with its engine, and no model to ask: what `trimtab context` works on.

    SESSION ──find──▶ log ──fold──▶ view ─┐
    its last model, or another one ───────┴▶ engine ──what its answers reported──▶ counts ──▶ look, observation

A reader takes no lock and writes nothing. A writer goes through the session's log and the engine's plans, so that every check of a running session holds here too.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn, TypeVar

from msgspec import structs

from trimtab.coding.context.chosen import chosen_tools
from trimtab.coding.context.engine import build_engine, context_settings
from trimtab.coding.context.open import archive_beside
from trimtab.coding.context.tools import agent_tools
from trimtab.coding.instructions.instructions import Instructions
from trimtab.coding.logs import now, policy_of, session_folder
from trimtab.coding.models import resolve_model
from trimtab.coding.project import Project
from trimtab.coding.roles import configured_model
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import build_tools
from trimtab.context.asks import Answer, Ask, Failed, Record, Recorded, run_plan
from trimtab.context.cycle.look import Look
from trimtab.context.editing.limits import OWN_AUTHORS
from trimtab.context.engine import Engine
from trimtab.context.seeing.observation import Observation
from trimtab.context.stores.bodies import inflate
from trimtab.context.stores.log import SessionLog
from trimtab.context.stores.memories import Memories
from trimtab.context.stores.notes import MemoDict
from trimtab.context.tools.engine_host import EngineHost
from trimtab.context.window.fold import Fold
from trimtab.context.window.view import View
from trimtab.types.codec import Entry
from trimtab.types.entries import EditEntry, MessageEntry
from trimtab.types.errors import TrimtabError, UsageError
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelInfo, ModelRequest

T = TypeVar("T")
_LEARNED_FROM = 30
"""Answers, from the end, whose reported usage teaches the counter: older ones say nothing that these don't."""


@dataclass(slots=True)
class SavedContext:
    """An open session without an agent. `view` is what its next request would show; `request` is that request without its messages.

    `whole` gives a message its bodies back. `notes` are for a person.
    """

    project: Project
    log: SessionLog
    engine: Engine
    request: ModelRequest
    view: View
    whole: Callable[[Message], Message]
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Sequence[Entry]:
        """The entries of the branch in use, root first."""
        return self.log.archive.path()

    @property
    def policy(self) -> str:
        """The policy that decides: one named for this command, else the one that the session ran under, else, of a session that never ran, that of the settings."""
        named, archive = self.engine.policy_name, self.log.archive
        keys = ("context.policy", f"models.{self.engine.model.ref}.context.policy")
        if any(map(self.project.named_now, keys)):
            return named
        if archive.policy is not None:
            return archive.policy
        edits = (entry.value for entry in reversed(self.path) if entry.type == "edit")
        authors = (edit.author for edit in edits if isinstance(edit, EditEntry) and edit.author not in OWN_AUTHORS)
        decided = next((author for author in authors if author.startswith("policy:")), "")
        if decided:
            return decided.removeprefix("policy:")
        return policy_of(self.log) if _last_answered(self.path) else named

    def look(self) -> Look:
        """The next request, counted."""
        return self.engine.look(self.view, self.request)

    def observe(self) -> Observation:
        """The context as a policy would see it."""
        return self.engine.observe(self.look())

    def drive(self, plan: Generator[Ask, Answer, T]) -> T:
        """Run a plan of the engine to its end: what it records goes to the log, and nobody else is there to answer."""
        return run_plan(plan, self._answer)

    def _answer(self, ask: Ask) -> Answer:
        if not isinstance(ask, Record):
            return Failed("no model and no policy elsewhere is asked here")
        try:
            return Recorded(self.log.append(ask.values))
        except TrimtabError as problem:
            return Failed(problem.message)


@contextmanager
def open_saved(
    project: Project,
    ref: str,
    *,
    model: str | None = None,
    window: int | None = None,
    write: bool = False,
    takeover: bool = False,
) -> Iterator[SavedContext]:
    """Open the session that `ref` means; `write` takes its lock. `model` and `window` (tokens) stand in for those it was used with, and so do
    sizes of the model that are named for this command.

    Raises `UnknownSession`, `SessionLocked`, `SessionError`, `UnknownModel` or `ConfigError`.
    """
    folder = session_folder(project)
    file = folder.find(ref, str(project.cwd))
    log = folder.open(file, read_only=not write, takeover=takeover and write)
    try:
        bodies = folder.bodies_of(file)

        def whole(message: Message) -> Message:
            return inflate(message, bodies)

        project = _at_home(project, log.cwd)
        info, notes = _model_of(project, log, model)
        if window is not None:
            info = structs.replace(info, context_window=window)
        archive = archive_beside(log.path or file)
        engine = build_engine(project, log, info, archive=archive, now=lambda: now().timestamp())
        request = _request(project, engine)
        view = _learned(log.archive.path(), whole, engine, request)
        yield SavedContext(project, log, engine, request, view, whole, (*_damage(log), *notes))
    finally:
        log.close()


def _at_home(project: Project, folder: str) -> Project:
    """The project of the session's own folder, where that can still be entered."""
    if not folder or folder == str(project.cwd):
        return project
    try:
        return project.moved_to(Path(folder))
    except UsageError:
        return project


def _model_of(project: Project, log: SessionLog, asked: str | None) -> tuple[ModelInfo, tuple[str, ...]]:
    """The model to count for: the one asked for, else the one that the session used, known or not, else the configured one."""
    used = "/".join(log.archive.model) if log.archive.model is not None else _last_answered(log.archive.path())
    ref = asked or used or configured_model(project.settings)
    if ref is None:
        return ModelInfo("unknown", "unknown", "openai-chat"), (
            "nothing has answered in this session yet; --model says for which model to count",
        )
    try:
        found = resolve_model(project, ref)
    except UsageError as problem:
        if asked is not None:
            raise
        provider, _, model_id = ref.partition("/")
        info = _in_its_window(project, log, ModelInfo(provider, model_id, "openai-chat"))
        return info, (
            f"{problem.message}; counted with a window of {info.context_window:,} tokens (--window says otherwise)",
        )
    if found.model.ref != used:
        return found.model, found.notes
    info = _in_its_window(project, log, found.model)
    # Where nobody states a window, the first note is what would be assumed of it today: no news of a session that ran in another one.
    assumed = found.model.source == "default" and info.context_window != found.model.context_window
    return info, found.notes[1:] if assumed else found.notes


def _in_its_window(project: Project, log: SessionLog, info: ModelInfo) -> ModelInfo:
    """The model that the session used, with the sizes that it had then, unless this command names others."""
    window, output = log.archive.window, log.archive.max_output
    of_provider, of_model = f"providers.{info.provider}", f"models.{info.ref}"
    if window is None or any(
        map(project.named_now, (f"{of_provider}.context_window", f"{of_model}.context_window", f"{of_provider}.models"))
    ):
        return info
    return structs.replace(info, context_window=window, max_output=output or info.max_output)


def _last_answered(path: Sequence[Entry]) -> str | None:
    for entry in reversed(path):
        answer = _answer_in(entry)
        if answer is not None and answer.model:
            return f"{answer.provider}/{answer.model}"
    return None


def _answer_in(entry: Entry) -> Assistant | None:
    if b'"assistant"' not in entry.raw:
        return None
    value = entry.value
    message = value.message if isinstance(value, MessageEntry) else None
    return message if isinstance(message, Assistant) else None


def _request(project: Project, engine: Engine) -> ModelRequest:
    """The next request without messages: today's system prompt and tools, for a session doesn't keep those of then."""
    host = EngineHost(
        engine=engine,
        view=View,
        request=lambda: ModelRequest(engine.model, ()),
        drive=_refuse_to_drive,
        memos=MemoDict(now=now),
        memories=Memories(None, now=now, redact=lambda text: text),
    )
    own = build_tools(project, PrivateFolder(), images="image" in engine.model.input)
    tools = (*own, *agent_tools(chosen_tools(context_settings(project, engine.model), project.settings.tools), host))
    instructions = Instructions(project)
    instructions.refresh()
    system = instructions.system(tools, window=engine.model.context_window)
    return ModelRequest(engine.model, (), system=system, tools=tuple(t.spec for t in tools))


def _refuse_to_drive(_plan: object) -> NoReturn:
    raise AssertionError("tools of a saved session are only described")


def _learned(path: Sequence[Entry], whole: Callable[[Message], Message], engine: Engine, request: ModelRequest) -> View:
    """Fold the path once more, and let the counter learn from what the model's last answers reported; return the view."""
    fold = Fold(whole)
    answers = [n for n, entry in enumerate(path) if _reports(_answer_in(entry), engine.model)]
    teaching = set(answers[-_LEARNED_FROM:])
    for number, entry in enumerate(path):
        answer = _answer_in(entry) if number in teaching else None
        if answer is not None:
            engine.tally.estimate(fold.view, request.system, request.tools)
            engine.tally.observe(answer)
        fold.add(entry)
    return fold.view


def _reports(answer: Assistant | None, model: ModelInfo) -> bool:
    return (
        answer is not None
        and answer.usage is not None
        and (answer.provider, answer.model) == (model.provider, model.id)
    )


def _damage(log: SessionLog) -> tuple[str, ...]:
    if not log.damage:
        return ()
    places = "1 damaged place" if len(log.damage) == 1 else f"{len(log.damage)} damaged places"
    return (f"{places} in {log.path} read around; nothing readable is lost",)
