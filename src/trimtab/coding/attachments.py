"""Files that a person names with `@`: their content becomes part of the prompt, within caps, and says where it came from."""

from pathlib import Path

from trimtab.types.messages import Part

MAX_TEXT = 200_000
MAX_IMAGE = 5_000_000


def attach(name: str, *, cwd: Path) -> tuple[Part, ...]:
    """Return the parts for one file. Raises `UsageError` when it can't be read or is neither text nor a picture."""
    raise NotImplementedError
