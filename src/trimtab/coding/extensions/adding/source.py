"""Where an extension is taken from: what a person typed, understood before anything is opened.

    https://…, ssh://…, git@HOST:PATH, file:///…, a bare repository, a folder with --ref ──▶ git           a file, a folder ──▶ read as it stands

The one rule: nothing typed here becomes an option of git, or a way of getting things that runs a program.
"""

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from trimtab.coding.telling.printable import one_line, one_path
from trimtab.types.errors import UsageError

_SCP = re.compile(r"[A-Za-z0-9_.][\w.-]*@[A-Za-z0-9][\w.-]*:[^:\s][^\s]*", re.ASCII)
_REF = re.compile(r"[A-Za-z0-9][\w./@+-]{0,199}", re.ASCII)
_HOST = re.compile(r"[A-Za-z0-9][A-Za-z0-9.-]*(:\d{1,5})?|\[[0-9A-Fa-f:.]+\](:\d{1,5})?")
_BARE_HOST = re.compile(r"[\w-]+(\.[\w-]+)+/[\w.-]+/[\w.-]+", re.ASCII)
_SOURCES = "A source is a file, a folder, https://HOST/REPOSITORY, ssh://…, git@HOST:REPOSITORY or file:///REPOSITORY."


@dataclass(frozen=True, slots=True)
class Source:
    """A source. `text` is what git gets, or the real path; `protocol` is the one that git may speak, empty for what is read as it stands."""

    text: str
    ref: str = ""
    protocol: Literal["", "https", "ssh", "file"] = ""

    @property
    def name(self) -> str:
        """What it is called: the last part of its path."""
        return re.split(r"[/:]", self.text.rstrip("/"))[-1].removesuffix(".git").removesuffix(".py")


def read_source(text: str, ref: str, cwd: Path) -> Source:
    """Understand `text` as typed in `cwd`. Raises `UsageError`."""
    if not text.strip() or not text.isprintable():
        raise UsageError("that is no source of extensions", hint=_SOURCES)
    if ref and (
        not _REF.fullmatch(ref) or ".." in ref or "//" in ref or "@{" in ref or ref.endswith((".lock", "/", "."))
    ):
        raise UsageError(f"{one_line(ref)!r} is no name of a branch, a tag or a commit", hint="As in --ref v1.2.")
    scheme, mark, _ = text.partition("://")
    if mark:
        return _of_url(text, scheme.lower(), ref)
    path = Path(os.path.realpath(cwd / os.path.expanduser(text)))
    if not path.exists():
        if _SCP.fullmatch(text):
            return Source(text, ref, "ssh")
        guess = f"Did you mean https://{text}? " if _BARE_HOST.fullmatch(text) else ""
        raise UsageError(f"there is no {one_path(text)}", hint=f"{guess}{_SOURCES}")
    if not (ref or _is_bare(path)):
        return Source(str(path))
    if not path.is_dir():
        raise UsageError("--ref names a commit of a repository, and this is a file", hint="Leave --ref out.")
    return Source(str(path), ref, "file")


def _of_url(text: str, scheme: str, ref: str) -> Source:
    try:
        url = urlsplit(text)
        user, password = url.username, url.password
    except ValueError as problem:
        raise UsageError(f"{one_line(text)} is no address: {problem}", hint=_SOURCES) from None
    if scheme == "file" and url.netloc in ("", "localhost") and url.path.startswith("/"):
        return Source(text, ref, "file")
    if scheme not in ("https", "ssh"):
        raise UsageError(f"nothing is fetched by {one_line(scheme)}://", hint=_SOURCES)
    if password or (scheme == "https" and user):
        raise UsageError(
            "the address holds a login, which would be kept and shown",
            hint="Leave it out: git asks its credential helper, or an SSH key lets you in.",
        )
    if not _HOST.fullmatch(url.netloc.rpartition("@")[2]) or len(url.path) < 2 or (user or "").startswith("-"):
        raise UsageError(f"{one_line(text)} names no repository", hint=_SOURCES)
    return Source(text, ref, "https" if scheme == "https" else "ssh")


def _is_bare(path: Path) -> bool:
    return (path / "HEAD").is_file() and (path / "objects").is_dir() and (path / "refs").is_dir()
