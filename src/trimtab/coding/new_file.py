"""A file that a person asked for: whole or not there, and never in the place of another one."""

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from trimtab.types.errors import UsageError


def write_new(path: Path, pieces: Iterable[bytes], *, make_folder: bool = False) -> None:
    """Write a file (mode 0600) that isn't there yet, its folder (0700) too where that is wanted. Raises `UsageError` when it is, or can't be written; then no file is left."""
    made: Path | None = None
    if make_folder:
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as problem:
            raise UsageError(
                f"the folder {path.parent} can't be made: {problem.strerror or problem}",
                hint="Name a file that can be written.",
            ) from None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", dir=path.parent)
        made = Path(name)
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece)
        os.link(made, path)  # unlike a rename, it replaces nothing
    except FileExistsError:
        raise UsageError(f"{path} is there already", hint="Name another file.") from None
    except (OSError, ValueError) as problem:
        why = getattr(problem, "strerror", None) or str(problem)
        raise UsageError(f"{path} can't be written: {why}", hint="Name a file that can be written.") from None
    finally:
        if made is not None:
            with suppress(OSError):
                made.unlink()
