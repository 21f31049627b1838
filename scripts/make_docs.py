"""Write the reference pages that say what the code says; `--check` only compares, and shows what differs.

    structs, docstrings, click options, the catalogue ──▶ PAGES (whole pages) and BLOCKS (a table inside a written page)

A block stands between `<!-- generated: NAME -->` and `<!-- end -->`; everything outside it is written by hand.
"""

import argparse
import ast
import dataclasses
import difflib
import importlib
import inspect
import itertools
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any, get_args
from urllib.parse import urlsplit

import action_reference
import click
import msgspec
import session_format
from struct_tables import Field, code, doc, fields_of, spell, table

from trimtab.agent import events
from trimtab.coding.outcome import exit_code
from trimtab.config import settings
from trimtab.context.seeing.observation import ItemFacts, Observation, Prices
from trimtab.frontends.cli import app
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.frontends.cli.options import Flags
from trimtab.frontends.rpc.table import VERBS
from trimtab.providers import probe
from trimtab.providers.catalogue import Catalogue
from trimtab.providers.resolve import is_loopback
from trimtab.sessions.replay.report import Figures
from trimtab.types import config, errors

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
BLOCK = re.compile(r"(?P<begin><!-- generated: (?P<name>[a-z]+) -->\n).*?(?P<end><!-- end -->)", re.S)


def settings_page() -> str:
    """Every setting: key, type, default, variable, meaning."""
    tables: list[tuple[str, type[msgspec.Struct]]] = [
        ("", settings.Settings),
        ("providers.NAME", config.ProviderConfig),
        ("[providers.NAME.models]", config.ModelConfig),
        ("[providers.NAME.models.price_above]", config.PriceAbove),
        ("providers.NAME.oauth", config.OAuthConfig),
        ('models."PROVIDER/ID"', settings.ModelOverride),
        ("auth", settings.AuthSettings),
        ("roles", settings.RoleSettings),
        ("[roles.ROLE]", config.RoleModel),
        ("tools", settings.ToolSettings),
        ("tools.read", settings.ReadTool),
        ("tools.bash", settings.BashTool),
        *((f"tools.{name}", settings.SearchTool) for name in ("grep", "find", "ls")),
        ("tools.fetch", settings.FetchTool),
        ("permissions", settings.PermissionSettings),
        ('projects."PATH".permissions', settings.ProjectPermissions),
        ("sandbox", settings.SandboxSettings),
        ("context", settings.ContextSettings),
        ("instructions", settings.InstructionSettings),
        ("verify", settings.VerifySettings),
        ("sessions", settings.SessionSettings),
        ("[hooks.POINT]", settings.HookSettings),
        ("extensions", settings.ExtensionSettings),
        ("mcp", settings.McpSettings),
        ("mcp.servers.NAME", settings.McpServer),
        ("mcp.servers.NAME.oauth", settings.McpOAuth),
        ("checkpoints", settings.CheckpointSettings),
        ("jobs", settings.JobSettings),
        ("agents", settings.AgentSettings),
    ]
    return INTROS["settings"] + "\n".join(_settings_table(path, struct) for path, struct in tables)


def _settings_table(path: str, struct: type[msgspec.Struct]) -> str:
    title = f"## `[{path}]`" if path else "## Keys outside tables"
    fixed = path and path[0] != "[" and '"' not in path
    prefix = f"TRIMTAB_{path.upper().replace('.', '__')}__" if fixed else "" if path else "TRIMTAB_"
    preset = _preset(path) if fixed else None
    rows = []
    for field in fields_of(struct):
        if field.annotation != "RoleModels" and _is_table(struct, field):
            continue
        default = field.default
        if preset is not None:
            default = msgspec.json.encode(getattr(preset, field.name)).decode()
        variable = code(prefix and prefix + field.name.upper())
        shown = "" if default in ("null", "") else default
        rows.append((code(field.name), code(_toml_type(spell(field.annotation))), code(shown), variable, field.text))
    more = ""
    if path == "context":
        more = ' The same keys in `[models."PROVIDER/ID".context]` are for one model.'
    head = ("key", "type", "default", "variable", "")
    return f"{title}\n\n{doc(struct)}{more}\n\n{table(head, rows)}"


def _preset(path: str) -> Any:
    """The section at `path` of the settings that nobody touched; None where there is none."""
    value: Any = settings.Settings()
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value


def _is_table(struct: type[msgspec.Struct], field: Field) -> bool:
    """Whether a field of the settings has a table of its own."""
    kind = next(f.type for f in msgspec.structs.fields(struct) if f.encode_name == field.name)
    inner = [k for part in (kind, *get_args(kind)) for k in (part, *get_args(part))]
    return any(isinstance(k, type) and issubclass(k, msgspec.Struct) for k in inner)


