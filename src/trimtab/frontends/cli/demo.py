"""`trimtab demo`: the main job, offline. Says plainly that the model is a script; with `--llm`, talks to a small real one instead."""

import os
import shlex
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path

import anyio
import click

from trimtab.coding.choose import New
from trimtab.coding.demo import (
    MAX_OUTPUT,
    NEEDLE,
    PRICES,
    PROMPT,
    WINDOW,
    demo_env,
    script_lines,
    tests_pass,
    write_project,
)
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.config.home import environment
from trimtab.frontends.cli.demo_account import account_lines
from trimtab.frontends.cli.screen import width_of, wrapped
from trimtab.frontends.cli.text import TextPrinter
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.ids import drawn_from
from trimtab.types.messages import user


@click.command("demo")
@click.option("--keep", is_flag=True, help="Keep the temp folder with the project and the session.")
@click.option("--llm", is_flag=True, help="Talk to a small real model on this machine instead.")
def command(*, keep: bool, llm: bool) -> int:
    """Watch a failing test being repaired: real loop, tools and session; the model is a script."""
    folder = Path(tempfile.mkdtemp(prefix="trimtab-demo-"))
    try:
        if llm:
            from trimtab.frontends.cli.demo_llm import talk_to_small_model

            return anyio.run(talk_to_small_model, folder)
        # Ids have tokens, and nobody should wonder why a second run counts others.
        with drawn_from("demo"):
            return anyio.run(partial(_demo, folder, keep=keep))
    finally:
        if keep:
            click.echo(f"kept: {folder}", err=True)
        else:
            _remove(folder)


async def _demo(folder: Path, *, keep: bool) -> int:
    work, home = folder / "receipt", folder / "home"
    work.mkdir()
    home.mkdir()
    write_project(work)
    _say("This demo runs offline. The model is a SCRIPT: its words were written beforehand.")
    _say("Everything else is real: the loop, the tools, the files, the test runs, the session on disk.\n")
    _say(f"Project: {work} (a small program whose test fails)\nPrompt:  {PROMPT}\n")
    scripted = {
        "context_window": WINDOW,
        "max_output": MAX_OUTPUT,
        "models": [{"id": "demo", "tokenizer": "o200k", **PRICES}],
    }
    overrides = {
        "model": "scripted/demo",
        "permissions": {"mode": "full"},
        "instructions": {"enabled": False},
        "providers": {"scripted": scripted},
    }
    env = demo_env(environment(), home)
    project = open_project(work, overrides=overrides, env=env)
    async with open_session(project, New(), provider=ScriptedProvider(script_lines())) as session:
        # The path of a temp folder is another one each time. Its name is enough here: every path in a call is relative.
        said = session.agent.system.replace(str(project.cwd), project.cwd.name)
        session.instructions.project = open_project(work, overrides={**overrides, "system_prompt": said}, env=env)
        printer = TextPrinter(live=True, progress=True)
        async with anyio.create_task_group() as group:
            group.start_soon(printer.follow, session.feed.subscribe())
            await session.announce()
            turn = await session.prompt(user(PROMPT))
            result = session.result(turn)
            session.feed.close()
        account = await account_lines(session)
    fixed = tests_pass(work)
    _say("")
    _say(f"The tests, run once more outside the agent: {'pass' if fixed else 'FAIL'}.")
    _say(f"Changed: {', '.join(os.path.basename(f) for f in result.changed_files)}. Steps: {result.steps}.")
    _say("")
    for line in account:
        _say(line)
    entries = await anyio.Path(result.session_file).read_bytes() if result.session_file else b""
    _say(f"The session file held {entries.count(10)} lines, each on disk before the step after it.")
    _say("")
    for line in _to_look_at(result.session_file if keep else None):
        sys.stdout.write(f"{line}\n")  # a command that was wrapped couldn't be copied
    _say('Next: trimtab doctor shows what is configured; trimtab -p "…" works in your own project.')
    return 0 if fixed and turn.reason == "stop" else 1


def _to_look_at(session_file: str | None) -> list[str]:
    """How to see the context of this session; of one that isn't kept, how to keep it."""
    if session_file is None:
        return ["Look around in it: trimtab demo --keep keeps the session, and says how trimtab context shows it."]
    file = shlex.quote(session_file)
    return [
        "Look around in it:",
        f"  trimtab context log {file} --diff",
        f"  trimtab context show {file} --window {WINDOW}",
        f"  trimtab context blame {file} '{NEEDLE}'",
    ]


def _say(text: str) -> None:
    sys.stdout.write(wrapped(text, width_of(sys.stdout)) + "\n")
    sys.stdout.flush()


def _remove(folder: Path) -> None:
    shutil.rmtree(folder, ignore_errors=True)
