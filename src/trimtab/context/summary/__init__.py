"""Summaries: what stands in place of a run of messages, made with or without a model.

    messages ──digest──────────────────────────────▶ text         no model
             ──serialize──▶ transcript (data)
             ──build_summary_prompt──▶ SummaryPrompt              calls, saves and replaces nothing
    summarise(job): yields Summarize ◀─▶ Summary | Failed
             parse_reply ▶ judge ▶ audit ▶ facts block ▶ SummaryOutcome

Every function here is pure: text and numbers in, text and numbers out. Sizes are tokens, counted by a function that the caller gives.
"""
