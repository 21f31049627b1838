"""What a person is told to type where an extra is missing works for how Trimtab was installed."""

import json
import shlex
import subprocess
import sys
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from support.pages import ROOT
from trimtab.types import extras
from trimtab.types.extras import install_command, install_hint


def installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, direct_url: str | None) -> None:
    """As if the sources lay in a folder of packages, and the installer had left this."""

    class Distribution:
        def read_text(self, name: str) -> str | None:
            return direct_url if name == "direct_url.json" else None

    package = tmp_path / "lib" / "site-packages" / "trimtab" / "types"
    package.mkdir(parents=True)
    monkeypatch.setattr(extras, "__file__", str(package / "extras.py"))
    monkeypatch.setattr(metadata, "distribution", lambda _name: Distribution())


@pytest.mark.parametrize(
    ("direct_url", "wanted"),
    [
        (None, "trimtab[mcp]"),
        ("no json", "trimtab[mcp]"),
        ("[]", "trimtab[mcp]"),
        (json.dumps({"url": "file:///w/trimtab.whl", "archive_info": {}}), "trimtab[mcp] @ file:///w/trimtab.whl"),
        (
            json.dumps({"url": "https://h/t.git", "vcs_info": {"vcs": "git", "commit_id": "abc"}}),
            "trimtab[mcp] @ git+https://h/t.git@abc",
        ),
    ],
)
def test_a_package_is_added_to_from_where_it_came(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, direct_url: str | None, wanted: str
) -> None:
    installed(monkeypatch, tmp_path, direct_url)
    assert shlex.split(install_command("mcp")) == [sys.executable, "-m", "pip", "install", wanted]
    assert install_hint("mcp") == f"Install it with `{install_command('mcp')}`."


def test_a_package_that_no_installer_knows_has_its_name(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def unknown(_name: str) -> Any:
        raise metadata.PackageNotFoundError

    installed(monkeypatch, tmp_path, None)
    monkeypatch.setattr(metadata, "distribution", unknown)
    assert install_command("mcp").endswith("'trimtab[mcp]'")


def test_a_checkout_is_added_to_where_it_is_in_the_versions_that_are_tested() -> None:
    command = shlex.split(install_command("mcp"))
    assert command[4:] == ["-c", f"{ROOT}/constraints.txt", "-e", f"{ROOT}[mcp]"]


def test_every_hint_comes_from_here() -> None:
    found = subprocess.run(
        ["grep", "-rnE", r"pip install '?trimtab", str(ROOT / "src"), "--include=*.py"], capture_output=True, text=True
    )
    assert found.stdout == ""
