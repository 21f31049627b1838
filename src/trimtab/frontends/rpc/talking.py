"""What a client says to the agent, or has it do: prompts, steering, commands, the person's own command lines.

message ─▶ a template or skill, filled in ─┐
         ─▶ a command of ours ─▶ run       ├─▶ a turn, or a word to the running one
         ─▶ any other text ────────────────┘      with the pictures that came along
"""

import base64
import binascii
from collections.abc import Sequence
from functools import partial

import anyio

from trimtab.agent.ports import ToolOutput
from trimtab.agent.run import AgentBusy
from trimtab.coding.attachments import unseen_pictures
from trimtab.coding.commands.registry import commands_of, parse, run_command
from trimtab.coding.commands.saying import Said, expand, prompt
from trimtab.coding.own_command import run_own
from trimtab.coding.session import Session
from trimtab.coding.tools.fitting import NoFit, fitted
from trimtab.coding.tools.images import BadImage
from trimtab.coding.toolset import caps_of
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Answer, Call
from trimtab.frontends.rpc.desk import WAIT, hearing, queued, record
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.values import Json
from trimtab.types.errors import UsageError
from trimtab.types.messages import Image, Text, User
from trimtab.types.text import scrub

_PICTURES = 100
_QUEUED = 1_000
"""Messages that may wait for a turn."""
_QUEUED_BYTES = 32 << 20
"""Bytes of them, about. A client is told of all of them at each change."""


async def say(host: Host, request: verbs.Prompt, call: Call) -> Answer:
    """Say it, or run it."""
    desk = host.desk
    if desk.ending:
        await desk.idle()
    said = await _said(host.session, request.message, request.images or ())
    if said is None:
        return {"disposition": await _run(host, request.message)}
    if not desk.working:
        desk.work(partial(prompt, host.session, said))
        return {"disposition": "started"}
    if not desk.in_turn:
        raise AgentBusy("the context is being worked on", hint=WAIT)
    match request.streaming_behavior:
        case "steer":
            await _steer(host, said)
        case "followUp":
            await _follow_up(host, said)
        case None:
            raise AgentBusy(
                "the agent is busy", hint='Say whether to steer it: "streamingBehavior": "steer" or "followUp".'
            )
    return {"disposition": "queued"}


async def steer(host: Host, request: verbs.Steer, call: Call) -> Answer:
    """Tell the running turn."""
    await _steer(host, await _words(host.session, request))
    return {"disposition": "queued"}


async def follow_up(host: Host, request: verbs.FollowUp, call: Call) -> Answer:
    """Say it when the turn is done."""
    await _follow_up(host, await _words(host.session, request))
    return {"disposition": "queued"}


async def abort(host: Host, request: verbs.Abort, call: Call) -> Answer:
    """Stop what runs."""
    host.stop_job()
    if host.open is not None:
        host.desk.interrupt()
        await host.desk.idle()
    return None


async def abort_retry(host: Host, request: verbs.AbortRetry, call: Call) -> Answer:
    """Stop waiting for another try."""
    if host.stream.retrying and host.session.busy:
        host.session.cancel()
    return None


async def clear_queue(host: Host, request: verbs.ClearQueue, call: Call) -> Answer:
    """Take back what is queued."""
    told = queued(host.session)
    host.session.agent.inbox.recall()
    host.put({"type": "queue_update", **queued(host.session)})
    return told


async def answer_call(host: Host, request: verbs.AnswerCall, call: Call) -> Answer:
    """Answer a parked call."""
    if request.call_id not in host.session.agent.parked:
        waiting = ", ".join(host.session.agent.parked) or "none"
        raise UsageError(f"no call {request.call_id[:100]!r} waits for an answer", hint=f"Waiting: {waiting}.")
    host.desk.answer(request.call_id, scrub(request.text))
    return {"disposition": "started"}


async def run_line(host: Host, request: verbs.RunCommand, call: Call) -> Answer:
    """Run a slash command; answer with what it said, once it is done."""
    desk, before = host.desk, host.desk.begun
    with hearing() as heard:
        disposition = await _run(host, request.line)

    def told() -> Json:
        return {"disposition": disposition, "output": "\n".join(heard)}

    if desk.begun == before or disposition == "started":
        return told()
    call.later = True

    async def wait() -> None:
        await desk.idle()
        call.answer(told())

    host.start(wait)
    return None


async def _run(host: Host, line: str) -> str:
    """Run the command that `line` is, and say what became of it. Raises `UsageError` for what is none."""
    session, desk = host.session, host.desk
    command = parse(line.rstrip(), commands_of(session))
    if command is None:
        raise UsageError(f"{line[:100]!r} is no command", hint="One begins with /; /help lists them.")
    turns, waiting = desk.turns, queued(session)
    await run_command(desk, *command)
    if desk.turns > turns:
        return "started"
    if queued(session) != waiting:
        host.put({"type": "queue_update", **queued(session)})
        return "queued"
    return "handled"


