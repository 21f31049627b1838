"""A report for whoever mends Trimtab: what runs, what is configured, what happened last, and no word of the conversation.

doctor, settings, entries of the log ──secrets by their looks, those of variables, settings and logins, the home folder──▶ replaced ──▶ Markdown ──▶ a file that the person reads before sending it

The one rule: of messages, files and commands only kinds and sizes get in; error texts do, for they are what it is about.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, assert_never

from trimtab.coding.check import Check
from trimtab.coding.mcp.logins import FileLogins
from trimtab.coding.project import Project
from trimtab.coding.settings.in_force import rows_of
from trimtab.coding.telling.printable import one_line
from trimtab.coding.telling.settings_text import setting_lines
from trimtab.coding.telling.tables import shortened
from trimtab.coding.toolset import removed_variables
from trimtab.config.auth_file import KeyLogin, RingLogin, TokenLogin, read_auth
from trimtab.config.in_force import Row, secret_values
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
"""Characters from which on a secret is replaced wherever it stands: shorter ones are words."""
_ADDRESS = re.compile(r"(?<=://)([^/\s\"'<>?#]+)[^\s\"'<>]*")
_OPTION = re.compile(
    r"""(?P<name> (?<![\w-])--?[\w-]{0,40}?(?:key|token|secret|passw(?:or)?d|pass(?:phrase)?|pwd|auth|credential)s?(?:=|["']?,?\s+)["']?
               | (?<!\S)["']?(?:-u|--user|--proxy-user)["']?,?[\s=]+["']?[^\s:"',]{1,64}: )  [^\s"',\[\]-][^\s"',\[\]]* """,
    re.I | re.X,
)
"""An option of a command whose value is a secret, as words and as a list of them."""
_NAMED = re.compile(
    r"""(?P<name> (?<!\[) (?: \b(?:proxy-)?authorization | \b(?:set-)?cookie | \b(?:[\w-]{0,40}[-_])?(?:api-?key|auth-token|secret|passw(?:or)?d|passphrase|pwd(?!=[/~])) )
                  \\{0,3}["']? (?: \s?:\s{0,3} | = ) \\{0,3}["']? )
        (?! \[secret: | (?:str(?:ing)?|text|null|none|true|false|required|missing|wrong|invalid|not|no|is|the|a)\b | (?:basic|bearer|token|digest|apikey)\s ) [^\s"'\\,;{}()\[\]$<]{1,2000} (?![(\[.]) """,
    re.I | re.X,
)
"""A header or a field that is named like a secret, whatever its value looks like."""
HEAD = """# Trimtab: a report

Read it before you send it: it should hold nothing that you don't want to show. Nothing was sent to anybody.

What I did, and what I expected:

"""


def report(session: "Session", checks: Sequence[Check]) -> str:
    """The report, as Markdown."""
    hide = Hiding(session.project)
    parts = (
        ("What runs", _facts(session)),
        ("Doctor", (f"{check.status}: {check.name}: {check.found}" for check in checks)),
        ("Settings", setting_lines(_shown(rows_of(session.project)), origin=True)),
        (f"The last entries of the session (of {len(session.log.archive):,})", _entries(session, hide)),
    )
    text = HEAD
    for title, lines in parts:
        body = "\n".join(hide(one_line(line)) for line in lines) or "none"
        text += f"## {title}\n\n```text\n{body.replace('```', '` ` `')}\n```\n\n"
    return text


def _shown(rows: Sequence[Row]) -> Iterator[Row]:
    """What somebody set, without the arguments of servers: they stand behind their command in the doctor's line, which says what an option means."""
    return (row for row in rows if row.origin and not (row.key[:2] == ("mcp", "servers") and row.key[-1] == "args"))


class Hiding:
    """Takes out of a text what opens doors: secrets by their looks, by their variables, settings and logins, paths of addresses, the name of the home folder."""

    def __init__(self, project: Project) -> None:
        values = {piece for value in _secrets(project) for piece in _pieces(value)}
        self._values = sorted({v for v in values if len(v) >= _SHORTEST}, key=len, reverse=True)
        home = project.env.get("HOME", "")
        self._homes = sorted({home, os.path.realpath(home)} - {"", "/"}, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without them. Call it on the whole text: what is cut first is no longer known."""
        for value in self._values:
            text = text.replace(value, "[secret]")
        text = redact(_ADDRESS.sub(_host_alone, text))  # in this order: what redacting puts in ends an address
        for named in (_OPTION, _NAMED):
            text = named.sub(lambda found: f"{found['name']}[secret: value]", text)
        for folder in self._homes:
            text = text.replace(folder, "~")
        return text


def _secrets(project: Project) -> Iterator[str]:
    """What is secret here, wherever it stands."""
    yield from (project.env.get(name, "") for name in removed_variables(project))
    for login in read_auth(project.home.auth_file).logins.values():
        match login:
            case KeyLogin():
                yield login.api_key
            case TokenLogin():
                yield from (login.access_token, login.refresh_token)
            case RingLogin():
                pass  # it lies elsewhere, and asking may ask the person
            case _:
                assert_never(login)
    yield from FileLogins(project.home.mcp_logins).secrets()
    yield from secret_values(project.loaded)


def _pieces(value: str) -> tuple[str, ...]:
    """A secret as it may be repeated: whole, within a line, a line of it, or without the word before it, such as `Bearer`."""
    return (value, one_line(value), *value.splitlines(), value.rpartition(" ")[2])


def _host_alone(found: re.Match[str]) -> str:
    return found[1].rpartition("@")[2] + ("/…" if found[0] != found[1] else "")


def _facts(session: "Session") -> Iterator[str]:
    model = session.model
    yield f"model {model.ref} ({model.api}), window {model.context_window:,}, at most {model.max_output:,} out"
    yield f"policy {session.context.policy}, mode {session.permissions.policy.mode}, a turn runs: {session.busy}"
    yield f"tools: {', '.join(tool.spec.name for tool in session.agent.tools)}"
    yield f"the folder is trusted: {session.project.trusted}"


def _entries(session: "Session", hide: Callable[[str], str]) -> Iterator[str]:
    for entry in list(session.log.archive.path())[-_ENTRIES:]:
        yield f"{entry.time} {entry.type}{_what(entry, hide)}"


def _what(entry: Entry, hide: Callable[[str], str]) -> str:
    value = entry.value
    return f" {_message(value.message, hide)}" if isinstance(value, MessageEntry) else ""


def _message(message: Message, hide: Callable[[str], str]) -> str:
    """What kind of message, how large, and what went wrong with it."""
    match message:
        case User():
            return f"user ({message.origin}), {len(message.parts)} parts"
        case Assistant():
            calls = ", ".join(call.name for call in message.tool_calls)
            error = message.error
            said = (
                f", error {error.kind} {error.status or ''} {shortened(hide(error.message), _ERRORS)}" if error else ""
            )
            return f"assistant, {len(message.text):,} characters, {message.stop_reason}{f', calls {calls}' if calls else ''}{said}"
        case ToolResult():
            return f"result of {message.tool_name}, {len(message.text):,} characters{', failed' if message.is_error else ''}"
        case _:
            assert_never(message)
