"""Questions about a long document, for a model that keeps its own context small: a runnable environment over any endpoint.

    Query (document, question) ──Desk──▶ request ──any provider──▶ answer ──Desk──▶ a tool ran, the context was edited ─▶ … ─▶ Outcome
                                   └──────────── pieces: what was asked and answered between two cuts ────────────────▶ export

The tools are those of ContextPilot's question answering (arXiv 2608.28476, read for its facts; every word here is ours): 17 and `finish`, and
`restoreContext`, which its runtime has and doesn't offer. What they do to the context are edits of the engine that runs live. A scripted cleanup
like that of its released evaluation is an option apart (`cleanup`), off unless somebody asks for it.
"""
