"""Where agents keep their sessions: folders below a person's home, as their own documentation or source says."""

from collections.abc import Iterator
from pathlib import Path

from trimtab.sessions.detect import find_recordings

FOLDERS: dict[str, str] = {
    "Claude Code": ".claude/projects",
    "Codex CLI": ".codex/sessions",
    "Gemini CLI": ".gemini/tmp",
    "pi": ".pi/agent/sessions",
    "tau": ".tau/sessions",
}
"""Agent to the folder of its sessions, below the home of its user."""


def agent_folders(home: Path, own: Path) -> dict[str, Path]:
    """Return the folders that are there: those of other agents below `home`, and `own`, where Trimtab keeps its sessions."""
    places = {name: home / folder for name, folder in FOLDERS.items()}
    places["Trimtab"] = own
    return {name: path for name, path in places.items() if path.is_dir()}


def sessions_in(folders: dict[str, Path]) -> Iterator[tuple[str, Path]]:
    """Yield each session file with the agent whose folder it lies in."""
    for name, folder in folders.items():
        for path in find_recordings(folder):
            yield name, path
