"""Subagents: sessions that work for another one, each with instructions, tools and limits of its own.

    task(agent, prompt) ──▶ Crew ── agent file ──▶ run_subagent: a child session, under its parent's rules ──▶ its last words, capped
                              └─ at most so many at a time; `/agents` shows them

The one rule: a child may do nothing that its parent may not, and what it costs and changes counts as its parent's.
"""
