"""Hold a text to a JSON schema, as a program: `python -m …schema_check` reads `{"schema", "text"}` and writes the problems, a line each; none when it fits.

A pattern of a schema may take for ever, and nothing in a process stops a regular expression. So who asks gives this one a time, and ends it.
"""

import json
import re
import sys
from typing import Any

from jsonschema.validators import validator_for
from referencing import Registry
from referencing.exceptions import Unresolvable

MOST = 10
"""Problems that are told."""
_MESSAGE = 300


def problems_of(schema: dict[str, Any], text: str) -> list[str]:
    """What is wrong with `text`, a line each."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError) as e:
        return [f"it isn't JSON: {e}"]
    validator: Any = validator_for(schema)(schema, registry=Registry())
    try:
        found = sorted(validator.iter_errors(value), key=lambda error: list(map(str, error.absolute_path)))
    except RecursionError:
        return ["the schema can't be followed: it refers to itself without end"]
    except (Unresolvable, re.error) as e:
        return [f"the schema can't be followed: {e}"]
    return [f"{error.json_path}: {error.message[:_MESSAGE]}" for error in found[:MOST]]


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    json.dump(problems_of(asked["schema"], asked["text"]), sys.stdout)
