"""Edits made: from an action to what it would hide, the checks that may refuse it, the entry that carries it, and compactions."""
