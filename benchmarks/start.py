"""Whole runs of the command line: what starting costs, the first request, JSON mode, three tools at once."""

import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path

from benchmarks.fake_server import Server
from benchmarks.installs import Install
from benchmarks.measure import Spent, cpu, in_turn, spend
from benchmarks.table import Row

ROUNDS = 5
ANSWER_DELTAS = 8192
TAU_ANSWER_DELTAS = 2048  # as `words-2048` in installs.py
"""Tau repeats the whole message for each delta; its bytes per answer byte grow with the length, and a shorter answer is enough to show it."""


def trimtab(install: Install, server: Server, model: str, *more: str) -> Spent:
    """One turn of Trimtab."""
    endpoint = ("--model", f"local/{model}", "--set", f"providers.local.base_url={server.url}")
    argv = [install.venv / "bin" / "trimtab", *endpoint, *more, "-p", "hi"]
    return spend(argv, env=install.env, cwd=install.work)


def tau(install: Install, model: str, *more: str) -> Spent:
    """One turn of tau; `install_tau` made a provider of the model's name."""
    argv = [install.venv / "bin" / "tau", "--provider", model, "--model", model, *more, "-p", "hi"]
    return spend(argv, env=install.env, cwd=install.work)


def _run(install: Install, *argv: str | Path) -> Callable[[], Spent]:
    return partial(spend, argv, env=install.env, cwd=install.work)


def start_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """CPU seconds of `--version`, `--help` and `-p hi`, each against its own bare interpreter."""
    cases = {"bare": _run(ours, ours.python, "-c", "pass")}
    for flag in ("--version", "--help"):
        cases[flag] = _run(ours, ours.venv / "bin" / "trimtab", flag)
    cases["-p hi"] = partial(trimtab, ours, server, "words-1")
    if theirs:
        cases["tau bare"] = _run(theirs, theirs.python, "-c", "pass")
        for flag in ("--version", "--help"):
            cases[f"tau {flag}"] = _run(theirs, theirs.venv / "bin" / "tau", flag)
        cases["tau -p hi"] = partial(tau, theirs, "words-1")
    runs = in_turn(cases, rounds=ROUNDS)
    used = {name: cpu(spent) for name, spent in runs.items()}

    def times(name: str, bare: str) -> str:
        return f"{used[name]:.3f} s = {used[name] / used[bare]:.1f} x bare python"

    def peer(name: str) -> str:
        return times(f"tau {name}", "tau bare") if theirs else ""

    version, hi = used["--version"] / used["bare"], used["-p hi"]
    return [
        Row("CPU of `python -c pass`", f"{used['bare']:.3f} s", peer=f"{used['tau bare']:.3f} s" if theirs else ""),
        Row("CPU of `--version`", times("--version", "bare"), "<= 3 x bare", version <= 3, peer("--version")),
        Row("CPU of `--help`", times("--help", "bare"), peer=peer("--help")),
        Row("CPU of `-p hi`, local server", times("-p hi", "bare"), "<= 0.5 s", hi <= 0.5, peer("-p hi")),
        Row(
            "peak memory of `-p hi`",
            f"{runs['-p hi'][0].rss_mb:.0f} MB",
            peer=f"{runs['tau -p hi'][0].rss_mb:.0f} MB" if theirs else "",
        ),
    ]


def request_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """Bytes of the first request for `hi`, all eight tools on; with the context tools of the default profile beside it."""
    trimtab(ours, server, "words-1", "--no-session", "--set", "context.tools=off")
    size = server.sizes()[-1]
    trimtab(ours, server, "words-1", "--no-session")
    more = server.sizes()[-1] - size
    peer = ""
    if theirs:
        before = len(server.sizes())
        tau(theirs, "words-1")
        peer = " + ".join(f"{n:,}" for n in server.sizes()[before:]) + " bytes"
    return [
        Row("first request for `hi`, context tools off", f"{size:,} bytes", "<= 6,144", size <= 6144, peer),
        Row("what the context tools add to it", f"{more:,} bytes", "<= 3,072", more <= 3072),
    ]


def json_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """Bytes of JSON mode per byte of answer."""
    answer = ANSWER_DELTAS * 4
    ratio = len(trimtab(ours, server, f"words-{ANSWER_DELTAS}", "--mode", "json").output) / answer
    peer = ""
    if theirs:
        short = TAU_ANSWER_DELTAS * 4
        spent = tau(theirs, f"words-{TAU_ANSWER_DELTAS}", "--mode", "json")
        peer = f"{len(spent.output) / short:,.0f} (answer of {short // 1024} KB)"
    return [Row(f"JSON bytes per answer byte, {answer // 1024} KB", f"{ratio:.2f}", "<= 4", ratio <= 4, peer)]


def tool_rows(ours: Install, theirs: Install | None, server: Server) -> list[Row]:
    """Wall time of a run whose model calls three tools of two seconds at once."""
    cases = {"ours": partial(trimtab, ours, server, "sleepers", "--permission", "full")}
    if theirs:
        cases["tau"] = partial(tau, theirs, "sleepers")
    walls = {name: statistics.median(r.wall_s for r in runs) for name, runs in in_turn(cases, rounds=3).items()}
    wall = walls["ours"]
    peer = f"{walls['tau']:.1f} s" if theirs else ""
    return [Row("wall of three parallel 2 s tools", f"{wall:.1f} s", "< 4 s", wall < 4, peer)]


def size_rows(ours: Install, theirs: Install | None) -> list[Row]:
    """What an install weighs."""
    size, count = ours.megabytes(), ours.distributions()
    return [
        Row(
            "base install",
            f"{size:.0f} MB",
            "<= 60 MB",
            size <= 60,
            f"{theirs.megabytes():.0f} MB with pip" if theirs else "",
        ),
        Row("distributions", str(count), "<= 30", count <= 30, str(theirs.distributions()) if theirs else ""),
    ]
