"""A commit of a repository, fetched and read without ever being checked out.

    an empty bare repository in a folder of its own ──fetch, depth 1──▶ ls-tree: names, kinds, sizes ──▶ cat-file: the bytes that are wanted

So no hook, filter, link or name of the repository's touches the disk. The one rule: git asks nobody, speaks one protocol, and has an end in time and size.
"""

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.extensions.adding.source import Source
from trimtab.coding.extensions.adding.tree import MOST_ENTRIES, Entry, require_size
from trimtab.coding.telling.printable import one_line
from trimtab.config.home import environment
from trimtab.types.errors import UsageError

_WITHIN_S = 120.0
_LARGEST_MIB = 64
"""What is fetched, and what git prints, each in a file."""
_BLOCKS = 2048
"""Of 512 bytes, which is what a shell counts in (POSIX, ulimit), in a MiB."""
_KINDS = {"100644": "file", "100755": "file", "100664": "file", "120000": "link", "160000": "repository"}
_KEPT = re.compile(
    r"GIT_(SSH|SSH_COMMAND|SSH_VARIANT|SSL_\w+|PROXY_\w+|HTTP_\w+|EXEC_PATH|CONFIG_GLOBAL|CONFIG_NOSYSTEM|CONFIG_SYSTEM)"
)
_SAFE = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "fetch.unpackLimit=1",
    "fetch.fsckObjects=true",
    "gc.auto=0",
    "maintenance.auto=false",
)
_LINE = re.compile(rb"(\d{6}) (blob|commit) ([0-9a-f]{40,64}) +(\d+|-)\t(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class GitTree:
    """A commit in the bare repository `folder`. `objects` are the names by which git knows the files."""

    folder: Path
    entries: Mapping[str, Entry]
    commit: str
    objects: Mapping[str, str]

    def read(self, paths: Collection[str]) -> dict[str, bytes]:
        """Have git print them."""
        require_size(self.entries, paths)
        wanted = list(paths)
        out = _git(
            self.folder, "cat-file", "--batch", given="".join(f"{self.objects[path]}\n" for path in wanted).encode()
        )
        found, at = {}, 0
        for path in wanted:
            end = out.find(b"\n", at)
            size = int(out[at:end].rpartition(b" ")[2]) if end >= 0 and b" blob " in out[at:end] else -1
            if size != self.entries[path].size:
                raise UsageError(
                    f"the repository is damaged: {one_line(path)} isn't in it", hint="Try again, or another --ref."
                )
            found[path] = out[end + 1 : end + 1 + size]
            at = end + size + 2
        return found


def git_tree(source: Source, folder: Path, *, within_s: float = _WITHIN_S) -> GitTree:
    """Fetch `source` into the empty `folder`. Raises `UsageError` with git's words."""
    if shutil.which("git") is None:
        raise UsageError("git was not found", hint="Install git, or name a file or a folder.")
    _git(folder, "init", "--bare", "--quiet", "--template=", ".")
    ref = source.ref or "HEAD"
    _git(
        folder,
        "fetch",
        "--quiet",
        "--depth",
        "1",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-commit-graph",
        "--",
        source.text,
        ref,
        protocol=source.protocol,
        within_s=within_s,
    )
    commit = _git(folder, "rev-parse", "--verify", "--quiet", "FETCH_HEAD^{commit}").decode("ascii", "replace").strip()
    entries, objects = _listed(_git(folder, "ls-tree", "-r", "-z", "-l", commit))
    return GitTree(folder, entries, commit, objects)


def _listed(out: bytes) -> tuple[dict[str, Entry], dict[str, str]]:
    entries: dict[str, Entry] = {}
    objects: dict[str, str] = {}
    lines = out.split(b"\0")[:-1]
    if len(lines) > MOST_ENTRIES:
        raise UsageError(
            f"the repository has more than {MOST_ENTRIES:,} files",
            hint="An extension has a repository of its own, or is added from a folder.",
        )
    for line in lines:
        if (found := _LINE.fullmatch(line)) is None:
            continue
        mode, _, name, size, raw = found.groups()
        path = raw.decode("utf-8", "surrogateescape")
        kind = _KINDS.get(mode.decode(), "other")
        entries[path] = Entry(path, kind, int(size) if size != b"-" else 0)  # type: ignore[arg-type]
        objects[path] = name.decode()
    return entries, objects


def _git(folder: Path, *arguments: str, given: bytes = b"", protocol: str = "", within_s: float = _WITHIN_S) -> bytes:
    """What git prints, by way of a file, since a file has a largest size. Raises `UsageError`."""
    settings = [word for setting in _SAFE for word in ("-c", setting)]
    words = ("git", "--git-dir=.", *settings, *arguments) if arguments[0] != "init" else ("git", *settings, *arguments)
    limited = ("sh", "-c", f'ulimit -f {_LARGEST_MIB * _BLOCKS} && exec "$@"', "sh", *words)
    printed, said = folder / "printed", folder / "said"
    with open(printed, "wb") as out, open(said, "wb") as err:
        child = subprocess.Popen(
            limited,
            cwd=folder,
            env=_environment(protocol),
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=err,
            start_new_session=True,
        )
        try:
            child.communicate(given, timeout=within_s)
        except subprocess.TimeoutExpired:
            raise UsageError(
                f"git {arguments[0]} took more than {within_s:g} s",
                hint="Try it by hand: git clone; then add the folder.",
            ) from None
        finally:
            with suppress(OSError):
                os.killpg(child.pid, signal.SIGKILL)  # its own children, too
            child.wait()
    if child.returncode:
        why = _why(arguments[0], said.read_bytes()[-4000:].decode("utf-8", "replace"))
        raise UsageError(
            why, hint="Look whether `git ls-remote` and the same address work, and whether it has that --ref."
        )
    return printed.read_bytes()


def _why(verb: str, said: str) -> str:
    lines = [one_line(line).strip() for line in said.splitlines() if line.strip()]
    if "signal 25" in said or "too large" in said.lower():
        return f"the repository is larger than {_LARGEST_MIB} MiB, even without its history"
    first = next(
        (line for line in lines if line.startswith(("fatal:", "error:"))), lines[-1] if lines else "it said nothing"
    )
    return f"git {verb} failed: {first}"


def _environment(protocol: str) -> dict[str, str]:
    """The person's own, without what would point git elsewhere or let it ask."""
    env = {key: value for key, value in environment().items() if not key.startswith("GIT_") or _KEPT.fullmatch(key)}
    return {
        **env,
        "GIT_ALLOW_PROTOCOL": protocol or "none",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ASKPASS": "",
        "SSH_ASKPASS_REQUIRE": "never",
        "GCM_INTERACTIVE": "never",
        "GIT_NO_LAZY_FETCH": "1",
        "GIT_LFS_SKIP_SMUDGE": "1",
        "LC_ALL": "C",
    }
