"""Settings: every key Trimtab knows, as one frozen value.

The structs here are the schema: a key that isn't a field is an error that names the nearest one, a wrong type is an error with
its path. `docs/settings.md` is generated from them, docstrings included.
"""

from typing import Any, Literal, get_args

import msgspec

from trimtab.types.config import (
    Amount,
    ModelConfig,
    Natural,
    OAuthConfig,
    Positive,
    ProviderConfig,
    RoleModel,
    RoleModels,
    Seconds,
    Secret,
    Share,
)

Permission = Literal["ask", "auto-edit", "full", "plan"]
ToolProfile = Literal["off", "archive", "pilot"]
SandboxMode = Literal["auto", "off", "required"]
SandboxBackend = Literal["auto", "landlock", "bubblewrap", "seatbelt"]
SessionName = Literal["prompt", "model", "off"]
KeyStore = Literal["file", "keyring"]


class _Section(msgspec.Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True, kw_only=True):
    pass


class ReadTool(_Section, frozen=True):
    """What one `read` shows."""

    max_lines: Positive = 2_000
    """Lines."""
    max_bytes: Positive = 50 * 1024
    """Bytes of text."""


class BashTool(_Section, frozen=True):
    """How long a command runs, how much of its output the model gets, and what its environment holds."""

    head_bytes: Natural = 30 * 1024
    """Bytes kept of the beginning of the output. The whole stays in a file that the result names."""
    tail_bytes: Natural = 20 * 1024
    """Bytes kept of its end."""
    timeout_s: Seconds = 120.0
    """Seconds that a command gets when the model names no limit."""
    max_timeout_s: Seconds = 3_600.0
    """The largest limit, in seconds, that the model may name."""
    env_pass: tuple[str, ...] = ()
    """Variables that commands get although they hold a key or look like a secret (`*_API_KEY`, `*_TOKEN`, `*_SECRET*`)."""
    allow: tuple[str, ...] = ()
    """Commands that may run unasked, by their first words: `"npm test"` is the rule `bash(npm test)`."""
    prefix: str = ""
    """Lines that the shell runs before each command, yours too: `"shopt -s expand_aliases; source ~/.bash_aliases"`. Rules judge the command alone, so what these lines give another meaning is yours to know."""


class SearchTool(_Section, frozen=True):
    """How much a search shows."""

    max_rows: Positive = 200
    """Rows."""


class FetchTool(_Section, frozen=True):
    """The tool that gets pages of the web. Each server is asked about, or named in a rule such as `fetch(docs.python.org)`."""

    enabled: bool = False
    """Whether there is such a tool."""
    max_bytes: Positive = 50 * 1024
    """Bytes of text per result; the whole goes to a file."""
    max_download_bytes: Positive = 10 * 1024 * 1024
    """Bytes of a page that are read."""
    timeout_s: Seconds = 30.0
    """Seconds until a page has to be there."""


class ToolSettings(_Section, frozen=True):
    """Which tools there are. Their limits stand in tables of their own."""

    enabled: tuple[str, ...] | None = None
    """Names of the tools that are on, context tools included; when not set, all, and of the context tools those of `context.tools`."""
    read: ReadTool = ReadTool()
    bash: BashTool = BashTool()
    grep: SearchTool = SearchTool()
    find: SearchTool = SearchTool()
    ls: SearchTool = SearchTool(max_rows=500)
    fetch: FetchTool = FetchTool()


class PermissionSettings(_Section, frozen=True):
    """What may run without a question. Rules of all files, variables and flags hold together."""

    mode: Permission = "auto-edit"
    """`auto-edit`: edits inside the project and commands that are known to change nothing. `ask`: those commands, no edits. `plan`: those commands, whatever a rule allows. `full`: everything."""
    allow: tuple[str, ...] = ()
    """Rules that allow more, such as `bash(npm test)` or `write(docs/**)`."""
    ask: tuple[str, ...] = ()
    """Rules for what a person is always asked about, in every mode, whatever allows it."""
    deny: tuple[str, ...] = ()
    """Rules that refuse, whatever else allows it."""


