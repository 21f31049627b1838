"""The doctor calls things by the names that the person gave them."""

from pathlib import Path

import pytest

from trimtab.coding import doctor
from trimtab.coding.doctor import examine
from trimtab.coding.first_model import Found
from trimtab.coding.project import Project, open_project
from trimtab.providers.probe import Probe, ProbedModel

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("base_url", ["http://127.0.0.1:8080/v1", "http://localhost:8080", "http://[::1]:8080/v1/"])
async def test_a_server_that_is_configured_has_its_name(
    base_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    servers = [
        Probe(f"http://127.0.0.1:{port}/v1", "llama.cpp", (ProbedModel("tiny", state="loaded" * (port == 8081)),))
        for port in (8080, 8081)
    ]

    async def around(project: Project) -> Found:
        return Found((), tuple(servers))

    monkeypatch.setattr(doctor, "look_around", around)
    overrides = {"providers": {"mine": {"base_url": base_url}, "far": {"base_url": "http://far.example:8081/v1"}}}
    project = open_project(tmp_path, overrides=overrides, env={"TRIMTAB_HOME": str(tmp_path / "home")})
    assert [check.found for check in await examine(project) if check.name == "local server"] == [
        "your provider mine: llama.cpp at http://127.0.0.1:8080/v1: tiny",
        "llama.cpp at http://127.0.0.1:8081/v1: tiny (loaded)",
    ]
