"""Families of assignments, a module each: `make(number, size)` gives one, always the same for the same number and size."""