class SandboxSettings(_Section, frozen=True):
    """What a command may do to the machine once it runs ([sandbox](sandbox.md))."""

    mode: SandboxMode = "auto"
    """`auto`: what this system has; without any, commands run unconfined and you are told. `required`: then they don't run. `off`: none, in any case."""
    network: bool = True
    """Whether commands have a network."""
    write: tuple[str, ...] = ()
    """More paths that commands may write, files or folders that exist. One that is kept as it is otherwise, such as `.git/config`, opens if it is named itself."""
    sockets: tuple[str, ...] = ()
    """Sockets that commands may use although they lead out, such as `/run/docker.sock`."""
    backend: SandboxBackend = "auto"
    """What confines; `auto`: the best that works here."""


class ProjectPermissions(_Section, frozen=True):
    """Rules for the project in the folder PATH alone, a real path; the answer `here` to a question adds to `allow`. Only your own file is asked for them."""

    allow: tuple[str, ...] = ()
    """As `permissions.allow`."""
    ask: tuple[str, ...] = ()
    """As `permissions.ask`."""
    deny: tuple[str, ...] = ()
    """As `permissions.deny`."""


class ProjectSettings(_Section, frozen=True):
    """What a person set for one project."""

    permissions: ProjectPermissions = ProjectPermissions()


class ContextSettings(_Section, frozen=True):
    """How the window is managed. Fractions are of window less reserve less safety margin; of a fraction and its `_tokens`, the lower holds."""

    policy: str = "rules"
    """What decides about edits of the context."""
    tools: ToolProfile = "archive"
    """Which tools for its own context the model gets."""
    soft: Share = 0.70
    """Fraction below which nothing is done. `rules` acts at a value of yours; at this one only when the window is nearly full, since each edit has a price."""
    target: Share = 0.50
    """Fraction that this aims at; `soft` where it is above it."""
    hard: Share = 0.92
    """Fraction that no request exceeds."""
    soft_tokens: Positive | None = None
    """The same as `soft` in tokens."""
    target_tokens: Positive | None = None
    """The same as `target` in tokens."""
    hard_tokens: Positive | None = None
    """The same as `hard` in tokens."""
    reserve_tokens: Positive | None = None
    """Tokens kept free for the answer."""
    remote_url: str | None = None
    """Where the policy `remote` is: an http(s) URL that takes what a policy sees and answers what it wants ([wire](remote-policy.md))."""
    remote_timeout_s: Seconds = 5.0
    """Seconds that it may take over one answer, in which nothing else happens; then `rules` decide."""
    remote_key_env: str | None = None
    """The environment variable that holds a key for it, sent as a bearer token; no command of a tool gets that variable."""
    summary_model: str | None = None
    """The model that writes summaries, `PROVIDER/ID`, where it is cheaper than the session's own with a warm cache; `roles.small` when not set, else the session's own, which also stands in for one that fails."""
    summary_wait_s: Seconds = 60.0
    """Seconds without a word from the model that writes a summary, before one is made without a model; one that goes on writing may take three times as long."""
    prepare_summaries: bool = True
    """Above `soft`, have the summary that a policy is about to need written while the conversation goes on."""


class VerifySettings(_Section, frozen=True):
    """Checks that run when the model says it is done, if the turn changed a file."""

    enabled: bool = True
    """Whether they run; `--no-verify` turns them off."""
    commands: tuple[str, ...] = ()
    """Commands that have to succeed, one after the other, in the project's folder."""
    model: str | None = None
    """A model that reviews the changes, once the commands succeeded: `PROVIDER/ID`, or a role (`small`)."""
    rounds: Natural = 2
    """How often the model gets to repair what a check found."""
    timeout_s: Seconds = 600.0
    """Seconds for all commands of one check."""
    protect: tuple[str, ...] = ()
    """Globs of files that the check takes as the person left them. Where a turn changed one, the commands run in a copy of the repository with the old ones."""