def events_page() -> str:
    """Every event: its fields, and whether anything emits it."""
    text = INTROS["events"]
    for struct in get_args(events.Event):
        own = [f for f in fields_of(struct) if f.name not in ("seq", "time")]
        rows = [(code(f.name), code(spell(f.annotation)), code(f.default), f.text) for f in own]
        fields = table(("field", "type", "default", ""), rows) if rows else "No fields of its own.\n"
        unused = "" if _is_emitted(struct) else " Nothing in this version emits it."
        text += f"\n## `{struct.__struct_config__.tag}`\n\n{doc(struct)}{unused}\n\n{fields}"
    kinds = ", ".join(f"`{kind}`" for kind in get_args(errors.ErrorClass))
    reasons = table(("reason", ""), [(code(r), REASONS[r]) for r in get_args(events.TurnReason)])
    return f"{text}\n## Values\n\n`ErrorClass`: {kinds}. {_below(errors, 'ErrorClass')}\n\n`TurnReason`:\n\n{reasons}"


def _is_emitted(event: type[msgspec.Struct]) -> bool:
    """Whether some code makes this event."""
    sources = (path for path in (ROOT / "src").rglob("*.py") if path.name != "events.py")
    return any(f"{event.__name__}(" in path.read_text("utf-8") for path in sources)


REASONS: Mapping[str, str] = {
    "stop": "the model said it is done",
    "length": "the answer reached its output limit and can't go on",
    "refused": "the model, or its provider, refused",
    "error": "a request failed for good, a stream was cut, or the session can't be written",
    "cancelled": "a person or a signal stopped it",
    "max_steps": "`max_steps` requests were made",
    "floor": "what can't be removed from the context doesn't fit",
    "budget": "a cost, token or time limit was reached",
    "parked": "a call waits for a person",
    "empty": "the model answered nothing, twice",
    "verify_failed": "a check failed, and the rounds for repairs are used up",
    "schema_failed": "the answer doesn't fit the schema, also after one repair",
}


def exit_codes_page() -> str:
    """Every exit code and what leads to it."""
    causes: dict[int, list[str]] = {}
    for reason in get_args(events.TurnReason):
        causes.setdefault(exit_code(reason), []).append(f"turn `{reason}`: {REASONS[reason]}")
    causes.setdefault(0, []).append("a command other than a turn did what it was asked")
    causes.setdefault(1, []).append("`trimtab doctor` found something missing; `trimtab models` found no match")
    causes[1].append("`trimtab replay` or `trimtab bench` could not read one of the recorded sessions")
    causes[1].append("a turn of a talk whose lines come from a pipe or file ended with any code but 0")
    causes[1].append("`trimtab context` refused a wish, or `blame` and `bisect` found nothing")
    for error in _error_tree(errors.TrimtabError):
        if error.exit_code == 2 and error.__module__ == errors.__name__:
            causes.setdefault(2, []).append(f"`{error.__name__}`: {_first_line(error)}")
    causes.setdefault(2, []).append("an option or argument that doesn't exist or doesn't fit")
    signals = importlib.import_module("trimtab.frontends.signals")
    for signal, number in signals.CODES.items():
        causes.setdefault(number, []).append(f"{signal.name} stopped it")
    rows = [(str(number), "<br>".join(causes[number])) for number in sorted(causes)]
    return INTROS["exit-codes"] + table(("code", "what happened"), rows)


def _error_tree(error: type[errors.TrimtabError]) -> Iterator[type[errors.TrimtabError]]:
    yield error
    for child in error.__subclasses__():
        yield from _error_tree(child)


def _first_line(thing: type) -> str:
    line = doc(thing).split("\n")[0].rstrip(".")
    return line[:1].lower() + line[1:]


def cli_page() -> str:
    """Every command with its arguments and options."""
    root = app.root
    context = click.Context(root, info_name="trimtab")
    run = root.get_command(context, "run")
    assert run is not None
    own = _options(run, context, lambda name: name not in SESSION_OPTIONS)
    shared = _options(run, context, lambda name: name in SESSION_OPTIONS)
    text = (
        f"{INTROS['cli']}\n## `trimtab [-p] [WORDS]...`\n\n{_help(run)}\n\n{own}\n### Options of a session\n\n{shared}"
    )
    for name in sorted(COMMANDS):
        text += _command(f"trimtab {name}", root.get_command(context, name))
    return text


SESSION_OPTIONS = frozenset(field.name for field in dataclasses.fields(Flags))


