"""What the server says of itself: tokens, windows, models."""

import pytest

from support.small_model import WINDOW, SmallModel, call_server, open_model
from trimtab.coding.local_model import MODEL
from trimtab.context.counting.counter import Counter
from trimtab.providers.post import Address
from trimtab.providers.probe import Probe, ProbedModel, find_local_servers, probe
from trimtab.providers.tokenize import ServerTokenizer
from trimtab.types.messages import user
from trimtab.types.models import ModelInfo

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


def test_our_counts_of_texts_are_those_of_the_servers_own_tokenizer(base_url: str) -> None:
    tokenizer = ServerTokenizer(Address(base_url), MODEL)
    texts = ["def f(x):\n    return x\n", "naïve 日本語 🌊", '{"a": [1, 2, 3]}', "<|im_end|>", " ", "word " * 500]
    try:
        counts = [tokenizer(text) for text in texts]
    finally:
        tokenizer.close()
    assert tokenizer.problem == ""
    assert counts == [len(call_server(base_url, "/tokenize", {"content": text})["tokens"]) for text in texts]


async def test_what_a_request_grows_by_is_counted_closer_with_the_servers_tokenizer(base_url: str) -> None:
    async with open_model(base_url, "openai-chat") as model:
        told = "\n".join(f"line {n}: naïve item_{n} = {n * 7919}; 数値" for n in range(20))
        first, second = await model.ask(user("Say hi.")), await model.ask(user(f"Say hi. {told}"))
    assert first.usage is not None
    assert second.usage is not None
    grown = second.usage.prompt - first.usage.prompt
    tokenizer = ServerTokenizer(Address(base_url), MODEL)
    info = ModelInfo("local", MODEL, "openai-chat")
    try:
        exact = Counter(info, tokenize=tokenizer)
        counted = exact.text(f"Say hi. {told}") - exact.text("Say hi.")
    finally:
        tokenizer.close()
    guessed = Counter(info).text(f"Say hi. {told}") - Counter(info).text("Say hi.")
    assert abs(counted - grown) <= 2
    assert abs(guessed - grown) > abs(counted - grown)
