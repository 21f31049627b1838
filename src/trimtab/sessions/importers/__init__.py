"""Sessions of other agents, and our own, as recordings: one file a format."""
