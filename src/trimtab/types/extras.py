"""How an extra is added to this installation, in a command that works: a checkout, a wheel and a package of an index are each added to in another way.

direct_url.json (PEP 610), or a checkout around the sources ──▶ `PYTHON -m pip install …`
"""

import shlex
import sys
from pathlib import Path

import msgspec

_PACKAGE = "trimtab"
_ABOVE = 3
"""Folders between this file and the root of a checkout: types, trimtab, src."""


def install_command(extra: str) -> str:
    """The command that adds `extra`, for the Python that runs."""
    what = _requirement(extra)
    return shlex.join([sys.executable or "python", "-m", "pip", "install", *what])


def install_hint(extra: str) -> str:
    """The same as a sentence."""
    return f"Install it with `{install_command(extra)}`."


def _requirement(extra: str) -> list[str]:
    checkout = Path(__file__).resolve().parents[_ABOVE]
    if (checkout / "pyproject.toml").is_file():
        pins = checkout / "constraints.txt"
        return [*(["-c", str(pins)] if pins.is_file() else []), "-e", f"{checkout}[{extra}]"]
    source = _source()
    return [f"{_PACKAGE}[{extra}] @ {source}" if source else f"{_PACKAGE}[{extra}]"]


def _source() -> str:
    """Where the package was installed from, if from no index."""
    from importlib import metadata  # noqa: PLC0415 - only where something is missing

    try:
        text = metadata.distribution(_PACKAGE).read_text("direct_url.json")
        found = msgspec.json.decode(text or "{}")
    except (metadata.PackageNotFoundError, msgspec.DecodeError, OSError):
        return ""
    if not isinstance(found, dict) or not isinstance(url := found.get("url"), str):
        return ""
    kind = found.get("vcs_info")
    if not isinstance(kind, dict):
        return url
    commit = kind.get("commit_id")
    return f"{kind.get('vcs', 'git')}+{url}" + (f"@{commit}" if isinstance(commit, str) else "")
