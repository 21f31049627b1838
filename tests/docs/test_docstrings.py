"""Every public name says what it is."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.pages import ROOT

SOURCE = ROOT / "src" / "trimtab"
MODULES = sorted(SOURCE.rglob("*.py"))
FOLDERS = sorted({path.parent for path in MODULES})


def undocumented(path: Path) -> Iterator[str]:
    """The module and its public names that have no docstring, or one that begins with an empty line."""
    tree = ast.parse(path.read_text("utf-8"))
    yield from _bare(tree, str(path.relative_to(SOURCE)))


def _bare(node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> Iterator[str]:
    first = (ast.get_docstring(node, clean=False) or "").split("\n")[0]
    if not first.strip():
        yield name
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    for child in node.body:
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            yield from _bare(child, f"{name}:{child.name}")


@pytest.mark.parametrize("folder", FOLDERS, ids=[str(f.relative_to(ROOT)) for f in FOLDERS])
def test_every_public_name_has_a_docstring(folder):
    assert [name for path in sorted(folder.glob("*.py")) for name in undocumented(path)] == []


def test_a_name_without_a_docstring_is_found(tmp_path, monkeypatch):
    module = tmp_path / "m.py"
    module.write_text(
        '"""Words."""\nclass Thing:\n    """\n    Late."""\n    def act(self): ...\n    def _own(self): ...\n'
    )
    monkeypatch.setattr(f"{__name__}.SOURCE", tmp_path)
    assert list(undocumented(module)) == ["m.py:Thing", "m.py:Thing:act"]
