"""The command line as a person or a script meets it: a home, a project, and `trimtab` run in it.

`Cli.run` starts a real process. `Cli.inside` calls the same entry point in this process (ten times faster) where a process of its own is not
the point. Both give an `Outcome`: exit code, bytes of standard output, text of standard error, and in JSON mode the events.

    cli = Cli.at(tmp_path)
    cli.inside("-p", "hi", "--model", cli.script({"text": "hello"})).code == 0
"""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, TypeAlias
from unittest import mock

import trimtab
from support.servers import FakeServer, Reply, Step, sse
from trimtab.frontends.cli.app import main

Json: TypeAlias = dict[str, Any]
SOURCES = str(Path(trimtab.__file__).parents[1])


@dataclass(frozen=True)
class Outcome:
    """What one command left behind."""

    code: int
    stdout: bytes
    err: str

    @property
    def out(self) -> str:
        """Standard output as text."""
        return self.stdout.decode()

    @property
    def events(self) -> list[Json]:
        """The events of JSON mode."""
        return [json.loads(line) for line in self.stdout.split(b"\n") if line]

    def of(self, kind: str) -> list[Json]:
        """The events of one type."""
        return [event for event in self.events if event["type"] == kind]

    @property
    def result(self) -> Json:
        """The one last event."""
        (result,) = self.of("result")
        assert self.events[-1] == result
        return result

    @property
    def acknowledged(self) -> list[str]:
        """Ids of the entries that standard output says are durable; a torn last line says nothing."""
        whole = self.stdout[: self.stdout.rfind(b"\n") + 1]
        return [event["entry_id"] for line in whole.splitlines() if "entry_id" in (event := json.loads(line))]


def text_of(event: Mapping[str, Any]) -> str:
    """The text of an event's (or a message's) parts."""
    return "".join(part["text"] for part in event["parts"] if part["type"] == "text")


@dataclass(frozen=True)
class Cli:
    """A home and a project folder. `env` is added to an environment that holds nothing else of this machine's but the PATH."""

    root: Path
    env: dict[str, str] = field(default_factory=dict)

    @classmethod
    def at(cls, root: Path, **env: str) -> "Cli":
        """Make home and project below `root`."""
        cli = cls(root, env)
        cli.project.mkdir()
        return cli

    @property
    def home(self) -> Path:
        """`TRIMTAB_HOME`; made by whoever writes to it."""
        return self.root / "home"

    @property
    def project(self) -> Path:
        """The folder the commands run in."""
        return self.root / "project"

    @property
    def sessions(self) -> list[Path]:
        """The session files, the oldest first."""
        return sorted(self.home.glob("sessions/*/*.jsonl"), key=lambda p: p.stat().st_mtime_ns)

    def environment(self) -> dict[str, str]:
        """The whole environment of a command."""
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root),
            "TRIMTAB_HOME": str(self.home),
            "PYTHONPATH": SOURCES,
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            **self.env,
        }

    def config(self, text: str) -> None:
        """Write the user's settings."""
        self.home.mkdir(exist_ok=True)
        (self.home / "config.toml").write_text(text, "utf-8")

    def file(self, name: str, content: str | bytes) -> Path:
        """Write a file of the project."""
        path = self.project / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def script(self, *lines: Json) -> str:
        """Write a script and return the name of its model."""
        path = self.root / f"script{len(list(self.root.glob('script*')))}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        return f"scripted/{path}"

    def start(self, *args: str, **options: Any) -> "subprocess.Popen[bytes]":
        """Start the command in a process group of its own, with pipes for everything."""
        return subprocess.Popen(
            [sys.executable, "-m", "trimtab", *args],
            cwd=options.pop("cwd", self.project),
            env=self.environment(),
            stdin=options.pop("stdin", subprocess.DEVNULL),
            stdout=options.pop("stdout", subprocess.PIPE),
            stderr=subprocess.PIPE,
            start_new_session=True,
            **options,
        )

    def run(self, *args: str, stdin: bytes | None = None, timeout: float = 30, **options: Any) -> Outcome:
        """Run the command to its end. A command that hangs is killed and fails the test."""
        if stdin is not None:
            options["stdin"] = subprocess.PIPE
        return finish(self.start(*args, **options), stdin=stdin, timeout=timeout)

    def inside(self, *args: str, stdin: bytes | None = None) -> Outcome:
        """Run the command in this process; `stdin` comes from a pipe, and None is no standard input."""
        raw = io.BytesIO()
        out = io.TextIOWrapper(raw, encoding="utf-8", write_through=True)
        err = io.StringIO()
        with self._here(), redirect_stdout(out), redirect_stderr(err), piped(stdin):
            try:
                code = main(list(args))
            except SystemExit as left:  # so click ends a request for completions
                code = int(left.code or 0)
        out.flush()
        return Outcome(code, raw.getvalue(), err.getvalue())

    @contextmanager
    def _here(self) -> Iterator[None]:
        before = os.getcwd()
        with mock.patch.dict(os.environ, self.environment(), clear=True):
            os.chdir(self.project)
            try:
                yield
            finally:
                os.chdir(before)

    def calls(self, *calls: tuple[str, Json], permission: str = "full") -> list[Json]:
        """Let a scripted model make these calls in one step; return the `tool_ended` events, in call order."""
        script = self.script(
            {"tool_calls": [{"name": name, "arguments": arguments} for name, arguments in calls]}, {"text": "done"}
        )
        outcome = self.inside("-p", "go", "--mode", "json", "--permission", permission, "--model", script)
        assert outcome.code == 0, outcome.err
        ended = outcome.of("tool_ended")
        assert len(ended) == len(calls)
        return ended

    def call(self, name: str, permission: str = "full", /, **arguments: Any) -> Json:
        """Let a scripted model make one call; return its `tool_ended` event."""
        (ended,) = self.calls((name, arguments), permission=permission)
        return ended


