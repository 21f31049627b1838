"""Commands that run in the background of a session: started by `bash`, looked at and ended by the tool `jobs` and by `/jobs`.

    bash background=true ─┐                       ┌─ it ends: the person is told, and the model with its next request
    left by a command ────┼─▶ Jobs ── a record ───┼─ the session ends: it is ended too, unless it was kept
    kept, or orphaned ────┘          on disk      └─ Trimtab is killed: the next session of the project finds it by the record

The one rule: a process is only ever signalled while it is known to be the one that was started: by its pid and start, or by the marker in its environment.
"""
