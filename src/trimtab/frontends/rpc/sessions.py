"""The sessions there are, for a client that lets a person choose; and putting one away."""

import anyio

from trimtab.coding.logs import session_folder
from trimtab.coding.project import Project
from trimtab.coding.session_list import Row, list_sessions
from trimtab.frontends.rpc import verbs
from trimtab.frontends.rpc.call import Answer, Call
from trimtab.frontends.rpc.host import Host
from trimtab.frontends.rpc.values import Json
from trimtab.types.text import scrub


async def sessions(host: Host, request: verbs.Sessions, call: Call) -> Answer:
    """List them, and say which files can't be read."""
    return await anyio.to_thread.run_sync(_listed, host.session.project, request)


def _listed(project: Project, request: verbs.Sessions) -> Json:
    rows, notes = list_sessions(project, everywhere=request.everywhere, archived=request.archived)
    return {"sessions": [_row(row) for row in rows], "notes": [scrub(note) for note in notes]}


async def archive(host: Host, request: verbs.ArchiveSession, call: Call) -> Answer:
    """Put one away, or take it back."""
    return await anyio.to_thread.run_sync(_archived, host.session.project, request)


def _archived(project: Project, request: verbs.ArchiveSession) -> Json:
    folder = session_folder(project)
    path = folder.find(request.session, str(project.cwd))
    return {"changed": folder.set_archived(path, archived=request.archived), "sessionFile": scrub(str(path))}


def _row(row: Row) -> Json:
    s = row.summary
    return {
        "sessionId": s.id,
        "sessionFile": scrub(str(s.path)),
        "title": s.title,
        "prompt": s.prompt,
        "model": s.model,
        "cwd": scrub(s.cwd),
        "created": s.created,
        "modifiedAt": round(s.modified.timestamp() * 1000),
        "entries": s.entries,
        "tokens": s.tokens,
        "cost": row.cost_usd,
        "ended": s.ended,
        "archived": s.archived,
        **({"parentSession": s.parent_session} if s.parent_session else {}),
    }
