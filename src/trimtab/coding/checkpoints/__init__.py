"""Every turn can be taken back: what was said, what was changed in files, or both.

    call ──recorder──▶ states of files before and after, contents in the store ──▶ a `files` entry of the log
    /undo ──history──▶ turns and what each changed ──undo──▶ files put back, leaf moved, an `undo` entry ──/redo──▶ the same backwards

The one rule: git's own state is never touched, and a file that somebody else changed since is left as it is.
"""
