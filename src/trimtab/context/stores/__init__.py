"""A session on disk: one file that only grows, its lock and its large bodies."""
