"""Confine this process, then become the command. Linux only; run as a script: `python -I -S launcher.py OPTION… -- COMMAND…`.

    write=, read=, close=, device= paths ──▶ own mounts: all read-only but `write` ──▶ no new privileges ──▶ Landlock ──▶ exec

Options: `cwd=DIR`, `mounts=yes` (a mount namespace of its own), `netns=yes` (a network of its own, with nothing but loopback),
`net=off` (no TCP, by Landlock). `probe` instead of all that says what this system allows, a fact a line.

The one rule: the command runs confined or not at all. It starts in front of every command, so it imports next to nothing; paths are bytes, and none is
followed through a link that wasn't there when the plan was made. Calls and numbers are the kernel's own: `linux/landlock.h`, `linux/mount.h`,
`linux/capability.h`, the manual pages landlock(7), mount_setattr(2), user_namespaces(7).
"""

import ctypes
import os
import sys

_FAILED = 126
_OPEN_TREE, _MOVE_MOUNT, _MOUNT_SETATTR = 428, 429, 442  # the same on every architecture
_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_NEW_MOUNTS, _NEW_USER, _NEW_NETWORK = 0x00020000, 0x10000000, 0x40000000
_AT_CWD, _EMPTY_PATH, _RECURSIVE = -100, 0x1000, 0x8000
_CLONE_TREE, _CLOSE_ON_EXEC = 1, 0o2000000
_FROM_EMPTY, _TO_EMPTY = 0x04, 0x40
_READ_ONLY = 1
_SLAVES = 0x4000 | 0x80000
_NO_NEW_PRIVS, _DROP_CAPABILITY = 38, 24

_WRITE_FILE, _TRUNCATE, _IOCTL_DEVICE, _REFER = 1 << 1, 1 << 14, 1 << 15, 1 << 13
_REMOVE = 1 << 4 | 1 << 5
_MAKE_DEVICES = 1 << 6 | 1 << 11
_MAKE = 1 << 7 | 1 << 8 | 1 << 9 | 1 << 10 | 1 << 12
_BIND_AND_CONNECT = 3
_ABSTRACT_SOCKETS = 1

KEPT_CAPABILITIES = frozenset({0, 1, 3, 4, 5, 6, 7, 8, 10, 12, 13, 14, 18, 23, 24, 29, 31})
"""What root keeps: owners and modes of files, signals, users, ports, priorities. Not: mounts, devices, modules, tracing, the clock."""

_libc = ctypes.CDLL(None, use_errno=True)


class Refused(Exception):
    """The kernel refused a step: which, and why."""


def _done(step: str, result: int) -> int:
    if result < 0:
        raise Refused(f"{step}: {os.strerror(ctypes.get_errno())}")
    return result


def _call(step: str, number: int, *arguments: object) -> int:
    return _done(step, _libc.syscall(ctypes.c_long(number), *arguments))


def landlock_abi() -> int:
    """The version of Landlock that this kernel speaks; 0 when it has none."""
    return max(0, int(_libc.syscall(ctypes.c_long(_CREATE_RULESET), None, ctypes.c_size_t(0), ctypes.c_uint(1))))


def write_rights(abi: int) -> int:
    """Every right to change files that this version of Landlock can withhold."""
    rights = _WRITE_FILE | _REMOVE | _MAKE_DEVICES | _MAKE
    return rights | (_REFER if abi >= 2 else 0) | (_TRUNCATE if abi >= 3 else 0) | (_IOCTL_DEVICE if abi >= 5 else 0)


def _words(*numbers: int) -> ctypes.Array[ctypes.c_uint64]:
    return (ctypes.c_uint64 * len(numbers))(*numbers)


def _open(path: bytes) -> int | None:
    """The place as a handle; None when it is gone, or when a link stands where the plan saw none."""
    try:
        handle = os.open(path, os.O_PATH | os.O_NOFOLLOW)
    except OSError:
        return None
    if os.readlink(b"/proc/self/fd/%d" % handle) == path:
        return handle
    os.close(handle)
    return None


def _new_namespaces(kinds: int) -> None:
    """As root without a user namespace, so that all users and groups stay what they are; else in one that knows this user alone."""
    if os.geteuid() == 0 and _libc.unshare(kinds) == 0:
        return
    user, group = os.geteuid(), os.getegid()
    _done("a user namespace", _libc.unshare(kinds | _NEW_USER))
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        try:
            with open(f"/proc/self/{name}", "w") as file:
                file.write(text)
        except OSError as failure:
            raise Refused(f"{name}: {failure.strerror}") from None


def _clone(handle: int) -> int:
    flags = ctypes.c_uint(_CLONE_TREE | _CLOSE_ON_EXEC | _EMPTY_PATH | _RECURSIVE)
    return _call("open_tree", _OPEN_TREE, ctypes.c_int(handle), b"", flags)


def _set_read_only(handle: int, path: bytes = b"") -> None:
    flags = ctypes.c_uint(_RECURSIVE | (0 if path else _EMPTY_PATH))
    attributes = _words(_READ_ONLY, 0, 0, 0)
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    _call("mount_setattr", _MOUNT_SETATTR, ctypes.c_int(handle), path, flags, ctypes.byref(attributes), size)


