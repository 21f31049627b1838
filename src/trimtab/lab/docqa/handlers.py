"""What each call does: which part of the desk answers it."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from trimtab.context.tools.host import ToolReply
from trimtab.lab.docqa import calls

if TYPE_CHECKING:
    from trimtab.lab.docqa.desk import Desk


def _plan(_desk: "Desk", call: calls.Plan) -> ToolReply:
    empty = not call.strategy.strip()
    return ToolReply("strategy is empty" if empty else "noted; it stands in your call", is_error=empty)


def _compress(desk: "Desk", call: calls.CompressContext) -> ToolReply:
    share = min(99, max(1, call.compression_rate)) / 100
    return desk.window.edit("compress", call.msg_id, {"share": share})


def _summarize(desk: "Desk", call: calls.SummarizeContext) -> ToolReply:
    if not call.summary.strip():
        return ToolReply("summary is empty; nothing was done", is_error=True)
    return desk.window.edit("summarize", call.msg_id, {"summary": call.summary.strip()})


def _truncate(desk: "Desk", call: calls.TruncateContext) -> ToolReply:
    return desk.window.edit("truncate", call.msg_id, {"first": call.start_sentence, "last": call.stop_sentence})


HANDLERS: Mapping[type[msgspec.Struct], Callable[["Desk", Any], ToolReply]] = {
    calls.Plan: _plan,
    calls.AnalyzeText: lambda desk, _: desk.library.analyze(),
    calls.BuildIndex: lambda desk, _: desk.library.build(),
    calls.CheckBudget: lambda desk, _: desk.budget(),
    calls.SearchEngine: lambda desk, call: desk.library.search(call),
    calls.ReadChunk: lambda desk, call: desk.library.read_one(call),
    calls.ReadMultiChunks: lambda desk, call: desk.library.read_some(call),
    calls.Memorize: lambda desk, call: desk.notebook.memorize(call),
    calls.UpdateMemory: lambda desk, call: desk.notebook.update_memory(call),
    calls.LoadMemory: lambda desk, call: desk.notebook.load_memory(call),
    calls.Note: lambda desk, call: desk.notebook.note(call),
    calls.UpdateNote: lambda desk, call: desk.notebook.update_note(call),
    calls.ReadNote: lambda desk, call: desk.notebook.read_note(call),
    calls.DeleteContext: lambda desk, call: desk.window.delete(call.msg_id),
    calls.TruncateContext: _truncate,
    calls.SummarizeContext: _summarize,
    calls.CompressContext: _compress,
    calls.RestoreContext: lambda desk, call: desk.window.restore(call.msg_id),
    calls.Finish: lambda desk, call: desk.finish(call),
}
"""What each call does."""
