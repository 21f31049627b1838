"""What a person is told of a conversation: the text of each edit, where a phrase went, what was dropped, and which edit broke the run."""