class CheckpointSettings(_Section, frozen=True):
    """What is kept so that turns can be taken back."""

    enabled: bool = True
    """Keep how files were before the agent changed them, for `/undo`, `/redo` and `/diff`."""


class JobSettings(_Section, frozen=True):
    """Commands in the background."""

    most: Positive = 8
    """How many that the model started may run at a time."""


class AgentSettings(_Section, frozen=True):
    """Subagents: sessions that work for another one."""

    parallel: Positive = 4
    """How many work at a time; more wait."""
    depth: Positive = 1
    """How deep they go: 1 means that a subagent starts none."""
    max_steps: Positive = 100
    """Model requests that one may make, where its file says no less."""
    timeout_s: Seconds = 1_800.0
    """Seconds that one may take."""
    result_tokens: Positive = 2_000
    """Tokens of its answer that its parent gets; the whole stays where that can read it."""


class InstructionSettings(_Section, frozen=True):
    """What is read beside the conversation: instruction files, skills, prompt templates."""

    enabled: bool = True
    """Whether any of it is read; without it the system prompt is Trimtab's own, or yours, and nothing else."""
    files: tuple[str, ...] = ("AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md")
    """Names of instruction files. Of each folder the first one counts that says something of its own."""
    local_files: tuple[str, ...] = ("CLAUDE.local.md",)
    """Names of files that are read after it, all that there are: what one keeps to oneself."""
    other_agents: bool = True
    """Whether skills, commands and agents are also looked for where another agent keeps them: in `.claude` of your home folder, and of a trusted project."""
    max_bytes: Positive = 32 * 1024
    """Bytes of one instruction file that a model is told; what is cut says where the rest is."""
    max_total_bytes: Positive = 64 * 1024
    """Bytes of all of them together. At most one for each token of the model's window in any case, which is about a quarter of it."""
    max_skills_bytes: Positive = 8 * 1024
    """Bytes that the list of skills may have; descriptions get shorter first."""


class SessionSettings(_Section, frozen=True):
    """What is kept of a talk, and how it is found again."""

    name: SessionName = "prompt"
    """What names a session after its first turn. `prompt`: its first line. `model`: `context.summary_model`, else `roles.small`, else the session's own, asked in the background of a talk, for a few tokens; a single run goes by its prompt. `off`: nothing; lists then show the prompt."""


class RoleSettings(_Section, frozen=True):
    """Who does what ([models](models.md)). A role is one model, or a list: the first does the work; when its provider can't be had, the next takes over, in order, or drawn by `weight` where one is given."""

    main: RoleModels = ()
    """The session's model where `model` isn't set, and those that take over when it can't be had."""
    small: RoleModels = ()
    """Writes summaries where `context.summary_model` isn't set, and names (`sessions.name = "model"`); `verify.model = "small"` lets it review."""
    vision: RoleModels = ()
    """Says in words what is in a picture when the session's model takes none."""


class AuthSettings(_Section, frozen=True):
    """Where `trimtab login` keeps what lets you in ([keys and logins](auth.md))."""

    store: KeyStore = "file"
    """`file`: `auth.json` beside your settings, which nobody else may read. `keyring`: the operating system's, by the extra `keyring`."""


class HookSettings(_Section, frozen=True):
    """One command that runs at a point of a session ([hooks](hooks.md))."""

    command: str
    """What is run, by a shell, with JSON on its standard input."""
    match: str = ""
    """Which calls it is about, written as rules are, `"bash(git *) | write(docs/**)"`; at `event`, which events: `"turn_ended | tool_*"`. Nothing: all."""
    timeout_s: Seconds = 60.0
    """Seconds that it may take; then it is ended with all that it started."""