def _command(path: str, command: click.Command | None) -> str:
    assert command is not None, path
    context = click.Context(command, info_name=path)
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        return "".join(_command(f"{path} {name}", command.get_command(context, name)) for name in names)
    usage = " ".join([path, *(piece for piece in command.collect_usage_pieces(context) if piece != "[OPTIONS]")])
    taken = {p.name for p in command.params if isinstance(p, click.Option)}
    options = _options(command, context, lambda name: name not in SESSION_OPTIONS or "takeover" not in taken)
    but = "" if "resume" in taken else ", but for those that choose one"
    more = f"Also the [options of a session](#options-of-a-session){but}.\n" if "takeover" in taken else ""
    return f"\n## `{usage}`\n\n" + "\n\n".join(part.strip() for part in (_help(command), options, more) if part) + "\n"


def _help(command: click.Command) -> str:
    return inspect.cleandoc(command.help or "")


def _options(command: click.Command, context: click.Context, wanted: Callable[[str], bool]) -> str:
    rows = []
    for option in command.params:
        if isinstance(option, click.Option) and wanted(option.name or ""):
            taken = "" if option.is_flag else " " + (option.metavar or option.make_metavar(context))
            default = f" Default: {option.default}." if option.show_default else ""
            rows.append((code(", ".join(option.opts) + taken), (option.help or "") + default))
    return table(("option", ""), rows) if rows else ""


def replay_block() -> str:
    """The figures of a replay, per session and in total."""
    return table(("field", ""), [(code(f.name), f.text) for f in fields_of(Figures)])


def struct_block(struct: type[msgspec.Struct]) -> str:
    """The fields of a struct."""
    rows = [(code(f.name), code(spell(f.annotation)), code(f.default), f.text) for f in fields_of(struct)]
    return table(("field", "type", "default", ""), rows)


def hosts_block() -> str:
    """The hosts of the catalogue's providers."""
    rows = []
    for provider in Catalogue.load().providers():
        if not is_loopback(provider.base_url):
            host = urlsplit(provider.base_url).hostname or ""
            rows.append((code(host), f"models named `{provider.name}/…`", code(provider.api_key_env)))
    return table(("host", "contacted for", "key from"), rows)


def ports_block() -> str:
    """The loopback ports that are probed."""
    ports = ", ".join(str(port) for port in probe.USUAL_PORTS)
    return f"Ports: {ports}, on 127.0.0.1 only.\n"


def names_block() -> str:
    """The providers of the catalogue, with how many models it lists."""
    catalogue = Catalogue.load()
    rows = [
        (
            code(p.name),
            code(p.api),
            code(p.api_key_env) if p.api_key_env else "needs no key",
            code(p.default),
            str(len(catalogue.models(p.name))),
            f"[{urlsplit(p.docs).hostname}]({p.docs})",
        )
        for p in catalogue.providers()
    ]
    return table(("provider", "API", "key from", "default model", "models listed", "its documentation"), rows)


def rpc_block() -> str:
    """The commands of the RPC mode: pi's, and ours."""
    head = ("command", "fields", "answered", "")
    ways = {"now": "now", "lane": "in order", "queue": "in order, now"}
    tables = []
    for ours in (False, True):
        rows = [
            (code(verb.name), _rpc_fields(verb.request), ways[verb.way], doc(verb.request))
            for verb in VERBS.values()
            if verb.ours == ours
        ]
        tables.append(("Trimtab's own:\n\n" if ours else "pi's, all of them:\n\n") + table(head, rows))
    return "\n".join(tables)


def _rpc_fields(request: type[msgspec.Struct]) -> str:
    """The fields of a command, each with its meaning."""
    return "<br>".join(
        f"{code(field.name)}{'' if not field.default else ' (optional)'}: {field.text}" for field in fields_of(request)
    )


