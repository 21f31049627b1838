"""The conversation: an append-only tree of entries, and the messages that a model sees of it."""
