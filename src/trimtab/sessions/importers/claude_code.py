"""Claude Code sessions: JSON lines that form a tree.

    lines ──▶ tree ──▶ live chain ──▶ pieces of one API message joined ──▶ events

An API message is several lines, one content block each, with the same usage on each; results may stand between them. `output_tokens` is
what the stream's first event said until a line names a stop reason: without one it is a placeholder. Sidechains belong to subagents and are
left out, unless the file is the transcript of one.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from trimtab.sessions.importers.blocks import add_blocks, anthropic_usage, stop_of, take_user_blocks
from trimtab.sessions.importers.claude_tree import Line, Tree, message_id
from trimtab.sessions.importers.gathering import Answer, Gathering
from trimtab.sessions.importers.values import count_of, mapping_of, moment_of, parts_of, text_of
from trimtab.sessions.lenient import json_text
from trimtab.sessions.recorded import Recording
from trimtab.sessions.source import Source
from trimtab.types.messages import Origin, Text
from trimtab.types.usage import Usage

NAME = "claude-code"

_MESSAGES = frozenset({"user", "assistant"})
_OTHERS = frozenset({"system", "attachment", "progress", "summary", "file-history-snapshot", "queue-operation"})
_SYNTHETIC = "<synthetic>"
_FOR_PEOPLE = frozenset({"hook_system_message", "hook_non_blocking_error", "hook_cancelled", "command_permissions"})
"""Attachments that a person sees and no model does."""

_NESTING = 20


def fits(record: Any) -> bool:
    """Say whether a line is one of these."""
    record = mapping_of(record)
    message = mapping_of(record.get("message"))
    if "parts" in message or "systemPayload" in record:
        return False
    if text_of(record.get("type")) in _MESSAGES:
        return "content" in message and ("sessionId" in record or "parentUuid" in record)
    if record.get("type") == "summary":
        return "leafUuid" in record
    return text_of(record.get("type")) in _OTHERS and bool({"uuid", "messageId", "operation"} & record.keys())


def read(source: Source) -> list[Recording]:
    """Return the session in a file."""
    tree, subagent = Tree(), Tree(sidechain=True)
    cwd = session = ""
    for line in source.records(Line):
        tree.add(line)
        if not tree.lines:
            subagent.add(line)
        cwd, session = cwd or text_of(line.cwd), session or text_of(line.session_id)
    if not tree.lines:
        tree = subagent
    chain = tree.chain()
    reader = _Reader(chain)
    for line in chain:
        reader.take(line)
    reader.close()
    left_out = {
        "lines of subagents": tree.others,
        "repeated lines": tree.repeated,
        "lines of another kind": tree.unknown,
        "lines of abandoned branches": tree.spoken(tree.lines) - tree.spoken(chain),
    }
    reader.gathering.left_out.update({what: n for what, n in left_out.items() if n})
    return [reader.gathering.recording(source, NAME, cwd=cwd, id=session)]


class _Reader:
    """Goes along the chain."""

    def __init__(self, chain: Sequence[Line]) -> None:
        self.gathering = Gathering()
        self._pieces: dict[str, list[Line]] = {}
        for line in chain:
            if key := message_id(line):
                self._pieces.setdefault(key, []).append(line)
        self._boundary: Line | None = None
        self._reattaching = False

    def take(self, line: Line) -> None:
        """Take in the next line of the chain."""
        if line.type != "attachment":
            self._reattaching = False
        match line.type:
            case "assistant":
                self.close()
                key = message_id(line)
                if pieces := self._pieces.pop(key, []) if key else [line]:
                    self._answer(pieces)
            case "user":
                self._user(line)
            case "attachment":
                self._attachment(line)
            case "system":
                self._system(line)
            case "tool_use":
                call = self.gathering.call("", text_of(line.name), line.input)
                self.gathering.answered(Answer([call], time=moment_of(line.timestamp)))
            case "tool_result":
                time = moment_of(line.timestamp)
                self.gathering.result("", parts_of(line.output), name=text_of(line.name), time=time)
            case _:
                pass

    def close(self) -> None:
        """A boundary without a summary is a compaction all the same."""
        if self._boundary is not None:
            self._compacted(self._boundary, "")

    def _answer(self, pieces: Sequence[Line]) -> None:
        messages = [mapping_of(line.message) for line in pieces]
        model = next((m for d in messages if (m := text_of(d.get("model")))), "")
        synthetic = model == _SYNTHETIC
        answer = Answer(model=model, provider="anthropic", time=moment_of(pieces[0].timestamp))
        answer.id = text_of(messages[0].get("id"))
        for message in messages:
            add_blocks(answer, message.get("content"), self.gathering)
            answer.stop = stop_of(message.get("stop_reason")) or answer.stop
        if pieces[0].is_api_error_message is True:
            answer.stop, answer.superseded, answer.error = "error", True, _words(answer)
        if synthetic:
            self.gathering.left_out["usage of answers that the client made up"] += 1
        else:
            answer.usage = _largest(anthropic_usage(message.get("usage")) for message in messages)
            answer.unreliable = answer.usage is not None and answer.stop is None
        self.gathering.answered(answer)

    def _user(self, line: Line) -> None:
        content = mapping_of(line.message).get("content")
        if line.is_compact_summary is True:
            self._compacted(self._boundary or line, "\n".join(p.text for p in parts_of(content) if isinstance(p, Text)))
        elif line.is_visible_in_transcript_only is True:
            self.gathering.leave_out("messages for the transcript only")
        else:
            origin, injected = _speaker(content)
            meta = line.is_meta is True
            time = moment_of(line.timestamp)
            take_user_blocks(self.gathering, content, time=time, injected=injected or meta, origin=origin)

    def _compacted(self, boundary: Line, summary: str) -> None:
        facts = mapping_of(boundary.compact_metadata)
        self.gathering.compacted(
            summary,
            time=moment_of(boundary.timestamp),
            before_tokens=count_of(facts.get("preTokens")),
            trigger=text_of(facts.get("trigger")),
        )
        self._boundary, self._reattaching = None, True

    def _attachment(self, line: Line) -> None:
        """Context that the client adds. What follows a summary directly is there because of it."""
        data = mapping_of(line.attachment)
        kind = text_of(data.get("type"))
        if self._reattaching:
            self.gathering.leave_out("attachments that a summary brought back")
        elif kind == "queued_command":
            self.gathering.came(parts_of(data.get("prompt")), time=moment_of(line.timestamp), origin="steering")
        elif kind in _FOR_PEOPLE or (kind.startswith("hook_") and not data.get("content")):
            self.gathering.leave_out("attachments for people")
        else:
            text = "\n".join([f"[{kind}]", *_words_in({k: v for k, v in data.items() if k not in ("type", "uri")})])
            self.gathering.came([Text(text)], time=moment_of(line.timestamp), injected=True)

    def _system(self, line: Line) -> None:
        if line.subtype == "compact_boundary":
            self.close()
            self._boundary = line
        elif line.subtype == "local_command":
            said = parts_of(line.content)
            self.gathering.came(said, time=moment_of(line.timestamp), injected=True, origin="command")
        elif line.subtype in ("microcompact_boundary", "api_error"):
            self.gathering.leave_out(f"{line.subtype} lines")


def _largest(usages: Iterable[Usage | None]) -> Usage | None:
    """All pieces repeat the prompt's counts; the last one knows the output."""
    told = [usage for usage in usages if usage is not None]
    return max(told, key=lambda usage: (usage.prompt, usage.output), default=None)


def _speaker(content: Any) -> tuple[Origin, bool]:
    """Who speaks, told by the tags that the client puts around what isn't a person's prompt: origin, and whether it is injected."""
    text = content if isinstance(content, str) else ""
    if text.startswith(("<command-", "<bash-input")):
        return "command", False
    if text.startswith(("<local-command-", "<bash-stdout", "<system-reminder", "<task-notification")):
        return "command", True
    return "prompt", False


def _words(answer: Answer) -> str:
    return "".join(part.text for part in answer.parts if isinstance(part, Text))


def _words_in(value: Any, depth: int = 0) -> list[str]:
    """The texts in an attachment, in order; numbers and flags stand beside their names."""
    if isinstance(value, str):
        return [value] if value else []
    if depth > _NESTING:
        return [json_text(value)]
    if isinstance(value, list):
        return [word for item in value for word in _words_in(item, depth + 1)]
    words: list[str] = []
    for key, item in mapping_of(value).items():
        if isinstance(item, str | list | dict):
            words += _words_in(item, depth + 1)
        elif item is not None:
            words.append(f"{key}: {json_text(item)}")
    return words
