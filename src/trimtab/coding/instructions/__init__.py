"""What a model is told before anyone speaks: the sections of the system prompt, and where each comes from."""
