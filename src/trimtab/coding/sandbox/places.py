"""Which places a command may write by default, found on this machine: project, git's folder, temp, caches; and what in them stays as it is.

    Grounds (folders, environment, settings) ──look──▶ Confinement

The rule: a place counts by its real path when the session opens, and one that a command could have turned into a link to elsewhere doesn't count.
`docs/sandbox.md` lists all of it with reasons.
"""

import glob
import os
import shutil
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from trimtab.coding.sandbox.gitdirs import Repository, find_repository
from trimtab.coding.sandbox.plan import Confinement, Place, by_depth, is_in
from trimtab.context.stores.private import make_private

_TEMP = ("/tmp", "/var/tmp", "/dev/shm")
_DEVICES = (
    *("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts"),
    *("/dev/dri", "/dev/kfd", "/dev/dxg", "/dev/nvidia*"),
)
_CACHES: Mapping[str, tuple[str, ...]] = {
    "": (".cache", "Library/Caches", ".ccache", ".nuget/packages", ".ivy2", ".gradle/caches", ".gradle/daemon"),
    "npm": (".npm",),
    "pnpm": (".local/share/pnpm/store",),
    "yarn": (".yarn/berry",),
    "bun": (".bun/install/cache",),
    "cargo": (".cargo/registry", ".cargo/git"),
    "go": ("go/pkg",),
    "mvn": (".m2/repository",),
    "gradle": (".gradle/native", ".gradle/wrapper/dists", ".gradle/.tmp", ".gradle/notifications", ".gradle/workers"),
    "jupyter": (".local/share/jupyter/runtime",),
}
"""Folders below the home folder, by the program that keeps them; what nobody there has made is made for a program that is installed."""
_CACHE_VARIABLES = ("XDG_CACHE_HOME", "PIP_CACHE_DIR", "UV_CACHE_DIR", "npm_config_cache", "GOCACHE", "GOMODCACHE")
_SOCKETS = (
    *("/run/docker.sock", "/run/podman/podman.sock", "/run/containerd/containerd.sock", "/run/crio/crio.sock"),
    *("/run/incus/unix.socket", "/var/snap/lxd/common/lxd/unix.socket", "/run/libvirt/libvirt-sock"),
    *("/run/dbus/system_bus_socket", "/run/systemd/private"),
    *("{runtime}/bus", "{runtime}/systemd/private", "{runtime}/docker.sock", "{runtime}/podman/podman.sock"),
    *("{runtime}/emacs/*", "{runtime}/zellij/*/*", "{runtime}/vscode-ipc-*.sock", "{runtime}/nvim.*"),
    *("{home}/.docker/run/docker.sock", "{home}/.docker/desktop/docker.sock", "{home}/.colima/*/docker.sock"),
    *("{home}/.rd/docker.sock", "{home}/.screen/*", "/run/screen/S-*/*"),
    *("/tmp/tmux-{user}/*", "{temp}/tmux-{user}/*", "/tmp/emacs{user}/*", "/tmp/kitty-*"),
)
"""Sockets of programs that run commands for whoever asks: containers, systemd, terminals that others look at, editors."""
_SOCKET_VARIABLES = (
    *("DOCKER_HOST", "CONTAINER_HOST", "DBUS_SESSION_BUS_ADDRESS", "TMUX", "NVIM", "NVIM_LISTEN_ADDRESS"),
    *("KITTY_LISTEN_ON", "WEZTERM_UNIX_SOCKET", "VSCODE_IPC_HOOK_CLI"),
)


