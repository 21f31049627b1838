"""Where Trimtab's own documentation lies: in the installed package, or in the checkout that an editable install runs from."""

import os
from pathlib import Path

_FIRST = "usage.md"
"""The page to begin with."""


def docs_folder(package: Path | None = None) -> Path | None:
    """The folder of pages, None where there is none. `package` is the folder of the package `trimtab`, this one by default."""
    package = Path(__file__).parents[2] if package is None else package
    for folder in (package / "docs", package.parent.parent / "docs"):
        if os.path.isfile(folder / _FIRST) and os.path.isfile(folder / "settings.md"):
            return folder
    return None


def docs_line(folder: Path) -> str:
    """What a model is told about them."""
    return (
        f"Trimtab's own documentation is in {folder}. Read it, {_FIRST} first, when the person asks about Trimtab itself: "
        "its settings, commands, skills, sessions."
    )
