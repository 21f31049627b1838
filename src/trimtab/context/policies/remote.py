"""`remote`: a policy that lives behind a URL. It only says where; the engine asks whoever drives it (`Consult`), and judges the answer.

observation ──Consult──▶ driver ──JSON of `Observation`──▶ server ──JSON of `Answered`──▶ Advice ──▶ judged like any policy's word
"""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec
from msgspec.structs import replace

from trimtab.context.actions import Action
from trimtab.context.policies.base import Policy, unwrap
from trimtab.context.seeing.observation import Observation
from trimtab.context.summary.redact import redact
from trimtab.types.text import scrub


@dataclass(frozen=True, slots=True)
class Remote:
    """Decides elsewhere. `url` is asked within `timeout_s` seconds; without one, the server that the driver knows, in the driver's time."""

    url: str = ""
    timeout_s: float = 5.0
    name: str = "remote"

    def decide(self, observation: Observation) -> Sequence[Action]:
        """Return nothing: without somebody who can reach the server there is no answer."""
        return ()


class Answered(msgspec.Struct, frozen=True):
    """What a server answers: the actions it wants, each as `Action` is written. Other fields are ignored."""

    actions: list[Any]


def remote_of(policy: Policy) -> Remote | None:
    """Return the remote policy in the middle of `policy`, if it is one."""
    core, _ = unwrap(policy)
    return core if isinstance(core, Remote) else None


def question_of(observation: Observation) -> bytes:
    """Return what a server is asked: the observation as JSON, fields that have their default left out.

    Nobody's words but the goal go out, and no secret in it: what a call asked for is a hash (equal calls stay equal), and of the last actions only kind and targets are told.
    """
    items = tuple(
        replace(item, resource=_hashed(item.resource)) if item.resource else item for item in observation.items
    )
    last = tuple(Action(done.action, done.targets) for done in observation.last_actions)
    goal = scrub(redact(observation.goal))
    return msgspec.json.encode(replace(observation, items=items, last_actions=last, goal=goal))


def actions_in(body: bytes) -> tuple[object, ...] | str:
    """Return the actions in a server's answer, unjudged, or why there are none. Never raises."""
    try:
        return tuple(msgspec.json.decode(body, type=Answered).actions)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as problem:
        return f'the answer is not {{"actions": […]}}: {problem or type(problem).__name__}'


def _hashed(resource: str) -> str:
    """A call without its arguments, which may be a whole script; a file stays as it is."""
    if not resource.startswith("call:"):
        return scrub(resource)
    name, _, arguments = resource.partition("(")
    return f"{scrub(name)}#{sha256(arguments.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
