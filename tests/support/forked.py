"""Runs the command line in forks of one process that has imported it, so that hundreds of runs cost no start-up.

    with Launcher(cli) as launcher:
        run = launcher.start("-p", "hi", …)    # returns at once; standard output goes to run.stdout
        run.kill()                             # SIGKILL, and wait

The launcher is a single thread, so its forks are sound. Each run is a session and process group of its own.
"""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import TracebackType

from support.cli import Cli

_USED = ("coding.session", "frontends.cli.app", "frontends.cli.run", "frontends.cli.turn", "providers.scripted")


@dataclass(frozen=True)
class Run:
    """One run in the background."""

    pid: int
    stdout: Path
    launcher: "Launcher"

    def kill(self) -> None:
        """End it at this very instant, unless it has ended, and wait."""
        self.launcher.order({"kill": self.pid})

    def wait(self) -> float:
        """Wait for its own end; return how many seconds it took."""
        start = time.perf_counter()
        self.launcher.order({"wait": self.pid})
        return time.perf_counter() - start


class Launcher:
    """The process that forks. It takes orders as JSON lines and answers each with a number."""

    def __init__(self, cli: Cli) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", "from support.forked import serve; serve()"],
            env={**cli.environment(), "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> "Launcher":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate()

    def start(self, cli: Cli, *args: str) -> Run:
        """Fork a run of `trimtab ARGS` in the home and project of `cli`."""
        stdout = cli.root / "stdout"
        stdout.write_bytes(b"")  # a run may be killed before it opens it
        order = {"argv": args, "cwd": str(cli.project), "env": cli.environment(), "stdout": str(stdout)}
        return Run(self.order(order), stdout, self)

    def order(self, order: Mapping[str, object]) -> int:
        """Give an order; return the answer."""
        assert self._process.stdin
        assert self._process.stdout
        self._process.stdin.write(json.dumps(order) + "\n")
        self._process.stdin.flush()
        return int(self._process.stdout.readline())


def serve() -> None:
    """Take orders until standard input ends."""
    for name in _USED:
        import_module(f"trimtab.{name}")
    for line in sys.stdin:
        order = json.loads(line)
        if "argv" in order:
            answer = os.fork()
            if not answer:
                _run(order["argv"], order["cwd"], order["env"], order["stdout"])
        else:
            pid = order.get("kill") or order["wait"]
            if "kill" in order:
                os.kill(pid, signal.SIGKILL)  # a run that has ended is a zombie of ours, so the id can't be another's
            answer = os.waitpid(pid, 0)[1]
        print(answer, flush=True)


def _run(argv: list[str], cwd: str, env: dict[str, str], stdout: str) -> None:
    from trimtab.frontends.cli.app import main

    os.setsid()
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    out = os.open(stdout, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(out, 1)
    os.dup2(null, 2)
    code = 70
    try:
        code = main(argv)
    finally:
        sys.stdout.flush()
        os._exit(code)
