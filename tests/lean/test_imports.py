"""What a process loads: the kernel no library of weight, a command no more than it needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import Cli

HEAVY = frozenset(
    {
        "httpx",
        "httpx2",
        "httpcore2",
        "click",
        "rich",
        "textual",
        "starlette",
        "torch",
        "numpy",
        "pydantic",
        "sqlite3",
        "ssl",
        "tomllib",
    }
)
_COMMAND = """
import sys
before = set(sys.modules)
from trimtab.main import main
sys.argv[1:] = {argv!r}
code = main()
sys.stderr.write("\\n" + " ".join(sorted(set(sys.modules) - before)))
sys.exit(code)
"""


def loaded(cli: Cli, code: str) -> set[str]:
    """The modules that a process says it has loaded, on the last line of its standard error."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cli.project,
        env=cli.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stderr.rsplit("\n", 1)[-1].split())


def roots(modules: set[str]) -> set[str]:
    """Top-level names."""
    return {name.partition(".")[0] for name in modules}


@pytest.mark.parametrize(
    "module",
    [
        "trimtab.types",
        "trimtab.context.stores.folder",
        "trimtab.context.tools.profiles",
        "trimtab.context.embed.manager",
        "trimtab.context.embed.plain_context",
        "trimtab.agent",
        "trimtab.coding",
    ],
)
def test_the_kernel_loads_no_library_of_weight(module: str, tmp_path: Path) -> None:
    """Whoever embeds it pays for msgspec and anyio alone."""
    seen = loaded(Cli.at(tmp_path), f"import sys, {module}; sys.stderr.write('\\n' + ' '.join(sys.modules))")
    assert module in seen
    assert roots(seen) & HEAVY == set()


def test_the_version_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    """Two small modules of our own."""
    assert loaded(Cli.at(tmp_path), _COMMAND.format(argv=["--version"])) == {"trimtab", "trimtab.main"}


def test_help_loads_neither_a_session_nor_a_provider(tmp_path: Path) -> None:
    """Help needs the option parser only."""
    seen = loaded(Cli.at(tmp_path), _COMMAND.format(argv=["--help"]))
    assert "trimtab.frontends.cli.app" in seen
    assert {m for m in seen if m.startswith(("trimtab.coding.session", "trimtab.providers", "trimtab.agent"))} == set()
    assert roots(seen) & {"httpx2", "ssl", "asyncio"} == set()


def test_a_model_without_http_loads_no_http_client(tmp_path: Path) -> None:
    """A provider's library is imported when it is opened, not before."""
    cli = Cli.at(tmp_path)
    seen = loaded(cli, _COMMAND.format(argv=["-p", "hi", "--model", cli.script({"text": "hello"})]))
    assert "trimtab.coding.session" in seen
    assert roots(seen) & {"httpx2", "httpcore2", "h11"} == set()


def test_who_has_no_skills_and_no_templates_loads_no_yaml(tmp_path: Path) -> None:
    """Instruction files are plain text; front matter is read where there is some."""
    cli = Cli.at(tmp_path)
    cli.file("AGENTS.md", "Be brief.")
    model = cli.script({"text": "hello"}, {"text": "hello"})
    argv = ["-p", "hi", "--trust", "once", "--model", model]
    assert "yaml" not in loaded(cli, _COMMAND.format(argv=argv))
    cli.file(".agents/skills/pdf/SKILL.md", "---\nname: pdf\ndescription: d\n---\n")
    assert "yaml" in loaded(cli, _COMMAND.format(argv=argv))


def test_only_a_server_loads_what_serves_other_programs(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    model = cli.script({"text": "hello"})
    ours = {name for name in loaded(cli, _COMMAND.format(argv=["-p", "hi", "--model", model])) if ".rpc" in name}
    assert ours == set()
    assert "trimtab.frontends.rpc.serve" in loaded(cli, _COMMAND.format(argv=["--mode", "rpc", "--model", model]))


SELDOM = (
    "trimtab.context.counting.anchor",
    "trimtab.context.counting.counter",
    "trimtab.context.cycle.account",
    "trimtab.context.cycle.cycle",
    "trimtab.context.cycle.deciding",
    "trimtab.context.cycle.managing",
    "trimtab.context.cycle.marks",
    "trimtab.context.economics",
    "trimtab.context.editing.applying",
    "trimtab.context.editing.compacting",
    "trimtab.context.editing.planning",
    "trimtab.context.recall.index",
    "trimtab.context.seeing.observing",
    "trimtab.context.seeing.regret",
    "trimtab.context.shorten",
    "trimtab.context.telling",
    "trimtab.context.tools.edit_context",
    "trimtab.context.tools.memory",
    "trimtab.context.tools.plan",
    "trimtab.context.validate.mend",
)


def test_a_first_request_with_room_to_spare_loads_neither_what_counts_nor_what_edits(tmp_path: Path) -> None:
    """A short question pays for the view, the validator and the tools that the model is told of."""
    cli = Cli.at(tmp_path)
    seen = loaded(cli, _COMMAND.format(argv=["-p", "hi", "--model", cli.script({"text": "hello"})]))
    assert "trimtab.context.engine" in seen
    assert {name for name in seen if name.startswith(SELDOM)} == set()


def test_a_small_session_that_goes_on_loads_no_vocabulary_either(tmp_path: Path) -> None:
    """What is small whatever a tokenizer would say is not counted, whether it is the first turn or the tenth."""
    cli = Cli.at(tmp_path)
    model = cli.script({"text": "hello"}, {"text": "again"})
    assert cli.run("-p", "hi", "--model", model, "--session", "s.jsonl").code == 0
    seen = loaded(cli, _COMMAND.format(argv=["-p", "more", "--model", model, "--session", "s.jsonl"]))
    assert "trimtab.context.engine" in seen
    assert {name for name in seen if name.startswith(("toktok", "trimtab.context.counting.counter"))} == set()


def test_who_has_no_extensions_and_no_hooks_loads_nothing_of_them(tmp_path: Path) -> None:
    """Whether there are any is a look at a few folders."""
    cli = Cli.at(tmp_path)
    seen = loaded(cli, _COMMAND.format(argv=["-p", "hi", "--model", cli.script({"text": "hello"})]))
    assert {name for name in seen if name.startswith("trimtab.coding.extensions.")} == {
        "trimtab.coding.extensions.acting",
        "trimtab.coding.extensions.open",
    }
    assert "importlib.metadata" not in seen
