"""Decisions of the lab as pieces: what a policy chose in a story, written as the calls with which a model would have done it.

    episode at a decision ──scene──▶ Scene (the request, and how things stand) ──act──▶ edits
                                        └──────────── + actions, edits ──piece──▶ Piece: prompt, one answer of calls

Two ways to write an action. `grammar`: each is a call of the one tool `manage_context`, with the fields of docs/actions.md; nothing is lost. `pilot`: the tools that a model has under `context.tools = "pilot"`;
`compact`, `offload` and `restate` have none there, so a decision with one of them gives no piece. What a policy does by leaving everything as it is, a model does by going on with its work: then the answer is that of the story.

The model reads what the policy saw, behind the request: sizes and ages as `context_status` tells them. The story's own tools aren't known and are left out.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import msgspec

from trimtab.context.actions import ACTIONS, Action
from trimtab.context.markers import hides
from trimtab.context.seeing.observation import Observation
from trimtab.context.tools.archive import archive_spec
from trimtab.context.tools.context_status import status_text
from trimtab.context.tools.edit_context import edit_context_spec
from trimtab.lab.env.episode import Episode
from trimtab.lab.export.piece import Piece, Said
from trimtab.types.edits import Edit, Fold, Summarize
from trimtab.types.messages import Assistant, Message, Text, User
from trimtab.types.stream import make_call
from trimtab.types.tools import ToolSpec

Way: TypeAlias = Literal["grammar", "pilot"]
Call: TypeAlias = tuple[str, dict[str, Any]]
"""A tool and its arguments."""
MANAGE = ToolSpec(
    "manage_context",
    "Changes how items stand in your context before you go on; docs/actions.md says what each action does. Targets are names as the status lists them.",
    {
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": [name for name in ACTIONS if name != "keep"]},
            "targets": {"type": "array", "items": {"type": "string"}},
            "params": {"type": "object"},
        },
        "required": ["action"],
        "additionalProperties": False,
    },
)
"""The grammar of actions as one tool."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A decision as it is open: the request as it stands, what is seen of it, and what the story answers to it. `names`: of items, as the status lists them."""

    system: str
    messages: tuple[Message, ...]
    observation: Observation
    answer: Assistant
    names: Mapping[str, str]
    edits: int
    """Edits that the log had."""

    @classmethod
    def of(cls, episode: Episode) -> "Scene":
        """The decision that an episode is at. Raises `RuntimeError` where it is at none."""
        seen = episode.observation
        if seen is None:
            raise RuntimeError("nothing is to be decided: advance() first")
        player = episode.player
        names = {item.id: item.handle or item.call_id or item.id for item in seen.items}
        return cls(
            player.recording.system,
            player.log.view.messages(),
            seen,
            player.steps[episode.place].answer.message,
            names,
            len(player.edits),
        )


def piece_of(
    scene: Scene,
    actions: Sequence[Action],
    episode: Episode,
    *,
    way: Way = "grammar",
    log_prob: float | None = None,
    entropy: float | None = None,
) -> Piece | None:
    """Return the piece of a decision that was carried out in `episode`, in the very request of `scene`; None where `way` has no words for an action.

    Actions that the engine refused are written down all the same: they were what the policy wanted.
    """
    made = [entry.edit for entry in episode.player.edits[scene.edits :] if entry.author != "recovery"]
    calls = _WAYS[way](actions, scene, made)
    if calls is None:
        return None
    answer = _answer(calls) if calls else msgspec.structs.replace(scene.answer, usage=None)
    status = User((Text(status_text(scene.observation)),), origin="note")
    forced = sum(entry.author == "recovery" for entry in episode.player.edits[scene.edits :])
    return Piece(
        scene.system,
        tools_of(way),
        (*scene.messages, status),
        (Said(answer, trained=True),),
        scene.observation.used,
        episode.facts[-1].prompt if episode.facts else 0,
        first=scene.observation.step,
        forced_edits=forced,
        log_prob=log_prob,
        entropy=entropy,
    )


def _answer(calls: Sequence[Call]) -> Assistant:
    parts = [
        make_call(f"context-{n}", name, msgspec.json.encode(arguments, order="sorted").decode())
        for n, (name, arguments) in enumerate(calls, 1)
    ]
    return Assistant(tuple(parts), "tool_use")


def _grammar(actions: Sequence[Action], scene: Scene, _edits: Sequence[Edit]) -> list[Call] | None:
    return [
        ("manage_context", _filled(action=a.action, targets=_named(a, scene), params=a.params))
        for a in actions
        if a.action != "keep"
    ]


