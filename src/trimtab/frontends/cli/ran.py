"""What a command took, for the report page: a line in the folder that the command wrote.

the line as it was given + its seconds ──▶ DIR/timings.jsonl      the same line again adds to its seconds: a run that goes on is one run
"""

import os
import platform
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import msgspec
from click.core import ParameterSource

from trimtab.types.errors import StoreError

TIMINGS = "timings.jsonl"


@contextmanager
def noted(folder: Path | None) -> Iterator[None]:
    """Write down in `folder` what the command within took, once it is done. Raises `StoreError` where that can't be written."""
    begun = time.monotonic()
    yield
    if folder is not None:
        _note(folder / TIMINGS, given_line(), time.monotonic() - begun)


def given_line() -> str:
    """Return the line that the command was given, its options in the order of its help."""
    here = click.get_current_context()
    words = ["trimtab", here.command.name or ""]
    for one in here.command.params:
        if one.name is None or here.get_parameter_source(one.name) is not ParameterSource.COMMANDLINE:
            continue
        value = here.params[one.name]
        values = [str(each) for each in (value if isinstance(value, tuple) else (value,))]
        if isinstance(one, click.Argument):
            words += values
        elif isinstance(one, click.Option) and one.is_flag:
            words.append(one.opts[0])
        else:
            words += [word for each in values for word in (one.opts[0], each)]
    return shlex.join(words)


def _note(path: Path, command: str, seconds: float) -> None:
    from trimtab.lab.report.reading import Timing

    known: dict[str, Timing] = {}
    try:
        for line in path.read_bytes().splitlines() if path.is_file() else ():
            try:
                one = msgspec.json.decode(line, type=Timing)
            except msgspec.DecodeError:
                continue  # a line that was cut off
            known[one.command] = one
        before = known[command].seconds or 0.0 if command in known else 0.0
        machine = f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}"
        known[command] = Timing(command=command, seconds=round(before + seconds, 1), machine=machine)
        new = path.with_name(f".{path.name}.new")
        new.write_bytes(b"".join(msgspec.json.encode(each) + b"\n" for each in known.values()))
        new.replace(path)
    except OSError as problem:
        raise StoreError(
            f"{str(path)!r} can't be written: {problem.strerror}", hint="Make room, or name another folder with --out."
        ) from problem
