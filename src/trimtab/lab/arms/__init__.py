"""Arms: whatever can decide about a context, under one name, and what a story comes to under each."""