class HooksSettings(_Section, frozen=True):
    """Commands at points of a session. The hooks of all files act together; a project's only once you let their content run."""

    session_start: tuple[HookSettings, ...] = ()
    """When a session opens."""
    session_end: tuple[HookSettings, ...] = ()
    """When it closes."""
    input: tuple[HookSettings, ...] = ()
    """When you say something, before the model reads it."""
    before_request: tuple[HookSettings, ...] = ()
    """Before each request to the model."""
    tool_call: tuple[HookSettings, ...] = ()
    """Before a tool runs. One that fails refuses the call."""
    tool_result: tuple[HookSettings, ...] = ()
    """After a tool ran."""
    before_compaction: tuple[HookSettings, ...] = ()
    """Before a part of the conversation is replaced by a summary or a digest."""
    after_compaction: tuple[HookSettings, ...] = ()
    """After a part of the conversation was replaced by one."""
    event: tuple[HookSettings, ...] = ()
    """Beside the session, for each event."""


class ExtensionSettings(_Section, frozen=True):
    """Python extensions ([extensions](extensions.md))."""

    enabled: bool = True
    """Whether extensions are loaded and hooks act, whosever they are; `--no-extensions` turns them off."""
    off: tuple[str, ...] = ()
    """Names of extensions that aren't loaded."""
    paths: tuple[str, ...] = ()
    """Extensions beside those in `extensions/` of Trimtab's home: files, packages, or folders of them."""
    settings: dict[str, Any] = {}
    """A table for each extension, by its name; what may stand in it is the extension's to say."""


class McpOAuth(_Section, frozen=True):
    """The client that you registered with the authorization server of an MCP server which lets none register itself ([logging in](mcp.md#logging-in))."""

    client_id: str | None = None
    """Its name there."""
    client_secret: Secret | None = None
    """Its secret, where it has one: `"${VAR}"` is that variable. It is kept nowhere else."""
    callback_port: Natural = 0
    """The port of `http://localhost:PORT/callback`, to which the browser comes back, where that has to be registered; 0: any free one."""
    redirect_uri: str | None = None
    """The whole address instead, on this machine and with a port, where another path or `127.0.0.1` is registered."""


McpProtocol = Literal["auto", "legacy"]
"""How a revision of the protocol is agreed on."""


class McpServer(_Section, frozen=True):
    """One server that speaks the Model Context Protocol: a `command` that is started, or a `url` that is asked. `${VAR}` in `command`, `args`, `env`, `cwd`, `url`, `headers` and `oauth` is that variable."""

    command: str | None = None
    """The program to start."""
    args: tuple[str, ...] = ()
    """Its arguments."""
    env: dict[str, Secret] = {}
    """Variables that it gets beside those that commands get, which hold no keys."""
    cwd: str | None = None
    """Where it starts; the project's folder when not set."""
    url: str | None = None
    """The http(s) address of a server that runs elsewhere (streamable HTTP)."""
    headers: dict[str, Secret] = {}
    """Sent with each request to `url`."""
    oauth: McpOAuth = McpOAuth()
    """The client for logging in to `url`, in a table of its own, where the server lets none register itself."""
    timeout_s: Seconds = 120.0
    """Seconds without a sign of life that a call may take."""
    start_timeout_s: Seconds = 30.0
    """Seconds that it may take to start and to list its tools."""
    tools: tuple[str, ...] | None = None
    """Its tools that are used, by its own names or globs; all when not set."""
    roots: tuple[str, ...] | None = None
    """Folders that it is told you work in; the project's when not set. `[]` tells it nothing: some servers then keep to the folders in their `args`."""
    disabled: bool = False
    """Leave it out."""
    read_only_unasked: bool = False
    """Believe it where it says of a tool that it only reads: such a tool runs unasked, in mode `plan` too. Its resources are read unasked as well."""
    sandboxed: bool = False
    """Start it in the sandbox of commands."""
    protocol: McpProtocol = "auto"
    """How a revision of the protocol is agreed on: `auto` takes the newest that both know, `legacy` the handshake of those before 2026-07-28, in which a server may ask back in the middle of a call. A server that turns out to need that gets it by itself."""


