"""The composition root: a session is a log, a model, tools and a loop, wired together.

    flags → Project → open_session ── choose the log ── resolve the model ── build the tools ── Agent ── Session

This is the only module that knows all siblings.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import anyio

from trimtab.agent.feed import Feed
from trimtab.agent.ports import Hooks, Provider, Tool
from trimtab.agent.run import Agent
from trimtab.coding.checkpoints.open import open_checkpoints
from trimtab.coding.checkpoints.recorder import looked_at_last
from trimtab.coding.choose import Choice
from trimtab.coding.closing import Closers, Ending
from trimtab.coding.context.ahead import Start
from trimtab.coding.context.marker_guard import MarkerGuard
from trimtab.coding.context.open import open_context
from trimtab.coding.context.own_policy import OwnPolicy
from trimtab.coding.extensions.acting import Acting
from trimtab.coding.extensions.open import open_extensions
from trimtab.coding.guard import workspace_of
from trimtab.coding.instructions.hooks import InstructionHooks
from trimtab.coding.instructions.section import Section
from trimtab.coding.jobs.open import close_jobs, open_jobs
from trimtab.coding.kit import Kit, make_kit, thinking_of, touched
from trimtab.coding.limits import limits_of, require_price
from trimtab.coding.logs import forget_empty, now, open_log, outputs_beside, writes_at_once
from trimtab.coding.mcp.open import open_mcp
from trimtab.coding.output_schema import SchemaCloser, prompt_section
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.project import Project
from trimtab.coding.role_models import Roles, role_notes
from trimtab.coding.sdk.hooks import around
from trimtab.coding.services import services
from trimtab.coding.session import Session
from trimtab.coding.trust.question import settle_trust
from trimtab.coding.under import Under, hooks_under
from trimtab.coding.verify.open import open_verifier

PATIENCE_S = 60.0
"""How long the agent waits for a watcher that takes nothing more before it gives it up, in seconds."""


@asynccontextmanager
async def open_session(
    project: Project,
    choice: Choice,
    *,
    takeover: bool = False,
    provider: Provider | None = None,
    extra_tools: tuple[Tool, ...] = (),
    person: Person = NOBODY,
    output_schema: Mapping[str, Any] | None = None,
    parse_output: Callable[[Any], Any] | None = None,
    hooks: Hooks | None = None,
    policy: "OwnPolicy | None" = None,
    start: Start | None = None,
    under: Under | None = None,
) -> AsyncIterator[Session]:
    """Open (or begin) the session that `choice` means, ready for a prompt. `provider` replaces the configured one; `person` is who can be asked,
    first of all whether the folder in which the session goes on is trusted; the last answer of a turn has to fit `output_schema` (a JSON schema), and what `parse_output` makes of it.
    `hooks` look at each call before ours do; `policy` decides about the context in place of the one that settings name.
    `start` lends the task group in which what runs beside the session lives (`services.py` says who has to); `under`: it works for another session, by whose rules.

    Raises `UnknownSession`, `SessionLocked`, `SessionError`, `UnknownModel` or `ConfigError`; then nothing was written.
    """
    async with AsyncExitStack() as stack:
        beside = await stack.enter_async_context(services(start))
        hooks = under.hooks if under else hooks
        # A new file is made only once nothing else can fail; an existing one says which model it used.
        early = writes_at_once(choice, project)
        equip = partial(_equipped, stack=stack, provider=provider, extra=extra_tools, person=person, under=under)
        equipped = await equip(project, None) if early else None
        project = equipped.project if equipped else project
        opened = await anyio.to_thread.run_sync(lambda: open_log(project, choice, takeover=takeover))
        log, project = opened.log, opened.project
        stack.callback(log.close)
        if equipped is None:
            equipped = await equip(project, opened.model_ref)
            project = equipped.project
        kit, extensions = equipped.kit, equipped.extensions
        if early:
            stack.callback(forget_empty, log)
        kit.outputs.path = outputs_beside(log.path) if log.path else None
        context = await anyio.to_thread.run_sync(
            lambda: open_context(project, log, kit.model.info, stack, policy=policy)
        )
        context.tools = tuple(tool for tool in context.tools if kit.allows(tool.spec.name))
        mcp, of_servers = (under.mcp, ()) if under else await open_mcp(project, kit, beside, person)
        tools = (*kit.tools_for(kit.model.info), *context.tools)
        require_price(project.settings, kit.model.info)
        roles, book = Roles(project, stack), context.transcript.book
        checkpoints, recorder = None, hooks_under(under, kit.hooks, log)
        if under is None:
            keep = partial(open_checkpoints, may_change=kit.permissions.may_change_files)
            checkpoints = await anyio.to_thread.run_sync(keep, project, log, kit.hooks, stack)
            recorder = checkpoints.recorder if checkpoints else kit.hooks
        verifier = open_verifier(
            project,
            kit.hooks,
            kit.confiner,
            kit.outputs,
            log,
            partial(book, role="review"),
            stack,
            models=roles.named,
            checkpoints=checkpoints,
        )
        closing = Ending(verifier, SchemaCloser(output_schema, parse_output) if output_schema is not None else None)
        instructions = kit.instructions
        if under is not None:
            instructions.more.append(under.sections)
        told = await anyio.to_thread.run_sync(instructions.begin, lambda: touched(log, workspace_of(project)))
        if closing.schema is not None:
            instructions.last = (Section("schema", "--output-schema", prompt_section(closing.schema.schema)),)
        judged = InstructionHooks(
            MarkerGuard(recorder, context.refuse),
            instructions,
            workspace_of(project),
        )
        guarded = kit.refusals.around(extensions.around(judged, log, person))
        agent = Agent(
            kit.model.provider,
            model=kit.model.info,
            system=instructions.system(tools, window=kit.model.info.context_window),
            tools=tools,
            transcript=context.transcript,
            parked={p.call_id: p.question for p in log.parked},
            seen=await anyio.to_thread.run_sync(log.call_ids),
            hooks=mcp.carried(looked_at_last(around(hooks, guarded), recorder)),
            feed=Feed(now=lambda: now().timestamp(), patience_s=PATIENCE_S),
            thinking=thinking_of(project, opened, kit.model),
            max_steps=project.settings.max_steps,
            session_id=log.header.id,
            limits=limits_of(project.settings),
            closer=Closers([c for c in (closing.verifier, closing.schema) if c is not None and under is None]),
        )
        context.attach(agent)
        afford = verifier.afford = lambda: agent.allowance.check(context.transcript.unsettled())
        if eyes := roles.of("vision"):
            from trimtab.coding.vision import SeenTranscript  # noqa: PLC0415 - few sessions have one

            agent.transcript = SeenTranscript(context.transcript, eyes, afford)
        left = await open_jobs(kit.jobs, agent, log, beside) if under is None else ()
        await extensions.begin(agent, log, person)
        context.transcript.around = extensions.transcript_hooks()
        instructions.more.append(extensions.sections)
        stack.callback(agent.feed.close)
        stack.push_async_callback(beside.aclose)  # what runs beside ends first: it may still have something to say
        if extensions.listens:
            beside.run(extensions.listening(agent.feed, beside.closing))
        stack.push_async_callback(extensions.end)
        if under is None:
            stack.push_async_callback(close_jobs, kit.jobs, agent)
        told = (*of_servers, *told, *left, *extensions.take_notices())
        once = (*project.notices, *role_notes(project, kit.model.info))
        notices = (*opened.notices, *kit.model.notes, *told)
        yield Session(
            project,
            log,
            agent,
            kit,
            context,
            stack,
            beside,
            extensions,
            mcp,
            notices=notices,
            once=once,
            closing=closing,
            roles=roles,
            checkpoints=checkpoints,
            moved=opened.moved,
            under=under,
            hooks=hooks,
        )


@dataclass(frozen=True, slots=True)
class _Equipped:
    """A project as it is once trust is settled, what acts in it, and what a session in it needs."""

    project: Project
    extensions: Acting
    kit: Kit


async def _equipped(
    project: Project,
    ref: str | None,
    *,
    stack: AsyncExitStack,
    provider: Provider | None,
    extra: tuple[Tool, ...],
    person: Person,
    under: Under | None,
) -> _Equipped:
    """Settle trust, load what acts, and make the kit; `ref` is the model that the session used. All of it is settled for one that works `under` another."""
    if under is not None:
        extensions = under.acting.beneath(under.agent.name)
        lent = {tool.spec.name for tool in extra}
        # Those of extensions see the session that calls them.
        tools = (*(tool for tool in extensions.tools if tool.spec.name in lent), *extra)
    else:
        project = await settle_trust(project, person)
        project, extensions = await open_extensions(project, person, stack)
        tools = (*extra, *extensions.tools)
    kit = await make_kit(project, ref, stack, provider=provider, extra=tools, person=person, under=under)
    return _Equipped(project, extensions, kit)