def _arrange_mounts(places: list[tuple[str, bytes]]) -> None:
    """Make everything read-only but the places to write, the deeper of two places on top."""
    _done("mount", _libc.mount(b"none", b"/", None, ctypes.c_ulong(_SLAVES), None))
    trees = []
    for kind, path in sorted(places, key=lambda place: place[1].count(b"/")):
        handle = _open(b"/dev/null" if kind == "close" else path)
        if handle is not None and path != b"/":
            tree = _clone(handle)
            if kind == "read":
                _set_read_only(tree)
            trees.append((path, tree))
    if ("write", b"/") not in places:
        _set_read_only(_AT_CWD, b"/")
    for path, tree in trees:
        target = _open(path)
        if target is None:
            raise Refused(f"{os.fsdecode(path)!r} was changed meanwhile")
        flags = ctypes.c_uint(_FROM_EMPTY | _TO_EMPTY)
        _call("move_mount", _MOVE_MOUNT, ctypes.c_int(tree), b"", ctypes.c_int(target), b"", flags)


def _raise_loopback() -> None:
    """A new network has nothing but a loopback device, and that is down."""
    wire = _done("socket", _libc.socket(2, 2, 0))
    request = ctypes.create_string_buffer(b"lo".ljust(16, b"\0") + b"\x01\0", 40)  # struct ifreq with IFF_UP
    _done("loopback", _libc.ioctl(wire, ctypes.c_ulong(0x8914), request))
    os.close(wire)


def _drop_capabilities(*, needed: bool) -> None:
    """Give up, for good, what would undo the rest; `needed`: fail when that can't be done."""
    number = 0
    while _libc.prctl(23, ctypes.c_ulong(number), 0, 0, 0) >= 0:
        if (
            number not in KEPT_CAPABILITIES
            and _libc.prctl(_DROP_CAPABILITY, ctypes.c_ulong(number), 0, 0, 0)
            and needed
        ):
            raise Refused(f"capability {number} can't be dropped")
        number += 1


def _restrict(places: list[tuple[str, bytes]], *, tcp: bool) -> None:
    abi = landlock_abi()
    rights = write_rights(abi)
    network = 0 if tcp or abi < 4 else _BIND_AND_CONNECT
    attributes = _words(rights, network, _ABSTRACT_SOCKETS)
    size = ctypes.c_size_t(24 if abi >= 6 else 16 if abi >= 4 else 8)
    ruleset = _call("landlock", _CREATE_RULESET, ctypes.byref(attributes), size, ctypes.c_uint(0))
    for kind, path in places:
        handle = _open(path) if kind in ("write", "device") else None
        if handle is None:
            continue
        of_file = _WRITE_FILE | _TRUNCATE | _IOCTL_DEVICE
        allowed = rights & (
            of_file if kind == "device" or not os.path.isdir(path) else ~(_MAKE_DEVICES | _IOCTL_DEVICE)
        )
        rule = ctypes.create_string_buffer(
            allowed.to_bytes(8, sys.byteorder) + handle.to_bytes(4, sys.byteorder, signed=True), 12
        )
        _call("a rule of landlock", _ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(1), rule, ctypes.c_uint(0))
        os.close(handle)
    _done("no new privileges", _libc.prctl(_NO_NEW_PRIVS, 1, 0, 0, 0))
    _call("landlock", _RESTRICT_SELF, ctypes.c_int(ruleset), ctypes.c_uint(0))


def confine(options: list[bytes]) -> None:
    """Confine this process as the options say. Raises `Refused`."""
    given = [option.partition(b"=")[::2] for option in options]
    switches = {name.decode(): value for name, value in given}
    places = [(name.decode(), path) for name, path in given if name in (b"write", b"read", b"close", b"device")]
    mounts, network = "mounts" in switches, "netns" in switches
    if mounts or network:
        _new_namespaces((_NEW_MOUNTS if mounts else 0) | (_NEW_NETWORK if network else 0))
    if mounts:
        _arrange_mounts([place for place in places if place[0] != "device"])
    if network:
        _raise_loopback()
    os.chdir(switches["cwd"])  # again: the folder this process came from lies below the new mounts
    _drop_capabilities(needed=mounts or network)
    _restrict(places, tcp="net" not in switches)


def _probe() -> None:
    """Try each means in a child of its own, and say how it went."""
    for name, kinds in (("landlock", 0), ("mounts", _NEW_MOUNTS), ("netns", _NEW_NETWORK)):
        child = os.fork()
        if child == 0:
            try:
                _attempt(kinds)
                _say(1, f"{name}={landlock_abi() if name == 'landlock' else 'yes'}")
            except Refused as refused:
                _say(1, f"{name}=no: {refused}")
            os._exit(0)
        os.waitpid(child, 0)


def _attempt(kinds: int) -> None:
    if kinds:
        _new_namespaces(kinds)
    if kinds == _NEW_MOUNTS:
        _arrange_mounts([])
    if kinds == _NEW_NETWORK:
        _raise_loopback()
    _drop_capabilities(needed=kinds != 0)
    _restrict([], tcp=True)


def main() -> None:
    """Do as the command line says; return only by an error, with exit code 126."""
    words = [os.fsencode(word) for word in sys.argv[1:]]
    if words == [b"probe"]:
        _probe()
        return
    end = words.index(b"--")
    command = words[end + 1 :]
    try:
        confine(words[:end])
        os.execve(command[0], command, os.environb)
    except Refused as refused:
        sys.exit(_report(str(refused)))
    except OSError as failure:
        sys.exit(_report(failure.strerror or str(failure)))


def _say(handle: int, line: str) -> None:
    os.write(handle, f"{line}\n".encode(errors="surrogateescape"))


def _report(why: str) -> int:
    _say(2, f"trimtab: nothing was run, since the sandbox could not be set up: {why}")
    return _FAILED


if __name__ == "__main__":
    main()
