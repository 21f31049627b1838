"""Folders of Trimtab's own: each that is made on the way to one belongs to its owner alone.

    ~/.local/share/trimtab/sessions/P ──missing: .local … P──▶ made one by one, all 0700

The mode that `mkdir` takes is only the last folder's; those above it would be as wide as the umask lets them be. Which is what the XDG base directory
specification asks for, too. The one rule: nobody else can put another folder in the place of one of ours.
"""

from pathlib import Path


def make_private(folder: Path) -> None:
    """Make `folder` and what is missing above it; what is there stays as it is. Raises `OSError`."""
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
    except FileNotFoundError:
        if folder.parent == folder:
            raise
        make_private(folder.parent)
        folder.mkdir(mode=0o700, exist_ok=True)
