"""Trimtab's own documentation, where a model finds it."""

from pathlib import Path

import pytest

from support.agent_fakes import tool
from support.instructed import Place
from support.pages import ROOT
from trimtab.coding.instructions.own_docs import docs_folder


def test_a_checkout_has_its_docs_and_an_installed_package_its_own(tmp_path: Path) -> None:
    assert docs_folder() in (ROOT / "docs", ROOT / "src" / "trimtab" / "docs")
    package = tmp_path / "site-packages" / "trimtab"
    (package / "docs").mkdir(parents=True)
    assert docs_folder(package) is None
    for name in ("usage.md", "settings.md"):
        (package / "docs" / name).touch()
    assert docs_folder(package) == package / "docs"


@pytest.mark.parametrize(("tools", "told"), [((tool("read"),), True), ((tool("bash"),), False)])
def test_a_model_that_can_read_is_told_where_they_are(place: Place, tools: tuple[object, ...], told: bool) -> None:
    instructions, _ = place.look()
    assert (f"documentation is in {docs_folder()}" in instructions.system(tools, window=200_000)) == told  # type: ignore[arg-type]


def test_who_brings_a_system_prompt_is_told_nothing_else_of_trimtabs(place: Place) -> None:
    instructions, _ = place.look(system_prompt="Be a pirate.")
    assert instructions.system((tool("read"),), window=200_000) == "Be a pirate."
