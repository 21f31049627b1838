"""What a client can ask for: every verb of the protocol as a struct. When each is done stands in table.py.

docs/rpc.md is made from here, so the page and the program say the same.
"""

from typing import Literal, TypeAlias

import msgspec

QueueMode: TypeAlias = Literal["all", "one-at-a-time"]
Behaviour: TypeAlias = Literal["steer", "followUp"]
Events: TypeAlias = Literal["own", "all", "none"]
What: TypeAlias = Literal["both", "files", "talk"]
JobAction: TypeAlias = Literal["list", "tail", "kill"]
Mode: TypeAlias = Literal["ask", "auto-edit", "full", "plan"]


class Request(msgspec.Struct, frozen=True, rename="camel", kw_only=True):
    """What all verbs have in common: nothing but their names."""


class Picture(Request, frozen=True, kw_only=True):
    """A picture in a prompt."""

    type: Literal["image"] = "image"
    """Always `image`."""
    data: str
    """Base64. The bytes say what kind it is: PNG, JPEG, GIF or WebP."""
    mime_type: str = ""
    """Ignored, as a name would be."""


class Prompt(Request, frozen=True, tag="prompt"):
    """Say something, or run a slash command. Answered once it was taken: `disposition` is `started`, `queued` or `handled` (a command that starts no turn)."""

    message: str
    """The words. A file is attached only by a template's or a skill's command."""
    images: tuple[Picture, ...] | None = None
    """Pictures that come with it."""
    streaming_behavior: Behaviour | None = None
    """`steer` or `followUp`: what becomes of it while a turn runs; without it, it is refused then."""


class Steer(Request, frozen=True, tag="steer"):
    """Tell the running turn something before its next step; an idle agent hears it with the next turn."""

    message: str
    """The words. Templates and skills are filled in; other commands are for `prompt`."""
    images: tuple[Picture, ...] | None = None
    """Pictures that come with it."""


class FollowUp(Request, frozen=True, tag="follow_up"):
    """Say something once the turn is done."""

    message: str
    """As in `steer`."""
    images: tuple[Picture, ...] | None = None
    """Pictures that come with it."""


class Abort(Request, frozen=True, tag="abort"):
    """Stop what runs, on the way to a turn too; answered once it has stopped. What is queued stays queued, and starts nothing by itself."""


class ClearQueue(Request, frozen=True, tag="clear_queue"):
    """Take back what is queued; the answer holds the words."""


class NewSession(Request, frozen=True, tag="new_session"):
    """Go on with a fresh session, in this folder or another."""

    parent_session: str | None = None
    """Where it comes from, as lists tell: a session's file, its id, or the start of one. One that there isn't is told, and not kept."""
    cwd: str | None = None
    """The folder, an addition of ours; null: this one."""


class GetState(Request, frozen=True, tag="get_state"):
    """The model, what runs, the session. `thinkingLevel` is `off` for a model without levels, `default` where the provider decides."""


class GetMessages(Request, frozen=True, tag="get_messages"):
    """The conversation as the model sees it."""


class SetModel(Request, frozen=True, tag="set_model"):
    """Use another model from the next turn on."""

    provider: str
    """Its provider."""
    model_id: str
    """Its name there."""


class CycleModel(Request, frozen=True, tag="cycle_model"):
    """Use the next of the models that could be used; null when there is no other."""


class GetAvailableModels(Request, frozen=True, tag="get_available_models"):
    """The models that need no more configuration."""


class SetThinkingLevel(Request, frozen=True, tag="set_thinking_level"):
    """Let the model think at another of its levels from the next turn on."""

    level: str
    """A level of this model, `default`, or `off` for a model that has none. Another one is refused, with those that there are."""


class CycleThinkingLevel(Request, frozen=True, tag="cycle_thinking_level"):
    """The next level; null for a model without levels."""


class GetAvailableThinkingLevels(Request, frozen=True, tag="get_available_thinking_levels"):
    """The levels of this model; `off` alone when it has none."""


