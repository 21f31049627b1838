"""A prompt that a command makes is remembered by what was typed."""

from pathlib import Path

import pytest

from commands.conftest import Sitting
from trimtab.coding.checkpoints.history import words_of
from trimtab.coding.telling.tree_text import nodes_of
from trimtab.context.stores.summary import summarise
from trimtab.frontends.cli.chat import recalled
from trimtab.frontends.rpc.entries import said_in

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("command", "typed"), [("skill:foo", "fix the bug"), ("skill:foo", ""), ("review", "12 now"), ("review", "@a.txt")]
)
async def test_lists_tree_undo_and_title_name_the_command_and_not_what_it_brings(
    sitting: Sitting, tmp_path: Path, folder: Path, command: str, typed: str
) -> None:
    skill, template = tmp_path / "home" / "skills" / "foo", tmp_path / "home" / "prompts"
    for made in (skill, template):
        made.mkdir(parents=True)
    (skill / "SKILL.md").write_text("---\nname: foo\ndescription: does foo\n---\nDo it well.\n")
    (template / "review.md").write_text("Look at $1 with care.\n")
    (folder / "a.txt").write_text("content")
    line = f"/{command} {typed}".rstrip()
    async with sitting({"text": "done"}) as desk:
        await desk.run(command, typed)
        session = desk.session
        (first, *_) = session.messages
        assert "well" in first.text or "care" in first.text
        assert session.log.archive.title == line.lstrip("/") or session.log.archive.title == line
        (node,) = nodes_of(session.log.archive)
        assert node.words == line
        path = session.log.archive.path()
        assert [words for _, _, words in said_in(path)] == [line]
        assert [words for entry in path if (words := words_of(entry.value)) is not None] == [line]
        assert f"you: {line}" in recalled(session.messages)
        assert session.file is not None
        assert summarise(session.file).prompt == line
