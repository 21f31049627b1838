"""An index over all sessions: a cache in one SQLite file, which can be deleted at any time."""
