"""Families of generated tasks, a module each. `registry` has them by name."""
