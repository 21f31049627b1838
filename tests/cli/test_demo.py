"""The demo: offline, in a window far too small, and honest about what happened to it."""

import re
import shlex
import tempfile
from pathlib import Path

import pytest

from support.cli import Cli, Outcome
from trimtab.coding.demo import NEEDLE, WINDOW
from trimtab.types.ids import drawn_from, new_call_id, new_id


def demo(folder: Path, *options: str) -> Outcome:
    """The demo with this folder for temporary things."""
    cli = Cli.at(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        return cli.inside("demo", *options)


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return demo(tmp_path_factory.mktemp("demo"))


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    return demo(tmp_path_factory.mktemp("a-folder-for-temporary-things-with-a-much-longer-name"), "--keep")


def test_it_ends_well_and_says_that_its_model_is_a_script(shown: Outcome) -> None:
    assert shown.code == 0, shown.err
    assert "The model is a SCRIPT" in shown.out
    assert "run once more outside the agent: pass" in shown.out


@pytest.mark.parametrize("kind", ["elide", "offload", "fold", "compact"])
def test_its_account_shows_each_kind_of_edit(shown: Outcome, kind: str) -> None:
    assert re.search(rf"^  step \d+  {kind} +[\d,]+ → +[\d,]+ tokens", shown.out, re.M)


def test_it_shows_the_audit_the_recalled_line_an_undo_and_the_bill(shown: Outcome) -> None:
    assert re.search(r"^Compaction: \d+ items, digest; audit of facts: \d+ stand in it, \d+ added", shown.out, re.M)
    assert re.search(rf"^Recall found the exact line: .*{NEEDLE} .* charged 0$", shown.out, re.M)
    assert re.search(r"^Undo: the \w+ of step \d+ .* taken back, ", shown.out, re.M)
    sent, kept = re.search(r"^Sent ([\d,]+) prompt tokens .* would have been ([\d,]+)", shown.out, re.M).groups()  # type: ignore[union-attr]
    assert int(sent.replace(",", "")) < int(kept.replace(",", ""))
    assert f"{WINDOW:,}" in shown.out


def test_in_another_folder_the_same_is_shown(shown: Outcome, kept: Outcome) -> None:
    def account(run: Outcome) -> list[str]:
        """What a run shows, but for where it was and how to look at it."""
        lines = [line for line in run.out.splitlines() if "a-folder-for-temporary-things" not in line]
        return [line for line in lines if not line.startswith(("Project: ", "Look around", "  trimtab context "))]

    assert "compact" in "\n".join(account(shown))
    assert account(shown) == account(kept)


def test_ids_are_drawn_from_a_seed_only_as_long_as_it_is_wanted() -> None:
    def drawn() -> list[str]:
        with drawn_from("seed"):
            return [new_id(), new_call_id(), new_id()]

    once, again, outside = drawn(), drawn(), [new_id(), new_id()]
    assert once == again
    assert len({*once, *outside}) == 5
    assert {len(name.removeprefix("call_")) for name in (*once, *outside)} == {16}


def test_it_says_how_to_keep_the_session(shown: Outcome) -> None:
    assert re.search(r"^Look around in it: trimtab demo --keep ", shown.out, re.M)


def test_what_it_says_of_a_kept_session_works_anywhere(kept: Outcome, tmp_path: Path) -> None:
    commands = [shlex.split(line) for line in re.findall(r"^  trimtab (context .+)$", kept.out, re.M)]
    assert [command[1] for command in commands] == ["log", "show", "blame"]
    elsewhere = Cli.at(tmp_path)
    said = [elsewhere.inside(*command) for command in commands]
    assert [(run.code, run.err) for run in said] == [(0, "")] * 3
    assert NEEDLE in said[2].out
