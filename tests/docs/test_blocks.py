"""What stands in a fenced block works: Python runs, commands parse (those that need no network run), settings load."""

import io
import json
import os
import re
import subprocess
import sys
import tomllib
from contextlib import redirect_stdout
from pathlib import Path

import click
import pytest

from support.pages import ROOT, Block, all_blocks, blocks, commands, make_targets, pages, prose
from trimtab.config.load import Layer, load
from trimtab.frontends.cli import app
from trimtab.providers.classify import load_rules
from trimtab.providers.script import make_script

PYTHON = [page for page in pages() if any(not b.not_run for b in blocks(page, "python"))]
CONSOLE = [b for b in all_blocks("console") if not b.not_run]
SHELL = all_blocks("console", "bash", "sh")
TOML = [b for b in all_blocks("toml") if not b.not_run]
OFFLINE = {
    ("--version",),
    ("context", "show"),
    ("context", "log"),
    ("context", "blame"),
    ("models",),
    ("login", "--list"),
    ("replay",),
    ("bench",),
    ("doctor",),
    ("config",),
    ("completion",),
    ("sessions",),
    ("trust",),
    ("demo",),
}


def named(items):
    return [item.where if isinstance(item, Block) else str(item.relative_to(ROOT)) for item in items]


@pytest.fixture
def empty(tmp_path, monkeypatch):
    """A working folder and a home with nothing in them."""
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    monkeypatch.setenv("TRIMTAB_HOME", str(tmp_path / "home"))
    for name in [name for name in os.environ if name.endswith("_API_KEY")]:
        monkeypatch.delenv(name)
    return work


def write_files(page: Path, folder: Path) -> None:
    """Save the blocks of a page that a comment gives a name."""
    for block in blocks(page):
        if block.file:
            target = folder / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text, "utf-8")


@pytest.mark.parametrize("page", PYTHON, ids=named(PYTHON))
def test_each_python_block_on_a_page_runs_alone(page, empty, monkeypatch):
    """A comment at the end of a line (`print(x)  # → text`) says what it prints."""
    write_files(page, empty)
    monkeypatch.syspath_prepend(str(empty))
    for block in blocks(page, "python"):
        if block.not_run:
            continue
        out = io.StringIO()
        with redirect_stdout(out):
            exec(compile("\n" * block.line + block.text, str(page), "exec"), {"__name__": "__main__"})
        promised = re.findall(r"# → (.+)$", block.text, re.M)
        assert out.getvalue().splitlines() == promised, block.where


@pytest.mark.parametrize("block", SHELL, ids=named(SHELL))
def test_commands_on_a_page_exist_with_their_options(block, monkeypatch, capsys):
    monkeypatch.setattr(click.Command, "invoke", lambda self, ctx: 0)
    for line in shell_lines(block):
        for command in commands(line):
            if command[0] == "make":
                assert set(command[1:]) <= make_targets(), line
            if command[0] == "trimtab":
                assert (app.main(command[1:]), line, capsys.readouterr().err) == (0, line, "")


def shell_lines(block: Block) -> list[str]:
    text = block.text.replace("\\\n", " ")
    prompts = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return prompts if block.language == "console" else text.splitlines()


def is_offline(command: tuple[str, ...], home: Path) -> bool:
    """Whether a command reaches no network, so that it can be run here. A session in this home was made by a test model."""
    if command[0] != "trimtab" or "--online" in command:
        return command[0] == "tail"
    if "--continue" in command:
        return (home / "sessions").exists()
    scripted = any(word.startswith(("scripted/", "recorded/")) for word in command)
    return scripted or any(command[1 : 1 + len(start)] == start for start in OFFLINE)


@pytest.mark.parametrize("block", CONSOLE, ids=named(CONSOLE))
def test_commands_that_need_no_network_print_what_the_page_shows(block, empty, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    write_files(block.page, empty)
    for line, shown in exchanges(block):
        found = list(commands(line))
        if not found or ">" in line or not all(is_offline(command, tmp_path / "home") for command in found):
            continue
        code = app.main(found[0][1:])
        said = capsys.readouterr()
        assert code in (0, 1), (line, said.err)
        out = said.out.splitlines()[-1:] if found[-1][0] == "tail" else said.out.splitlines()
        assert not shown or re.fullmatch(pattern(shown), "\n".join(out), re.S), (line, said)


def exchanges(block: Block) -> list[tuple[str, str]]:
    """Each command line with what the page shows below it."""
    parts = re.split(r"^\$ ", block.text.replace("\\\n", " "), flags=re.M)[1:]
    return [(line, shown.strip("\n")) for line, _, shown in (part.partition("\n") for part in parts)]


def pattern(shown: str) -> str:
    """What is shown as a pattern: `…` stands for anything."""
    return ".*?".join(re.escape(piece) for piece in shown.split("…"))


@pytest.mark.parametrize("block", TOML, ids=named(TOML))
def test_settings_on_a_page_load(block):
    values = tomllib.loads(block.text)
    if set(values) == {"rule"}:
        assert load_rules(block.text, source=block.where)
    else:
        load([Layer(block.where, values)])


@pytest.mark.parametrize("block", all_blocks("json", "jsonl"), ids=named(all_blocks("json", "jsonl")))
def test_json_on_a_page_is_json_and_a_script_is_a_script(block):
    rows = (
        [json.loads(line) for line in block.text.splitlines()]
        if block.language == "jsonl"
        else [json.loads(block.text)]
    )
    if block.file.endswith(".jsonl"):
        assert make_script(rows)


@pytest.mark.parametrize("page", pages(), ids=named(pages()))
def test_a_make_target_that_a_page_names_exists(page):
    named_targets = set(re.findall(r"`make ([a-z-]+)`", prose(page)))
    assert named_targets <= make_targets()


EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


@pytest.mark.parametrize("example", EXAMPLES, ids=named(EXAMPLES))
def test_an_example_runs_and_prints(example, empty):
    env = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(example)], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