INTROS = {
    "settings": """\
# Settings

Generated by `make docs` from `src/trimtab/config/settings.py` and `src/trimtab/types/config.py`; don't edit.

Settings come from these places; a later one wins, table by table and key by key:

1. the defaults below
2. `config.toml` in Trimtab's home: `$TRIMTAB_HOME`, else the platform's folder for configuration (`trimtab config path` says which)
3. `.trimtab/config.toml` in the project, if its folder is [trusted](usage.md#trust), as far as that may decide
4. your own file for that folder, below `folders/` in Trimtab's home (`trimtab config path --here`)
5. environment variables: `TRIMTAB_` and the path in capitals, two underscores between levels
6. `--set KEY=VALUE`, as often as needed
7. flags such as `--model`

`trimtab config` [shows, checks and changes](usage.md#settings) all of it, and prints this page as a JSON Schema.

The text of a variable or of `--set` is read as a TOML value where that fits the type, else as text: `--set tools.bash.timeout_s=60`,
`--set 'tools.enabled=["read", "ls"]'`, `--set model=local/tiny`. In a variable, `NAME` is the provider's name in capitals; what is no letter or
digit in the name of a provider from `config.toml` may be left out or written as one underscore (`my-host`: `TRIMTAB_PROVIDERS__MY_HOST__BASE_URL`). Quotes keep dots and slashes together: `--set 'models."local/tiny".max_output=2048'`.

A key that doesn't exist is an error that names the nearest one; a wrong value is an error that names its place and what is expected; in a file both name the line where
that is certain. A `TRIMTAB_` variable that names no setting may be another program's: it is ignored, with a notice that names the nearest setting. One that names a setting and holds
a wrong value is an error. `trimtab config check` lists all mistakes at once. Three variables are no settings: `TRIMTAB_HOME`, the folder for everything, `TRIMTAB_DATA`, the data folder of the [lab](bench.md), and `TRIMTAB_TRUST`, which
answers as [`--trust`](usage.md#trust) does.

An empty default means: not set.

""",
    "events": """\
# Events

Generated by `make docs` from `src/trimtab/agent/events.py`; don't edit.

With `--mode json`, `trimtab` writes one event a line to standard output, as a JSON object with `type` first. Everybody who watches a session gets the
same events from its feed.

Each event has `seq` (int; counts up, and with one number for deltas that were joined) and `time` (UTC, RFC 3339 with milliseconds). Fields may be added
later: ignore what you don't know.

The first line is `session`, the last is `result`; a run that can't begin (exit code 2) writes no line, and says why on standard error. A *delta* (`message_delta`, `tool_update`) may be joined with its neighbours, or lost for a watcher that is too
slow, because the event that ends the message or call repeats its content. Every other event is delivered. An event with an `entry_id` is written after that entry
is on disk. Messages and parts are as in the [session file](session-format.md).
""",
    "exit-codes": """\
# Exit codes

Generated by `make docs`; don't edit. How they are meant to be used: [usage.md](usage.md#in-scripts).

""",
    "cli": """\
# Commands and options

Generated by `make docs` from the command line itself; don't edit. How to use them: [usage.md](usage.md). `trimtab --version` prints the version, `trimtab --help` and
`trimtab COMMAND --help` print what stands here.
""",
}


def _toml_type(annotation: str) -> str:
    """An annotation in the words of TOML."""
    words = {"str": "string", "Secret": "string", "int": "integer", "float": "number"}
    words |= {
        "Positive": "integer from 1",
        "Natural": "integer from 0",
        "Seconds": "number above 0",
        "Share": "number above 0, at most 1",
        "Amount": "number above 0",
        "Price": "number from 0 to 100,000",
        "RoleModels": "string, or array of strings and tables",
    }
    annotation = annotation.removesuffix(" | None")
    if annotation.startswith("dict["):
        return "table"
    if annotation.startswith("tuple["):
        element = annotation.removeprefix("tuple[").removesuffix(", ...]")
        return f"array of {words.get(element, element)}"
    return words.get(annotation, annotation)


def _below(module: ModuleType, name: str) -> str:
    """The text below an assignment."""
    body = ast.parse(inspect.getsource(module)).body
    for node, after in itertools.pairwise(body):
        if isinstance(node, ast.Assign) and isinstance(t := node.targets[0], ast.Name) and t.id == name:
            return (
                str(after.value.value) if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) else ""
            )
    return ""


PAGES: Mapping[str, Callable[[], str]] = {
    "settings.md": settings_page,
    "events.md": events_page,
    "exit-codes.md": exit_codes_page,
    "cli.md": cli_page,
    "session-format.md": session_format.page,
}
BLOCKS: Mapping[str, Callable[[], str]] = {
    "hosts": hosts_block,
    "ports": ports_block,
    "names": names_block,
    "replay": replay_block,
    "rpc": rpc_block,
    "actions": action_reference.actions_table,
    "sections": action_reference.action_sections,
    "observation": lambda: struct_block(Observation),
    "items": lambda: struct_block(ItemFacts),
    "prices": lambda: struct_block(Prices),
}


def wanted() -> dict[Path, str]:
    """What each page with generated text should hold."""
    pages = {DOCS / name: make() for name, make in PAGES.items()}
    for path in sorted(DOCS.rglob("*.md")):
        text = path.read_text("utf-8")
        if path not in pages and BLOCK.search(text):
            pages[path] = BLOCK.sub(lambda found: f"{found['begin']}\n{BLOCKS[found['name']]()}\n{found['end']}", text)
    return pages


def main(argv: list[str]) -> int:
    """Write the pages, or compare them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="change nothing; fail and show the difference")
    check = parser.parse_args(argv).check
    stale = 0
    for path, text in wanted().items():
        old = path.read_text("utf-8") if path.exists() else ""
        if old == text:
            continue
        stale += 1
        if check:
            name = str(path.relative_to(ROOT))
            diff = difflib.unified_diff(
                old.splitlines(), text.splitlines(), name, f"{name} as the code says", lineterm=""
            )
            print("\n".join(diff))
        else:
            path.write_text(text, "utf-8")
    if check and stale:
        print(f"{stale} pages are stale: run `make docs`", file=sys.stderr)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
