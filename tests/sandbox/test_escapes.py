"""Ways out of the project, tried for real with every backend of this machine: nothing outside changes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from sandbox.conftest import BACKENDS, WHOLE, World, backend

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="NOT TESTED: Linux's backends")

PYTHON = "/usr/bin/env python3 -c"
ESCAPES = {
    "an absolute path": 'echo bad > "$OUT/secret"',
    "a new file": 'echo bad > "$OUT/new"',
    "dots": "echo bad > ../outside/secret",
    "many dots": "echo bad > ./././../project/../outside/secret",
    "a link that is there": "echo bad > out/secret",
    "a link that it makes": 'ln -s "$OUT/secret" mine && echo bad > mine',
    "a link to a folder that it makes": 'ln -s "$OUT" there && mkdir there/new; echo bad > there/new/file',
    "a hard link": 'ln "$OUT/secret" mine && echo bad > mine',
    "a hard link from inside out": 'echo bad > x; ln x "$OUT/new"',
    "taking a file away": 'mv "$OUT/secret" taken',
    "moving a file there": 'echo bad > x; mv x "$OUT/secret"',
    "moving a folder there": 'mkdir d; mv d "$OUT/folder"',
    "removing": 'rm -rf "$OUT/folder" "$OUT/secret"',
    "emptying": f"{PYTHON} \"import os; os.truncate(os.environ['OUT'] + '/secret', 0)\"",
    "exchanging": f"{PYTHON} \"import ctypes,os,sys; sys.exit(ctypes.CDLL(None).renameat2(-100, b'own', -100, os.fsencode(os.environ['OUT'] + '/folder'), 2))\"",
    "a folder handle": f"{PYTHON} \"import os; os.open('secret', os.O_WRONLY | os.O_TRUNC, dir_fd=os.open(os.environ['OUT'], os.O_RDONLY))\"",
    "an own root": 'echo bad > "/proc/self/root$OUT/secret"',
    "an own folder in /proc": "cd ..; echo bad > /proc/self/cwd/outside/secret",
    "the root of another process": 'echo bad > "/proc/$OTHER/root$OUT/secret"',
    "the folder of another process": 'echo bad > "/proc/$OTHER/cwd/secret"',
    "an open file of another process": 'echo bad > "/proc/$OTHER/fd/3"',
    "the namespaces of another process": 'nsenter -t "$OTHER" -m -- sh -c \'echo bad > "$OUT/secret"\'',
    "namespaces of its own": 'unshare -Urm sh -c \'mount -o remount,rw,bind / ; mount --bind . "$OUT"; echo bad > "$OUT/secret"\'',
    "another root": "chroot / sh -c 'echo bad > \"$OUT/secret\"'",
    "a child that leaves": "(setsid sh -c 'sleep 0.2; echo bad > \"$OUT/secret\"; echo late > late' &) ; sleep 1",
    "an own devices node": "mknod disk b 8 0",
    "taking back the mounts": f"{PYTHON} \"import ctypes,os; a = (ctypes.c_uint64 * 4)(0, 1, 0, 0); l = ctypes.CDLL(None); [l.syscall(442, -100, p, 0x8000, a, 32) for p in (b'/', os.fsencode(os.environ['OUT']))]; os.truncate(os.environ['OUT'] + '/secret', 0)\"",
    "unmounting": f'{PYTHON} "import ctypes; l = ctypes.CDLL(None); [l.umount2(b\'.\', 2) for _ in range(9)]"; echo bad > "$OUT/secret"',
}
OTHERWISE = {
    "modes": 'chmod 777 "$OUT/secret"',
    "owners": 'chown 1:1 "$OUT/secret"',
    "times": 'touch -d 2001-01-01 "$OUT/secret"',
}


@pytest.fixture
def other(world: World) -> subprocess.Popen[bytes]:
    """A process of the same person, outside the sandbox, with an open file."""
    command = "exec 3>>secret; while [ ! -e stop ]; do sleep 0.2; done"
    return subprocess.Popen(["sh", "-c", command], cwd=world.outside, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("escape", ESCAPES)
@pytest.mark.parametrize("name", BACKENDS)
def test_nothing_outside_changes_by(world: World, other: subprocess.Popen[bytes], name: str, escape: str) -> None:
    if escape == "emptying":
        backend(name, world.plan(), abi=3)
    before = world.tree()
    try:
        ran = world.run(name, ESCAPES[escape], environment={"OTHER": str(other.pid)})
        assert world.tree() == before, ran.stdout
        assert ran.returncode != 0 or "child that leaves" in escape
        assert (world.project / "late").exists() == ("child that leaves" in escape)
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("name", BACKENDS)
def test_another_process_can_be_neither_traced_nor_written_to(
    world: World, other: subprocess.Popen[bytes], name: str
) -> None:
    code = (
        "import ctypes, os, sys\n"
        "pid = int(os.environ['OTHER'])\n"
        "print(ctypes.CDLL(None).ptrace(16, pid, 0, 0))\n"
        "for way in ('mem', 'environ'):\n"
        "    try: open(f'/proc/{pid}/{way}', 'r+b' if way == 'mem' else 'rb').read(1); print('open')\n"
        "    except OSError: print('closed')\n"
    )
    try:
        ran = world.run(name, f'{PYTHON} "$CODE"', environment={"OTHER": str(other.pid), "CODE": code})
        assert ran.stdout.split() == ["-1", "closed", "closed"]
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("change", OTHERWISE)
@pytest.mark.parametrize("name", WHOLE)
def test_mounts_also_hold_what_is_no_writing(world: World, name: str, change: str) -> None:
    before = world.tree()
    assert world.run(name, OTHERWISE[change]).returncode != 0
    assert world.tree() == before


def test_landlock_alone_does_not_hold_modes(world: World) -> None:
    """As the documentation says; when this fails, the kernel has learnt it."""
    assert world.run("landlock", OTHERWISE["modes"]).returncode == 0


@pytest.mark.parametrize("name", BACKENDS)
def test_the_project_is_written_as_ever(world: World, name: str) -> None:
    command = (
        "echo new > top && mkdir -p deep/er && echo x > deep/er/file && mv deep/er/file moved && ln moved hard && ln -s moved soft && "
        "mkfifo pipe && truncate -s 9 top && chmod 600 top && echo seen > /dev/stderr && echo gone > /dev/null && pwd"
    )
    ran = world.run(name, command)
    assert (ran.returncode, ran.stdout) == (0, f"seen\n{world.project}\n")
    assert os.stat(world.project / "top").st_size == 9


@pytest.mark.parametrize("name", BACKENDS)
def test_a_process_id_and_a_signal_are_the_commands_own(world: World, name: str) -> None:
    ran = world.run(name, "echo $PPID; kill -TERM $$")
    assert ran.returncode == (128 + 15 if name == "bubblewrap" else -15)


@pytest.mark.parametrize("name", BACKENDS)
def test_a_place_that_became_a_link_meanwhile_is_none(world: World, name: str) -> None:
    (world.project / "more").mkdir()
    late = world.root / "late"
    late.mkdir()
    plan = world.plan(write=(str(late),))
    assert str(late) in plan.write
    late.rmdir()
    late.symlink_to(world.outside)
    before = world.tree()
    world.run(name, 'echo bad > "$OUT/secret"; echo bad > ../late/secret', plan=plan)
    assert world.tree() == before


@pytest.mark.parametrize("folder", ["a=b", "--", "new\nline", "ünï", "with blank", "\udcff\udcfe", "a,b:c\\d"])
@pytest.mark.parametrize("name", BACKENDS)
def test_a_folder_may_have_any_name(world: World, name: str, folder: str) -> None:
    odd = world.root / folder
    (odd / ".trimtab").mkdir(parents=True)
    plan = world.plan(project=str(odd))
    ran = world.run(
        name, 'cd "$ODD" && echo x > file && echo bad > .trimtab/x', plan=plan, environment={"ODD": str(odd)}
    )
    assert (odd / "file").read_text() == "x\n", ran.stdout
    assert (odd / ".trimtab/x").exists() == (name == "landlock")


def test_a_command_that_can_not_be_confined_does_not_run(world: World) -> None:
    launcher = Path("src/trimtab/coding/sandbox/launcher.py").absolute()
    words = [sys.executable, "-I", "-S", str(launcher), "cwd=/nowhere/at/all", "--", "/bin/sh", "-c", "echo ran"]
    ran = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert (ran.returncode, ran.stdout) == (126, "")
    assert "nothing was run" in ran.stderr
