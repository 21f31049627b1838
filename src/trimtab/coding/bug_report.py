"""A report for whoever mends Trimtab: what runs, what is configured, what happened last, and no word of the conversation.

doctor, settings, entries of the log ──▶ Markdown ──secrets, values of secret variables, the home folder──▶ replaced ──▶ a file that the person reads before sending it

The one rule: of messages, files and commands only kinds and sizes get in; error texts do, for they are what it is about.
"""

import os
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from trimtab.coding.check import Check
from trimtab.coding.settings.in_force import rows_of
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.settings_text import setting_lines
from trimtab.coding.telling.tables import shortened
from trimtab.coding.toolset import removed_variables
from trimtab.context.summary.redact import redact
from trimtab.types.codec import Entry
from trimtab.types.entries import MessageEntry
from trimtab.types.messages import Assistant, Message, ToolResult, User

if TYPE_CHECKING:
    from trimtab.coding.session import Session

_ENTRIES = 40
_ERRORS = 300
"""Characters of an error that are shown."""
_SHORTEST = 6
"""Characters from which on the value of a secret variable is replaced wherever it stands: shorter ones are words."""
_ADDRESS = re.compile(r"(?<=://)([^/\s\"'<>?#]+)[^\s\"'<>]*")
HEAD = """# Trimtab: a report

Read it before you send it: it should hold nothing that you don't want to show. Nothing was sent to anybody.

What I did, and what I expected:

"""


def report(session: "Session", checks: Sequence[Check]) -> str:
    """The report, as Markdown."""
    parts = (
        ("What runs", _facts(session)),
        ("Doctor", (f"{check.status}: {check.name}: {check.found}" for check in checks)),
        ("Settings", setting_lines([row for row in rows_of(session.project) if row.origin], origin=True)),
        (f"The last entries of the session (of {len(session.log.archive):,})", _entries(session)),
    )
    text = HEAD
    for title, lines in parts:
        body = "\n".join(one_line(line) for line in lines) or "none"
        text += f"## {title}\n\n```text\n{body.replace('```', '` ` `')}\n```\n\n"
    return without_secrets(text, session)


def without_secrets(text: str, session: "Session") -> str:
    """`text` without what opens doors: secrets by their looks and by their variables, paths of addresses, the name of the home folder."""
    project = session.project
    values = (project.env.get(name, "") for name in removed_variables(project))
    for value in sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True):
        text = text.replace(value, "[secret: variable]")
    text = _ADDRESS.sub(
        lambda found: found[1].rpartition("@")[2] + ("/…" if found[0] != found[1] else ""), redact(text)
    )
    home = project.env.get("HOME", "")
    for folder in sorted({home, os.path.realpath(home)} - {"", "/"}, key=len, reverse=True):
        text = text.replace(folder, "~")
    return text


def _facts(session: "Session") -> Iterator[str]:
    model = session.model
    yield f"model {model.ref} ({model.api}), window {model.context_window:,}, at most {model.max_output:,} out"
    yield f"policy {session.context.policy}, mode {session.permissions.policy.mode}, a turn runs: {session.busy}"
    yield f"tools: {', '.join(tool.spec.name for tool in session.agent.tools)}"
    yield f"the folder is trusted: {session.project.trusted}"


def _entries(session: "Session") -> Iterator[str]:
    for entry in list(session.log.archive.path())[-_ENTRIES:]:
        yield f"{entry.time} {entry.type}{_what(entry)}"


def _what(entry: Entry) -> str:
    value = entry.value
    return f" {_message(value.message)}" if isinstance(value, MessageEntry) else ""


def _message(message: Message) -> str:
    """What kind of message, how large, and what went wrong with it."""
    match message:
        case User():
            return f"user ({message.origin}), {len(message.parts)} parts"
        case Assistant():
            calls = ", ".join(call.name for call in message.tool_calls)
            error = message.error
            said = f", error {error.kind} {error.status or ''} {shortened(error.message, _ERRORS)}" if error else ""
            return f"assistant, {len(message.text):,} characters, {message.stop_reason}{f', calls {calls}' if calls else ''}{said}"
        case ToolResult():
            return f"result of {message.tool_name}, {len(message.text):,} characters{', failed' if message.is_error else ''}"
        case _:
            assert_never(message)
