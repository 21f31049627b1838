"""What the server says of itself: tokens, windows, models."""

import pytest

from support.small_model import WINDOW, SmallModel, call_server
from trimtab.coding.local_model import MODEL
from trimtab.providers.probe import Probe, ProbedModel, find_local_servers, probe
from trimtab.types.messages import user

pytestmark = [pytest.mark.llm, pytest.mark.anyio]

LLAMA = ProbedModel(MODEL, context_window=WINDOW, trained_window=8_192)


async def test_the_probe_knows_llama_cpp_its_model_and_both_windows(base_url: str) -> None:
    assert await probe(base_url, timeout_s=20) == Probe(base_url, "llama.cpp", (LLAMA,))


async def test_a_server_on_a_usual_port_is_found(base_url: str) -> None:
    port = int(base_url.removesuffix("/v1").rpartition(":")[2])
    assert await find_local_servers((port,), timeout_s=20) == (Probe(base_url, "llama.cpp", (LLAMA,)),)


def test_the_tokenizer_gives_its_text_back(base_url: str) -> None:
    text = "def f(x):\n    return 'naïve 日本語 🌊' * x\n"
    tokens = call_server(base_url, "/tokenize", {"content": text})["tokens"]
    assert len(tokens) > 10
    assert call_server(base_url, "/detokenize", {"tokens": tokens}) == {"content": text}


async def test_an_unknown_path_is_a_clear_refusal(base_url: str, model: SmallModel) -> None:
    model.provider.endpoint = type(model.provider.endpoint)("local", model.api, f"{base_url}/nowhere", max_retries=0)
    answer = await model.ask(user("hi"))
    assert answer.error is not None
    assert (answer.error.kind, answer.error.status) == ("invalid", 404)
    assert "base_url" in answer.error.hint
