"""The tools: what each takes, as typed values, and as the schema that a model sees.

    struct (fields, their meaning, its docstring) ──spec_of──▶ ToolSpec          call of a model ──read_call──▶ struct, or an answer in words

Names and parameters are ContextPilot's (its question answering: 17 tools and `finish`; `restoreContext` stands in its runtime, but not in its schema);
every word that a model reads is ours. One tool is called a turn.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from trimtab.context.tools.arguments import read
from trimtab.context.tools.host import ToolReply
from trimtab.types.tools import ToolSpec


def _told(text: str, **limits: Any) -> Meta:
    return Meta(description=text, **limits)


Key = Annotated[str, _told("A short name of your own; one subject, one key.")]
MsgId = Annotated[int, _told("The number of a message, as in [m7].")]
Texts = tuple[str, ...]


class _Call(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    pass


class Plan(_Call, frozen=True):
    """Write down how you will find the answer: what to search, in what order, and what would settle it. The plan stays in view as you wrote it."""

    strategy: str


class AnalyzeText(_Call, frozen=True):
    """Tells how long the document is."""


class BuildIndex(_Call, frozen=True):
    """Cuts the document into numbered chunks and makes them searchable. Needed once, before any search or reading."""


class CheckBudget(_Call, frozen=True):
    """Tells how many turns are used and left, and how many tokens your context still has room for."""


class SearchEngine(_Call, frozen=True):
    """Finds chunks that hold any of several phrases; each hit comes with its chunk number and the words around it."""

    keyword: Annotated[str, _told("Phrases as they may stand in the document, with commas in between.")]


class ReadChunk(_Call, frozen=True):
    """Shows one chunk whole."""

    chunk_id: Annotated[int, _told("Which one.")] = 0
    enable_scan: Annotated[
        bool, _told("True: the chunk behind the one that was read last, to go through the document in order.")
    ] = False


class ReadMultiChunks(_Call, frozen=True):
    """Shows up to three chunks at once."""

    chunk_ids: Annotated[tuple[int, ...], _told("Which ones; only the first three are shown.")]


class Source(_Call, frozen=True):
    """Where a memory comes from."""

    chunk_ids: tuple[int, ...] = ()
    msg_ids: tuple[int, ...] = ()


class Memorize(_Call, frozen=True):
    """Keeps what you found outside of the context, so that you can put away what you read. Its key and summary stay in view in a list."""

    key: Key
    summary: Annotated[str, _told("What it says, in one line.")]
    content: Annotated[
        str,
        _told(
            "The facts themselves, with names, numbers and wording as in the document; complete without what you read."
        ),
    ]
    entities: Annotated[Texts, _told("Whom and what it is about.")] = ()
    episodes: Annotated[Texts, _told("What happened when, such as `2021-03: the weir was closed`.")] = ()
    relations: Annotated[Texts, _told("Sentences that join two entities.")] = ()
    source: Annotated[Source, _told("Chunks and messages that it comes from.")] = Source()


class UpdateMemory(_Call, frozen=True):
    """Changes a memory: adds to it, puts other text in its place, or forgets it."""

    mode: Literal["append", "overwrite", "delete"]
    key: Key
    new_summary: str | None = None
    new_content: str | None = None
    new_entities: Texts | None = None
    new_episodes: Texts | None = None
    new_relations: Texts | None = None


class LoadMemory(_Call, frozen=True):
    """Shows a memory whole, with those that have to do with it."""

    key: Key
    max_related: Annotated[int, _told("How many others at most.", ge=0, le=20)] = 5


class Note(_Call, frozen=True):
    """Keeps a plain text outside of the context, under a key; its summary stays in view in a list. For what has no structure."""

    key: Key
    summary: Annotated[str, _told("What it says, in one line.")]
    content: str


class UpdateNote(_Call, frozen=True):
    """Changes a note: adds to it, puts other text in its place, or throws it away."""

    mode: Literal["append", "overwrite", "delete"]
    key: Key
    new_summary: str | None = None
    new_content: str | None = None


class ReadNote(_Call, frozen=True):
    """Shows a note whole."""

    key: Key


class DeleteContext(_Call, frozen=True):
    """Puts one message out of your context; a line stays in its place. Of a call of yours its long arguments go. For what you have understood and kept, or what was of no use."""

    msg_id: MsgId


class TruncateContext(_Call, frozen=True):
    """Keeps one passage of a message word for word and drops the rest of it."""

    msg_id: MsgId
    start_sentence: Annotated[str, _told("The first sentence to keep, copied from the message.")]
    stop_sentence: Annotated[str, _told("The last sentence to keep, copied from the message.")]


class SummarizeContext(_Call, frozen=True):
    """Puts your own summary in the place of a message."""

    msg_id: MsgId
    summary: str


class CompressContext(_Call, frozen=True):
    """Shortens a message by leaving out what says least; no word is new. Quicker than a summary, and rougher."""

    msg_id: MsgId
    compression_rate: Annotated[int, _told("How much of it stays, in percent.", ge=0, le=100)] = 10


class RestoreContext(_Call, frozen=True):
    """Undoes whatever was done to a message: it stands there again as it was."""

    msg_id: MsgId


class Finish(_Call, frozen=True):
    """Ends the work with your answer."""

    answer: Annotated[str, _told("The answer alone, in the words of the document where it has some.")]


TOOLS: Mapping[str, type[_Call]] = {
    "plan": Plan,
    "analyzeText": AnalyzeText,
    "buildIndex": BuildIndex,
    "checkBudget": CheckBudget,
    "searchEngine": SearchEngine,
    "readChunk": ReadChunk,
    "readMultiChunks": ReadMultiChunks,
    "memorize": Memorize,
    "updateMemory": UpdateMemory,
    "loadMemory": LoadMemory,
    "note": Note,
    "updateNote": UpdateNote,
    "readNote": ReadNote,
    "deleteContext": DeleteContext,
    "truncateContext": TruncateContext,
    "summarizeContext": SummarizeContext,
    "compressContext": CompressContext,
    "restoreContext": RestoreContext,
    "finish": Finish,
}
"""All tools by name."""
READING = frozenset({"readChunk", "readMultiChunks"})
"""Tools that show a part of the document."""
KEEPING = frozenset({"memorize", "updateMemory", "note", "updateNote"})
"""Tools that keep something outside of the context."""
OFFLOADING = frozenset({"deleteContext", "truncateContext", "summarizeContext", "compressContext"})
"""Tools that take something out of the context."""
CUTS = READING | KEEPING | OFFLOADING
"""A rollout is cut behind a call of one of these: what follows is trained from another prompt."""
_NUMBER = re.compile(r"\s*\[?m?(\d{1,9})\]?\s*")
"""A number as models copy it: `[m7]`."""
_LISTS = ("chunk_ids", "entities", "episodes", "relations", "new_entities", "new_episodes", "new_relations")


@cache
def spec_of(name: str) -> ToolSpec:
    """Return a tool as a model sees it."""
    schema = msgspec.json.schema(TOOLS[name])
    own = _resolved(schema, schema.get("$defs", {}))
    description = own.pop("description")
    own.setdefault("required", [])
    return ToolSpec(name, " ".join(description.split()), own)


def read_call(name: str, arguments: Mapping[str, Any]) -> msgspec.Struct | ToolReply:
    """Return the arguments of a call as typed values, or the answer that says what is wrong with them."""
    given = dict(arguments)
    for field in ("msg_id", "chunk_id"):
        if isinstance(value := given.get(field), str) and (found := _NUMBER.fullmatch(value)):
            given[field] = int(found[1])
    return read(TOOLS[name], given, lists=_LISTS)


def _resolved(schema: Any, known: Mapping[str, Any]) -> Any:
    """A schema with the parts that it refers to in their places, without what no model needs."""
    if isinstance(schema, list):
        return [_resolved(part, known) for part in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        told = {"description": schema["description"]} if "description" in schema else {}
        return {**_resolved(known[schema["$ref"].rpartition("/")[2]], known), **told}
    if "anyOf" in schema and {"type": "null"} in schema["anyOf"]:  # left out is what null means
        (only,) = [part for part in schema["anyOf"] if part != {"type": "null"}]
        rest = {name: part for name, part in schema.items() if name != "anyOf"}
        return _resolved({**only, **rest}, known)
    return {
        name: {field: _resolved(inner, known) for field, inner in part.items()}
        if name == "properties"
        else _resolved(part, known)
        for name, part in schema.items()
        if name not in ("title", "$defs", "default")
    }
