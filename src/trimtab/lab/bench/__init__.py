"""The bench: arms side by side on the same stories, and what may be said about them.

    sources, suite ──▶ playing ──measuring──▶ row ──folder──▶ rows.jsonl
    rows ──▶ section: figures · paired (intervals) · verdict ──▶ steps (the path), projects (claims) ──▶ findings ──▶ records (files), tables (people)

Playing and saying meet in rows alone: what is said can be said anew, and by others, without playing anything.
"""
