"""Checks that run when the model says it is done: commands, or a model that reviews. `verifier.py` is the whole of it."""