async def _said(session: Session, message: str, images: Sequence[verbs.Picture]) -> Said | None:
    """What the model is to hear; None for a command that says nothing to it. Raises `UsageError`."""
    pictures = await anyio.to_thread.run_sync(_pictures, images, session)
    said = await anyio.to_thread.run_sync(expand, message, session)
    if said is not None:
        for note in said.notes:
            await session.tell(note)
        return Said((*said.parts, *pictures), said.skill)
    if parse(message.rstrip(), commands_of(session)) is not None:
        if pictures:
            raise UsageError("a command takes no pictures", hint="Send them with a prompt.")
        return None
    if not message.strip() and not pictures:
        raise UsageError("there is no prompt", hint="Send some words, or a picture.")
    return Said((*((Text(scrub(message)),) if message.strip() else ()), *pictures))


async def _words(session: Session, request: verbs.Steer | verbs.FollowUp) -> Said:
    said = await _said(session, request.message, request.images or ())
    if said is None:
        raise UsageError("a command isn't queued", hint="Send it as a prompt.")
    return said


async def _steer(host: Host, said: Said) -> None:
    session = host.session
    _require_room(session)
    if said.skill is not None:
        session.instructions.load(said.skill, running=session.busy)
    await _tell_unseen(session, said)
    session.steer(User(said.parts, origin="steering", typed=said.typed))
    host.put({"type": "queue_update", **queued(session)})


async def _follow_up(host: Host, said: Said) -> None:
    session = host.session
    _require_room(session)
    await _tell_unseen(session, said)
    session.agent.follow_up(User(said.parts, origin="follow_up", typed=said.typed))
    host.put({"type": "queue_update", **queued(session)})


def _require_room(session: Session) -> None:
    inbox = session.agent.inbox
    if len(inbox.steering) + len(inbox.follow_ups) >= _QUEUED:
        raise AgentBusy(f"{_QUEUED:,} messages wait already", hint="clear_queue takes them back.")
    waiting = sum(map(_size, (*inbox.steering, *inbox.follow_ups)))
    if waiting > _QUEUED_BYTES:
        raise AgentBusy(f"messages of {waiting:,} bytes wait already", hint="clear_queue takes them back.")


def _size(message: User) -> int:
    return sum(len(part.text) if isinstance(part, Text) else len(getattr(part, "data", "")) for part in message.parts)


async def _tell_unseen(session: Session, said: Said) -> None:
    if note := unseen_pictures(User(said.parts), session.model):
        await session.tell(note)


def _pictures(images: Sequence[verbs.Picture], session: Session) -> tuple[Image, ...]:
    """Pictures by their bytes. Raises `UsageError` for what no model could take: in the history it would break every later request."""
    if len(images) > _PICTURES:
        raise UsageError(f"{len(images):,} pictures are too many", hint=f"At most {_PICTURES} a message.")
    caps = caps_of(session.project.settings.tools)
    found = []
    for number, image in enumerate(images, 1):
        try:
            data = base64.b64decode(image.data, validate=True)
            shown = fitted(data, caps)
        except (binascii.Error, ValueError):
            raise UsageError(
                f"picture {number}: its data isn't base64", hint="Send the bytes of the file as base64."
            ) from None
        except BadImage as e:
            raise UsageError(f"picture {number}: {e}", hint="Models take PNG, JPEG, GIF and WebP.") from None
        except NoFit as e:
            raise UsageError(f"picture {number}: {e}", hint="Make it smaller.") from None
        code = image.data if shown.data is data else base64.b64encode(shown.data).decode()
        found.append(Image(shown.info.media_type, code, width=shown.info.width, height=shown.info.height))
    return tuple(found)


async def bash(host: Host, request: verbs.Bash, call: Call) -> Answer:
    """Run a command of the person's own; what it printed joins the conversation."""
    session, desk = host.session, host.desk
    name = {} if call.asked.id is None else {"id": call.asked.id}

    async def update(text: str) -> None:
        host.put({"type": "bash_execution_update", **name, "delta": text})
        await host.outbox.room()

    command = scrub(request.command)
    output: ToolOutput | None = None
    scope = anyio.CancelScope()
    desk.commands.add(scope)
    try:
        with scope:
            output = await run_own(session, command, shared=False, update=update)
    finally:
        desk.commands.discard(scope)
    result = _bash_result(output)
    if not request.exclude_from_context:
        note = User((Text(scrub(f"I ran a command myself:\n$ {command}\n{result['output']}")),), origin="command")
        if not desk.note(note):
            await record(session, [note], host.put)
    return result


def _bash_result(output: ToolOutput | None) -> Json:
    """What came of it; None: it was stopped."""
    if output is None:
        return {"output": "(stopped)", "cancelled": True, "truncated": False}
    details = output.details or {}
    text = "".join(part.text for part in output.parts if isinstance(part, Text))
    file = details.get("output_file")
    code = details.get("exit_code")
    return {
        "output": text,
        **({"exitCode": code} if code is not None else {}),
        "cancelled": False,
        "truncated": output.cut is not None,
        **({"fullOutputPath": file} if file else {}),
    }


async def abort_bash(host: Host, request: verbs.AbortBash, call: Call) -> Answer:
    """Stop the person's own commands."""
    for scope in tuple(host.desk.commands):
        scope.cancel()
    return None
