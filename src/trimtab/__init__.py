"""Trimtab: a coding agent for the terminal and the context engine inside it."""

__version__ = "0.1.0"