class SetSteeringMode(Request, frozen=True, tag="set_steering_mode"):
    """How steering is delivered: `all` of it before the next step, as at first, or `one-at-a-time` with each. Holds for this session."""

    mode: QueueMode
    """`all` or `one-at-a-time`."""


class SetFollowUpMode(Request, frozen=True, tag="set_follow_up_mode"):
    """How follow-ups are delivered. One a turn is the only way there is."""

    mode: QueueMode
    """`all` is refused."""


class Compact(Request, frozen=True, tag="compact"):
    """Replace all but the end of the conversation by a summary; answered once that is done. `trimtab.revert` takes it back."""

    custom_instructions: str | None = None
    """Wishes for whoever writes it."""


class SetAutoCompaction(Request, frozen=True, tag="set_auto_compaction"):
    """Whether the context policy acts by itself, from the next request on. Where it doesn't, only what keeps a request within the window is done: it never fails for its length. Holds for this session; one with the policy `none` has nothing to turn on."""

    enabled: bool
    """What it should be."""


class SetAutoRetry(Request, frozen=True, tag="set_auto_retry"):
    """Whether a request that failed, and may succeed later, is sent again; without it the turn ends with its error. Holds for this session, from the next failure on."""

    enabled: bool
    """What it should be."""


class AbortRetry(Request, frozen=True, tag="abort_retry"):
    """Stop waiting for another try; the turn ends as after `abort`. Nothing happens where none is waited for."""


class Bash(Request, frozen=True, tag="bash"):
    """Run a command of the person's own, as it stands: in no sandbox, and asked about by nobody. Its output joins the conversation, before the next prompt or behind the running turn."""

    command: str
    """One command line."""
    exclude_from_context: bool = False
    """The model isn't told; nothing of it is kept then."""


class AbortBash(Request, frozen=True, tag="abort_bash"):
    """Stop the commands of `bash`."""


class GetSessionStats(Request, frozen=True, tag="get_session_stats"):
    """Messages, tokens, cost. `cost` is null when a price isn't known; `contextUsage` is counted as the next request would be."""


class ExportHtml(Request, frozen=True, tag="export_html"):
    """Write the session as a page, without secrets."""

    output_path: str | None = None
    """Where, below the session's folder if it isn't absolute; a file that is there is replaced, and nothing else is. By default `trimtab-ID.html`."""


class SwitchSession(Request, frozen=True, tag="switch_session"):
    """Go on with another session. It is open before this one is let go; when it can't be opened, nothing changes."""

    session_path: str
    """Its file, its id, or the start of one."""


class Fork(Request, frozen=True, tag="fork"):
    """Go on with a copy of what was said before a message; the answer holds its words."""

    entry_id: str
    """A message of `get_fork_messages`."""


class Clone(Request, frozen=True, tag="clone"):
    """Go on with a copy of the session as it is."""


class GetForkMessages(Request, frozen=True, tag="get_fork_messages"):
    """What a person said on this branch."""


class GetEntries(Request, frozen=True, tag="get_entries"):
    """The entries of the session in the order in which they were written, all branches. What pi has no entry for is a `custom` one with ours in `data`."""

    since: str | None = None
    """Only those behind this entry."""


class GetTree(Request, frozen=True, tag="get_tree"):
    """The same as a tree."""


class GetLastAssistantText(Request, frozen=True, tag="get_last_assistant_text"):
    """The text of the last answer that has some; null when none has."""


class SetSessionName(Request, frozen=True, tag="set_session_name"):
    """What lists call the session."""

    name: str
    """At most 120 characters."""


class GetCommands(Request, frozen=True, tag="get_commands"):
    """What `/NAME` may be in a prompt: commands, those of extensions too (both told as `extension`), templates and prompts of MCP servers (`prompt`), skills."""


class RunCommand(Request, frozen=True, tag="trimtab.command"):
    """Run a slash command and answer, once it is done, with what it said."""

    line: str
    """As a person would type it."""


class Complete(Request, frozen=True, tag="trimtab.complete"):
    """Whole lines that begin so: slash commands with what may stand behind them, files behind an `@`."""

    line: str
    """What is typed so far."""


