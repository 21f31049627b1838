"""The extensions that ship as examples do what they say, in real runs of the command line."""

from pathlib import Path

import pytest

from support.cli import Cli, text_of
from support.pages import ROOT

EXAMPLES = ROOT / "examples" / "extensions"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """Home and project."""
    return Cli.at(tmp_path)


def run(cli: Cli, example: str, *calls: dict, more: tuple[str, ...] = ()) -> list[str]:
    """What the model read of its calls, with that example."""
    model = cli.script(*({"tool_calls": [call]} for call in calls), {"text": "done"})
    outcome = cli.inside("-p", "go", "--mode", "json", "--model", model, "-e", str(EXAMPLES / example), *more)
    assert outcome.code == 0
    return [text_of(event) for event in outcome.of("tool_ended")]


def writes(path: str) -> dict:
    """A call that writes a file."""
    return {"name": "write", "arguments": {"path": path, "content": "x"}}


def test_protect_refuses_files_by_pattern_whatever_way_leads_there(cli: Cli) -> None:
    cli.file("poetry.lock", "kept")
    (cli.project / "link").symlink_to("poetry.lock")
    results = run(
        cli,
        "protect.py",
        writes("poetry.lock"),
        writes("a/../poetry.lock"),
        writes("link"),
        writes("migrations/1.sql"),
        writes("ok.md"),
    )
    assert [text.startswith("Not run: ") for text in results] == [True, True, True, True, False]
    assert results[0] == "Not run: poetry.lock is protected by '*.lock': ask the person to change it"
    assert (cli.project / "poetry.lock").read_text() == "kept"
    assert (cli.project / "ok.md").read_text() == "x"


def test_protect_takes_its_patterns_from_the_settings_and_lists_them(cli: Cli) -> None:
    cli.config('[extensions.settings.protect]\npaths = ["secret/*"]\n')
    results = run(cli, "protect.py", writes("secret/a"), writes("b.lock"))
    assert [text.startswith("Not run: ") for text in results] == [True, False]
    model = cli.script({"text": "x"})
    chat = cli.inside("chat", "-e", str(EXAMPLES / "protect.py"), "--model", model, stdin=b"/protected\n/extensions\n")
    assert "secret/*" in chat.err
    assert "protect (yours): command /protected, hook tool_call" in chat.err


def test_glossary_tells_of_its_words_and_looks_them_up_once_that_is_allowed(cli: Cli) -> None:
    cli.file(
        "GLOSSARY.md",
        "# Words\n\n- **epoch**: the head of a prompt while it stays as it is\n- **floor**: what can't go\n",
    )
    calls = [{"name": "glossary__look_up", "arguments": {"term": term}} for term in ("Epoch", "flor", "zzz")]
    refused = run(cli, "glossary", calls[0])
    assert "glossary__look_up" in refused[0]
    assert refused[0].startswith("Not run: ")
    allowed = run(cli, "glossary", *calls, more=("--set", 'permissions.allow=["glossary__look_up"]'))
    assert allowed == [
        "epoch: the head of a prompt while it stays as it is",
        "'flor' isn't in the glossary. Near: floor.",
        "'zzz' isn't in the glossary.",
    ]
    model = cli.script({"text": "x", "expect": {"contains": ["The project explains 2 words of its own"]}})
    assert cli.inside("-p", "hi", "--model", model, "-e", str(EXAMPLES / "glossary")).code == 0
