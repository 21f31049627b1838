"""Opening a provider, and what that costs to import."""

import subprocess
import sys
from pathlib import Path

import pytest

from trimtab.providers import Endpoint, open_provider
from trimtab.providers.http import HttpProvider
from trimtab.providers.recorded import RecordedProvider
from trimtab.providers.scripted import ScriptedProvider
from trimtab.types.errors import ConfigError
from trimtab.types.models import Api

IMPORTS = """
import sys
import trimtab.providers
trimtab.providers.Catalogue.load()
heavy = {"httpx2", "httpx", "openai", "anthropic.types", "genai_prices", "tomllib"}
wires = {"trimtab.providers." + n for n in
         ("http", "openai_chat", "openai_responses", "anthropic", "google", "bridge", "scripted", "recorded", "probe")}
print(sorted((heavy | wires) & set(sys.modules)))
"""


def test_the_package_loads_no_http_client_and_no_wire() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTS], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_test_models_are_opened_by_their_path(tmp_path: Path) -> None:
    script, cassette = tmp_path / "s.jsonl", tmp_path / "c.jsonl"
    script.write_text('{"text": "hi"}\n', encoding="utf-8")
    cassette.write_text('{"type":"cassette","format":1}\n', encoding="utf-8")
    assert isinstance(open_provider(Endpoint("scripted", "scripted", str(script))), ScriptedProvider)
    assert isinstance(open_provider(Endpoint("recorded", "recorded", str(cassette))), RecordedProvider)
    with pytest.raises(ConfigError):
        open_provider(Endpoint("scripted", "scripted", str(tmp_path / "none.jsonl")))


@pytest.mark.parametrize("api", ["openai-chat", "openai-responses", "anthropic", "google"])
def test_a_wire_is_opened_over_the_http_layer(api: Api) -> None:
    opened = open_provider(Endpoint("p", api, "http://127.0.0.1:9/v1"))
    assert isinstance(opened, HttpProvider)
    assert opened.endpoint.api == api


def test_a_bridged_name_that_the_other_library_does_not_know_is_a_config_error() -> None:
    with pytest.raises(ConfigError):
        open_provider(Endpoint("bridge", "bridge", "nobody:nothing"))