class McpSettings(_Section, frozen=True):
    """Servers of the Model Context Protocol, each in a table `[mcp.servers.NAME]` ([MCP](mcp.md))."""

    enabled: bool = True
    """Whether any server is used."""
    project_file: bool = True
    """Whether the `.mcp.json` of a trusted project is read; each server in it is asked about."""
    defer_share: Share = 0.1
    """Part of the model's window that the schemas of all servers' tools may take; above it, those of the costliest servers are looked up by a tool when they are needed."""
    first_wait_s: Seconds = 20.0
    """Seconds that a turn waits for servers whose tools nobody has seen yet."""
    servers: dict[str, McpServer] = {}


class ModelOverride(_Section, frozen=True):
    """Settings for one model, over those of its provider and the catalogue."""

    context_window: Positive | None = None
    """Tokens that prompt and answer may have together."""
    max_output: Positive | None = None
    """Tokens that one answer may have."""
    thinking: str | None = None
    """The thinking level when `--model` names none."""
    context: ContextSettings | None = None
    """As `[context]`, for this model."""


Theme = Literal["plain", "dark", "light"]
THEMES: tuple[Theme, ...] = get_args(Theme)
"""What `/theme` knows."""


class Settings(_Section, frozen=True):
    """Keys that stand in no table."""

    model: str | None = None
    """The model, `PROVIDER/ID[:THINKING]`. `--model` names another one."""
    thinking: str | None = None
    """The thinking level, for models that have it, when the model's name carries none."""
    favourites: tuple[str, ...] = ()
    """Models that lists and completions put first, and `/model next` goes round: `PROVIDER/ID[:THINKING]`."""
    max_steps: Positive | None = None
    """At most so many model requests in one turn; no limit when not set."""
    max_cost_usd: Amount | None = None
    """At most so many USD for all turns of a run together, requests for summaries and reviews too; looked at before each request."""
    max_tokens: Positive | None = None
    """At most so many tokens, prompts and answers together, cached ones too; as `max_cost_usd`."""
    max_time_s: Seconds | None = None
    """At most so many seconds from the first prompt of a run on; what runs then is stopped."""
    system_prompt: str | None = None
    """Replaces Trimtab's own system prompt."""
    append_system_prompt: str | None = None
    """Added to the system prompt."""
    theme: Theme = "plain"
    """Colours of what is said on a terminal: none, or for a `dark` or `light` background. The variable `NO_COLOR` turns them off."""
    providers: dict[str, ProviderConfig] = {}
    models: dict[str, ModelOverride] = {}
    auth: AuthSettings = AuthSettings()
    roles: RoleSettings = RoleSettings()
    tools: ToolSettings = ToolSettings()
    permissions: PermissionSettings = PermissionSettings()
    sandbox: SandboxSettings = SandboxSettings()
    projects: dict[str, ProjectSettings] = {}
    context: ContextSettings = ContextSettings()
    instructions: InstructionSettings = InstructionSettings()
    verify: VerifySettings = VerifySettings()
    checkpoints: CheckpointSettings = CheckpointSettings()
    sessions: SessionSettings = SessionSettings()
    hooks: HooksSettings = HooksSettings()
    extensions: ExtensionSettings = ExtensionSettings()
    mcp: McpSettings = McpSettings()
    jobs: JobSettings = JobSettings()
    agents: AgentSettings = AgentSettings()


__all__ = [
    "AgentSettings",
    "AuthSettings",
    "BashTool",
    "CheckpointSettings",
    "ContextSettings",
    "ExtensionSettings",
    "HookSettings",
    "HooksSettings",
    "InstructionSettings",
    "JobSettings",
    "KeyStore",
    "McpOAuth",
    "McpServer",
    "McpSettings",
    "ModelConfig",
    "ModelOverride",
    "OAuthConfig",
    "Permission",
    "PermissionSettings",
    "ProjectPermissions",
    "ProjectSettings",
    "ProviderConfig",
    "ReadTool",
    "RoleModel",
    "RoleModels",
    "RoleSettings",
    "SandboxBackend",
    "SandboxMode",
    "SandboxSettings",
    "SearchTool",
    "SessionName",
    "SessionSettings",
    "Settings",
    "ToolProfile",
    "ToolSettings",
    "VerifySettings",
]
