"""An extension that adds a tool: the words of a project, as its `GLOSSARY.md` explains them, and a line in the prompt that says there are some.

    trimtab chat --extension examples/extensions/glossary

A package imports its own modules relatively, as it does `terms` here.
"""

from collections.abc import Mapping
from typing import Any

from trimtab.extend import Api, Here, Renderer

from .terms import nearest, read_terms

API = 1
PARAMETERS = {
    "type": "object",
    "properties": {"term": {"type": "string", "description": "The word to look up."}},
    "required": ["term"],
}


def look_up(arguments: Mapping[str, Any], here: Here) -> str:
    """What the tool gives back; what it raises would be read by the model as well."""
    terms = read_terms(here.cwd)
    term = str(arguments["term"])
    found = terms.get(term.casefold())
    if found is None:
        near = nearest(term, terms)
        return f"{term!r} isn't in the glossary." + (f" Near: {', '.join(near)}." if near else "")
    return found


def extend(api: Api) -> None:
    """Register the tool, the line of the prompt, and how a call is shown."""

    def line() -> str:
        terms = read_terms(api.cwd)
        return f"The project explains {len(terms)} words of its own; glossary__look_up looks one up." if terms else ""

    api.tool("look_up", "Looks up what a word means in this project.", look_up, parameters=PARAMETERS)
    api.section("glossary", line)
    api.renderer(Renderer("look_up", "glossary: {term}"))