@dataclass(frozen=True, slots=True)
class Grounds:
    """What the places depend on. `project` is a real path, `home` a folder (empty: there is none); `own` are Trimtab's folders; `write` and `sockets` are
    the person's settings; `secret` is the real path of a file that no command reads."""

    project: str
    home: str
    own: tuple[str, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    write: tuple[str, ...] = ()
    sockets: tuple[str, ...] = ()
    network: bool = True
    secret: str = ""

    @property
    def real_home(self) -> str:
        """The home folder as a real path; empty when there is none."""
        return os.path.realpath(self.home) if self.home.startswith("/") else ""

    def is_too_wide(self, folder: str) -> bool:
        """Whether the real folder holds the whole home folder, so that it is no place to write."""
        return folder == "/" or is_in(self.real_home, folder)


def look(grounds: Grounds) -> Confinement:
    """Find the places. Reads the disk, changes nothing."""
    repository = find_repository(grounds.project)
    found = _Found()
    for folder in _temp(grounds):
        found.may_write(folder)
    if os.geteuid():
        found.may_write("/proc")  # a process writes there about itself; root could change the kernel's settings
    if not grounds.is_too_wide(grounds.project):
        found.may_write(grounds.project)
    if repository is not None:
        found.may_write(repository.common)
        found.may_write(repository.own)
    found.keep(_programs_of(grounds, repository))
    for folder in _caches(grounds):
        found.may_write(folder)
    found.keep(path for path in grounds.own if os.path.lexists(path))
    ignored = tuple(path for path in grounds.write if not found.may_write(_absolute(path, grounds)))
    closed = [Place("close", path) for path in (*_sockets(grounds), *secrets_of(grounds))]
    return Confinement(
        places=by_depth((*found.places, *closed)),
        devices=tuple(path for pattern in _DEVICES for path in sorted(glob.glob(pattern))),
        network=grounds.network,
        missing=tuple(found.missing),
        ignored=ignored,
    )


def make_caches(grounds: Grounds) -> None:
    """Make the cache folders that installed programs would make: below a home folder that can't be written they could not."""
    for program, folders in _CACHES.items() if grounds.real_home else ():
        wanted = folders[:1] if not program else folders if shutil.which(program, path=_path(grounds)) else ()
        for folder in wanted:
            with suppress(OSError):
                make_private(Path(grounds.home, folder))


class _Found:
    """Collects places; the order in which they come decides between two for one path."""

    def __init__(self) -> None:
        self.places: list[Place] = []
        self.missing: list[str] = []

    def may_write(self, path: str) -> bool:
        """Add a place, unless it isn't there, or lies by name in a place to write and in truth elsewhere: then a command may have made that link."""
        if "\0" in path:
            return False
        real = os.path.realpath(path)
        counts = os.path.exists(real) and (not self._is_inside(os.path.abspath(path)) or self._is_inside(real))
        if counts:
            self.places.append(Place("write", real))
        return counts

    def keep(self, paths: Iterable[str]) -> None:
        """Add what stays as it is."""
        for path in paths:
            if os.path.lexists(path):
                self.places.append(Place("read", os.path.realpath(path)))
            else:
                self.missing.append(path)

    def _is_inside(self, path: str) -> bool:
        return any(path == place.path or is_in(path, place.path) for place in self.places if place.kind == "write")


def _temp(grounds: Grounds) -> Iterator[str]:
    return (folder for folder in (*_TEMP, grounds.environment.get("TMPDIR", "")) if _is_narrow(folder, grounds))


def _programs_of(grounds: Grounds, repository: Repository | None) -> Iterator[str]:
    """What in the project decides what programs run later: Trimtab's settings for it, git's hooks and settings, the dot files of a home folder."""
    yield os.path.join(grounds.project, ".trimtab")
    if repository is not None:
        yield from (path for path in repository.programs if os.path.lexists(path) or path.endswith("/hooks"))
    if grounds.real_home == grounds.project:
        with suppress(OSError), os.scandir(grounds.project) as entries:
            yield from (entry.path for entry in entries if entry.name.startswith("."))


def _caches(grounds: Grounds) -> Iterator[str]:
    for folders in _CACHES.values() if grounds.real_home else ():
        yield from (os.path.join(grounds.home, folder) for folder in folders)
    named = (grounds.environment.get(name, "") for name in _CACHE_VARIABLES)
    yield from (folder for folder in named if _is_narrow(folder, grounds))


def _is_narrow(folder: str, grounds: Grounds) -> bool:
    """Whether what a variable names is a folder that may be opened: absolute, neither the home folder nor one around it."""
    real = os.path.realpath(folder) if folder.startswith("/") else "/"
    return real != grounds.real_home and not grounds.is_too_wide(real)


def _sockets(grounds: Grounds) -> list[str]:
    environment = grounds.environment
    values = {
        "runtime": environment.get("XDG_RUNTIME_DIR") or f"/run/user/{os.getuid()}",
        "home": grounds.real_home or "/nowhere",
        "temp": environment.get("TMUX_TMPDIR") or "/tmp",
        "user": str(os.getuid()),
    }
    escaped = {name: glob.escape(value) for name, value in values.items()}
    found = [path for pattern in _SOCKETS for path in glob.glob(pattern.format_map(escaped))]
    found += [_socket_path(environment.get(name, "")) for name in _SOCKET_VARIABLES]
    opened = {os.path.realpath(_absolute(path, grounds)) for path in grounds.sockets if "\0" not in path}
    real = {os.path.realpath(path) for path in found if path.startswith("/")}
    return sorted(path for path in real - opened if _is_socket(path))


def secrets_of(grounds: Grounds) -> list[str]:
    """The file that no command reads, and what was damaged of it, where they are there."""
    found = [grounds.secret, *glob.glob(f"{glob.escape(grounds.secret)}.damaged-*")] if grounds.secret else []
    return [path for path in found if os.path.isfile(path)]


def _socket_path(value: str) -> str:
    """The path in `unix:///run/x.sock`, `unix:path=/run/x,guid=…` or `/tmp/tmux-0/default,12,0`."""
    return value.removeprefix("unix:").removeprefix("path=").removeprefix("//").partition(",")[0]


def _is_socket(path: str) -> bool:
    try:
        return stat.S_ISSOCK(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def _absolute(path: str, grounds: Grounds) -> str:
    if grounds.real_home and (path == "~" or path.startswith("~/")):
        path = grounds.home + path[1:]
    return os.path.join(grounds.project, path)


def _path(grounds: Grounds) -> str:
    return grounds.environment.get("PATH", os.defpath)