def _pilot(actions: Sequence[Action], scene: Scene, edits: Sequence[Edit]) -> list[Call] | None:
    """The calls, one for each target where the tool takes one; None for what no tool does."""
    calls: list[Call] = []
    for action in actions:
        if action.action == "keep":
            continue
        write = _PILOT.get(action.action)
        written = None if write is None else write(action, scene, edits)
        if written is None:
            return None
        calls += written
    return calls


def _archive(action: Action, scene: Scene, _edits: Sequence[Edit]) -> list[Call]:
    way = "archive" if action.action == "elide" else "unarchive"
    summary = action.params.get("summary")
    return [("archive", _filled(action=way, ids=_named(action, scene), summary=summary))]


def _fold(action: Action, scene: Scene, edits: Sequence[Edit]) -> list[Call] | None:
    """A fold, or (without a tail and matches) the passage that stays: up to the last line that it kept."""
    if action.params.get("tail") != 0:
        return _each(action, scene, {"match": action.params.get("keep")})
    kept = {target: text for edit in edits if isinstance(edit, Fold) for target, text in edit.texts.items()}
    calls: list[Call] = []
    for target in action.targets:
        last = _last_lines(kept.get(target, ""))
        if not last:
            return None
        calls.append(("edit_context", {"action": "truncate", "id": scene.names.get(target, target), "last": last}))
    return calls


def _last_lines(shown: str) -> str:
    """The end of what stands in front of the gap of a body that keeps its head: its last line, or as many as it takes to stand there only once."""
    body = shown.partition("\n")[2] if hides(shown) else shown
    lines = [line for line in body.splitlines() if not line.startswith("[… ")]
    kept = "\n".join(lines).rstrip()
    for at in range(len(lines) - 1, -1, -1):
        end = "\n".join(lines[at:]).strip()
        if end and kept.count(end) == 1:
            return end
    return ""


def _summary(action: Action, scene: Scene, edits: Sequence[Edit]) -> list[Call] | None:
    """The text that stands there now, whoever wrote it."""
    texts = {target: text for edit in edits if isinstance(edit, Summarize) for target, text in edit.texts.items()}
    calls: list[Call] = []
    for target in action.targets:
        text = texts.get(target, "")
        summary = (text.partition("\n")[2] if hides(text) else text).strip()
        if not summary:
            return None
        calls.append(
            ("edit_context", {"action": "summarize", "id": scene.names.get(target, target), "summary": summary})
        )
    return calls


def _each(action: Action, scene: Scene, more: Mapping[str, Any]) -> list[Call]:
    """An edit for each target."""
    name = {"drop": "delete"}.get(action.action, action.action)
    return [("edit_context", _filled(action=name, id=one, **more)) for one in _named(action, scene)]


def _truncate(action: Action, scene: Scene, _edits: Sequence[Edit]) -> list[Call]:
    return _each(action, scene, {"first": action.params.get("first"), "last": action.params.get("last")})


def _compress(action: Action, scene: Scene, _edits: Sequence[Edit]) -> list[Call]:
    return _each(action, scene, {"percent": round(100 * float(action.params.get("share", 0.3)))})


def _expire(action: Action, scene: Scene, _edits: Sequence[Edit]) -> list[Call]:
    return _each(action, scene, {"steps": action.params.get("after_steps")})


def _plainly(action: Action, scene: Scene, _edits: Sequence[Edit]) -> list[Call]:
    return _each(action, scene, {})


def _named(action: Action, scene: Scene) -> list[str]:
    return [scene.names.get(target, target) for target in action.targets]


def _filled(**fields: Any) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if value not in (None, "", [], {}, ())}


_Write: TypeAlias = Callable[[Action, Scene, Sequence[Edit]], list[Call] | None]
_PILOT: Mapping[str, _Write] = {
    "elide": _archive,
    "reload": _archive,
    "fold": _fold,
    "summarize": _summary,
    "truncate": _truncate,
    "compress": _compress,
    "expire": _expire,
    "drop": _plainly,
    "pin": _plainly,
    "unpin": _plainly,
}
_WAYS: Mapping[Way, Callable[[Sequence[Action], Scene, Sequence[Edit]], list[Call] | None]] = {
    "grammar": _grammar,
    "pilot": _pilot,
}


def tools_of(way: Way) -> tuple[ToolSpec, ...]:
    """Return the tools that a way of writing needs."""
    return (MANAGE,) if way == "grammar" else (archive_spec(), edit_context_spec())
