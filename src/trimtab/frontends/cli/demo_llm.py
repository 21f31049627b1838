"""`trimtab demo --llm`: a real model, small enough to come as a package, on this machine and nowhere else.

On a terminal it is the talk of `chat.py`; without one, one question and what the model answers. The session is kept in the demo's folder.
"""

import sys
from pathlib import Path

import anyio

from trimtab.coding.choose import New
from trimtab.coding.local_model import MODEL, WINDOW, local_model
from trimtab.coding.opening import open_session
from trimtab.coding.project import Project, open_project
from trimtab.config.home import environment
from trimtab.frontends.cli.chat import converse
from trimtab.frontends.cli.text import TextPrinter
from trimtab.types.messages import user

QUESTION = "The capital of France is"
_MAX_OUTPUT = 256


async def talk_to_small_model(folder: Path) -> int:
    """Serve the model, talk to it, end it; return the exit code. Raises `UsageError` when it isn't installed."""
    async with local_model() as base_url:
        _say("The model is REAL: SmolLM2, 135 million parameters, run by llama.cpp on this machine.")
        _say("So small a model knows a few facts and no tools. What it says differs little from a guess.\n")
        project = _project(folder, base_url)
        if sys.stdin is not None and sys.stdin.isatty():
            return await converse(project, New())
        return await _one_exchange(project)


def _project(folder: Path, base_url: str) -> Project:
    """The demo's own folder and settings: nothing of the person's is read or changed."""
    work, home = folder / "talk", folder / "home"
    work.mkdir()
    home.mkdir()
    overrides = {
        "model": f"local/{MODEL}",
        "providers": {"local": {"base_url": base_url, "context_window": WINDOW, "max_output": _MAX_OUTPUT}},
        "tools": {"enabled": []},
        "system_prompt": "",  # under instructions so small a model rambles
    }
    return open_project(work, overrides=overrides, env={**environment(), "TRIMTAB_HOME": str(home)})


async def _one_exchange(project: Project) -> int:
    _say(f"> {QUESTION}")
    async with open_session(project, New()) as session:
        async with anyio.create_task_group() as group:
            group.start_soon(TextPrinter(live=True).follow, session.feed.subscribe())
            started = anyio.current_time()
            turn = await session.prompt(user(QUESTION))
            seconds = anyio.current_time() - started
            session.feed.close()
        usage, where = turn.usage, project.settings.providers["local"].base_url
        _say(f"\n{usage.prompt} tokens in, {usage.output} out, {seconds:.1f} s, from {where}.")
        _say("On a terminal this command is a talk.")
    return 0 if turn.reason == "stop" else 1


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