@contextmanager
def piped(data: bytes | None) -> Iterator[None]:
    """For this long, `sys.stdin` is a pipe through which `data` comes, or nothing."""
    if data is None:
        with mock.patch.object(sys, "stdin", None):
            yield
        return
    there, here = os.pipe()

    def write() -> None:
        with suppress(BrokenPipeError), open(here, "wb") as end:
            end.write(data)

    writer = Thread(target=write)
    writer.start()
    with open(there, encoding="utf-8", errors="surrogateescape") as file, mock.patch.object(sys, "stdin", file):
        yield
    writer.join()


def finish(process: "subprocess.Popen[bytes]", *, stdin: bytes | None = None, timeout: float = 30) -> Outcome:
    """Wait for a started command."""
    try:
        out, err = process.communicate(stdin, timeout=timeout)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        raise AssertionError(f"the command hung; it had said {out!r} and {err!r}") from None
    return Outcome(process.returncode, out, err.decode())


def local(server: FakeServer, model: str = "tiny", **settings: Any) -> list[str]:
    """The flags that point a command at `server` as a Chat Completions provider named `local`."""
    values = {"base_url": f"{server.url}/v1", "context_window": 32_768, "max_output": 4_096, **settings}
    flags = [f for key, value in values.items() for f in ("--set", f"providers.local.{key}={value}")]
    return ["--model", f"local/{model}", *flags]


def delta(finish_reason: str | None = None, **fields: Any) -> Json:
    """One chunk of a Chat Completions stream."""
    return {"id": "c1", "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}


def said(text: str = "fine") -> Reply:
    """A whole good answer."""
    return Reply(sse(delta(content=text), delta("stop"), done=True))


def stream(*chunks: Any, done: bool = True, then: Iterable[Step] = ()) -> Reply:
    """A reply of these chunks."""
    return Reply([*sse(*chunks, done=done), *then])