class GetContext(Request, frozen=True, tag="trimtab.context"):
    """How full the window is, by which policy it is kept so, and the edits of the context that hold."""


class Revert(Request, frozen=True, tag="trimtab.revert"):
    """Take an edit of the context back."""

    entry_id: str | None = None
    """The edit, as in `trimtab.context`; the last one by default."""


class Undo(Request, frozen=True, tag="trimtab.undo"):
    """Take the last turns back: what was said, what was changed in files, or both."""

    turns: int | None = None
    """How many; 1 by default."""
    what: What = "both"
    """`both`, `files` or `talk`: what of them; both by default."""
    force: bool = False
    """Put back files too that were changed since; a redo brings what stood there. Without `turns`, right behind an undo that left such files, it finishes that one."""
    preview: bool = False
    """Touch nothing, and say what would be put back, and left."""


class Redo(Request, frozen=True, tag="trimtab.redo"):
    """Do again what was taken back last."""


class Diff(Request, frozen=True, tag="trimtab.diff"):
    """What turns changed in files, against how the files are now."""

    turns: int | None = 1
    """The last so many, by default 1; null: all."""


class GoTo(Request, frozen=True, tag="trimtab.go_to"):
    """Go on from another entry of this session; a file that was changed stays as it is."""

    entry_id: str | None
    """An entry of `get_tree`; null: before the first."""


class GetPermissions(Request, frozen=True, tag="trimtab.permissions"):
    """The mode, and the rules with where each stands."""


class SetMode(Request, frozen=True, tag="trimtab.set_mode"):
    """Let another permission mode hold from the next call on."""

    mode: Mode
    """`ask`, `auto-edit`, `full` or `plan`."""


class Verify(Request, frozen=True, tag="trimtab.verify"):
    """Run the configured checks; answered once they are done."""


class AcceptProtected(Request, frozen=True, tag="trimtab.accept_protected"):
    """Let checks take protected files as they are now, from here on; the answer holds those that were different."""


class AnswerCall(Request, frozen=True, tag="trimtab.answer"):
    """Answer a call that is parked until a person does; the turn goes on."""

    call_id: str
    """As in the event `tool_parked`, and in `get_state`."""
    text: str
    """What the model reads as its result."""


class SkipSummary(Request, frozen=True, tag="trimtab.skip_summary"):
    """Let the running turn go on without the summary that it waits for."""


class GetResult(Request, frozen=True, tag="trimtab.result"):
    """How the last turn of this session ended, as the event `result`; null before the first."""


class Jobs(Request, frozen=True, tag="trimtab.jobs"):
    """The commands in the background: `list` them, the `tail` of what one printed, `kill` one with all that it started; answered once that is done. Each is told as it starts and ends (`trimtab.job`)."""

    action: JobAction = "list"
    """`list`, as by default, `tail` or `kill`."""
    job_id: str | None = None
    """Which; `all` to end every one."""
    lines: int = 40
    """How many lines of a tail; 40 by default."""


class Sessions(Request, frozen=True, tag="trimtab.sessions"):
    """The sessions there are, the newest first, with what a person chooses by: title, first prompt, age, cost, how it ended."""

    everywhere: bool = False
    """Of every folder, not only this one."""
    archived: bool = False
    """Those that were put away, and no others."""


class ArchiveSession(Request, frozen=True, tag="trimtab.archive"):
    """Put a session away, out of lists and of what `--continue` takes, or take it back. One that is open, this one too, is refused."""

    session: str
    """Its file, its id, or the start of one."""
    archived: bool = True
    """False takes it back."""


class SetEvents(Request, frozen=True, tag="trimtab.set_events"):
    """Which of our own events come as `trimtab.event`."""

    events: Events
    """`own`: those that pi has no name for. `all`: each, deltas too. `none`: none."""


class SetDialogs(Request, frozen=True, tag="trimtab.set_dialogs"):
    """Whether a person is there who can be asked, and for how long."""

    enabled: bool = True
    """Without one, each question is answered as nobody would."""
    timeout_ms: int | None = 300_000
    """In milliseconds; null: as long as it takes."""
