"""Families of assignments, a module each: `make(number)` gives one, always the same for the same number."""
