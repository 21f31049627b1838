"""Prompts as data: `.md` files beside this module, filled in by name."""

from collections.abc import Iterable, Mapping
from importlib.resources import files
from string import Template

from trimtab.agent.ports import Tool


def load_prompt(name: str, values: Mapping[str, str]) -> str:
    """Return prompt `name` with its `$placeholders` filled. Raises `KeyError` for a missing value."""
    text = files(__package__).joinpath(f"{name}.md").read_text("utf-8")
    return Template(text).substitute(values).strip() + "\n"


def describe_tools(tools: Iterable[Tool]) -> str:
    """The part of the system prompt that belongs to the tools that are on: a line each, then their guidelines without repeats."""
    on = tuple(tools)
    lines = [f"- {t.spec.name}: {t.snippet}" for t in on if t.snippet]
    guidelines = dict.fromkeys(g for t in on for g in t.guidelines)
    text = "\nTools:\n" + "\n".join(lines) + "\n" if lines else ""
    return text + ("\n" + "\n".join(f"- {g}" for g in guidelines) + "\n" if guidelines else "")
