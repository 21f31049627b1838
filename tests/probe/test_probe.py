"""Probing: each kind of local server is recognised, with the window that counts, and nothing ever raises."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.servers import FakeServer, json_reply
from trimtab.providers.probe import Probe, ProbedModel, find_local_servers, probe

URL = "http://127.0.0.1:8080/v1"
Paths = Mapping[str, Any]


def server(paths: Paths, *, seen: list[httpx2.Request] | None = None) -> httpx2.MockTransport:
    """A server that answers `paths`; a POST is found by path and model name."""

    def handle(request: httpx2.Request) -> httpx2.Response:
        if seen is not None:
            seen.append(request)
        path = request.url.path
        if request.method == "POST":
            path = f"{path} {json.loads(request.content)['model']}"
        if path not in paths:
            return httpx2.Response(404, text="<html>no</html>")
        return httpx2.Response(200, json=paths[path])

    return httpx2.MockTransport(handle)


def failing(error: Callable[[httpx2.Request], Exception]) -> httpx2.MockTransport:
    def handle(request: httpx2.Request) -> httpx2.Response:
        raise error(request)

    return httpx2.MockTransport(handle)


@pytest.mark.anyio
async def test_llama_cpp_says_the_window_of_a_slot_and_of_training() -> None:
    paths = {
        "/props": {"default_generation_settings": {"n_ctx": 8192}, "total_slots": 1},
        "/v1/models": {"data": [{"id": "tiny", "meta": {"n_ctx_train": 32768}}]},
    }
    assert await probe(URL, transport=server(paths)) == Probe(URL, "llama.cpp", (ProbedModel("tiny", 8192, 32768),))


@pytest.mark.anyio
async def test_vllm_says_the_longest_request() -> None:
    paths = {"/v1/models": {"object": "list", "data": [{"id": "qwen", "max_model_len": 40960}]}}
    found = await probe(URL, transport=server(paths))
    assert found == Probe(URL, "vllm", (ProbedModel("qwen", 40960),))
    assert found.model("qwen") == ProbedModel("qwen", 40960)
    assert found.model("other") is None


@pytest.mark.anyio
async def test_ollamas_window_is_the_loaded_one_then_num_ctx_and_never_the_trained_one() -> None:
    paths = {
        "/v1/models": {"data": []},
        "/api/tags": {"models": [{"name": "a:1b"}, {"name": "b:1b"}, {"name": "c:1b"}]},
        "/api/ps": {"models": [{"name": "a:1b", "context_length": 4096}]},
        "/api/show a:1b": {"model_info": {"qwen3.context_length": 40960}, "parameters": "num_ctx 9000"},
        "/api/show b:1b": {"model_info": {"llama.context_length": 131072}, "parameters": "stop x\nnum_ctx    16384"},
        "/api/show c:1b": {"model_info": {"llama.context_length": 131072}},
    }
    found = await probe(URL, transport=server(paths))
    assert found.kind == "ollama"
    assert found.models == (
        ProbedModel("a:1b", 4096, 40960),
        ProbedModel("b:1b", 16384, 131072),
        ProbedModel("c:1b", None, 131072),
    )
    assert "num_ctx" in found.note


@pytest.mark.anyio
async def test_lm_studio_lists_what_can_be_talked_to() -> None:
    rows = [
        {"id": "m", "type": "llm", "state": "loaded", "loaded_context_length": 4096, "max_context_length": 131072},
        {"id": "n", "type": "vlm", "state": "not-loaded", "max_context_length": 32768},
        {"id": "e", "type": "embeddings", "max_context_length": 512},
    ]
    found = await probe(URL, transport=server({"/api/v0/models": {"data": rows}, "/v1/models": {"data": []}}))
    assert found == Probe(URL, "lmstudio", (ProbedModel("m", 4096, 131072), ProbedModel("n", None, 32768)))


@pytest.mark.anyio
async def test_any_other_server_still_lists_its_models() -> None:
    found = await probe(URL, transport=server({"/v1/models": {"data": [{"id": "m"}]}}))
    assert found == Probe(URL, "openai-compatible", (ProbedModel("m"),))


@pytest.mark.anyio
async def test_only_the_given_host_is_asked_with_the_given_key_and_redirects_are_not_followed() -> None:
    seen: list[httpx2.Request] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        seen.append(request)
        return httpx2.Response(302, headers={"location": "http://elsewhere.example/"})

    found = await probe("http://127.0.0.1:8080", api_key="k", transport=httpx2.MockTransport(handle))
    assert (found.base_url, found.kind) == (URL, None)
    assert found.error == "http://127.0.0.1:8080/v1/models answered 302"
    assert {r.url.host for r in seen} == {"127.0.0.1"}
    assert {r.headers["authorization"] for r in seen} == {"Bearer k"}


@pytest.mark.anyio
@pytest.mark.parametrize(
    "error",
    [httpx2.ConnectError("refused"), httpx2.ReadTimeout("slow"), httpx2.RemoteProtocolError("odd")],
    ids=["refused", "slow", "odd"],
)
async def test_a_server_that_fails_is_a_probe_with_the_reason(error: Exception) -> None:
    found = await probe(URL, transport=failing(lambda _request: error))
    assert found == Probe(URL, None, error=str(error))


@pytest.mark.anyio
@pytest.mark.parametrize("url", ["", "file:///etc/passwd", "127.0.0.1:8080", "http://[::1", "http://", "http://a b/"])
async def test_an_address_that_is_none_is_a_probe_with_the_reason(url: str) -> None:
    found = await probe(url, transport=server({}))
    assert found.kind is None
    assert found.error


@pytest.mark.anyio
async def test_a_server_that_never_answers_costs_no_more_than_the_timeout() -> None:
    async def handle(request: httpx2.Request) -> httpx2.Response:
        import anyio

        await anyio.sleep(60)
        return httpx2.Response(200)

    found = await probe(URL, transport=httpx2.MockTransport(handle), timeout_s=0.05)
    assert found == Probe(URL, None, error="no answer within 0.05 s")


@pytest.mark.anyio
async def test_the_usual_ports_are_asked_side_by_side_and_silent_ones_left_out() -> None:
    def handle(request: httpx2.Request) -> httpx2.Response:
        if request.url.port == 8000 and request.url.path == "/v1/models":
            return httpx2.Response(200, json={"data": [{"id": "m"}]})
        raise httpx2.ConnectError("refused")

    found = await find_local_servers((8080, 8000), transport=httpx2.MockTransport(handle))
    assert found == (Probe("http://127.0.0.1:8000/v1", "openai-compatible", (ProbedModel("m"),)),)


@pytest.mark.anyio
async def test_a_real_socket_works_too() -> None:
    reply = json_reply({"data": [{"id": "m", "max_context_length": 2048}]})
    with FakeServer(*[reply] * 5) as fake:
        found = await probe(fake.url)
        paths = {r.path for r in fake.requests}
    assert found.models == (ProbedModel("m", None, 2048),)
    assert paths == {"/v1/models", "/props", "/api/tags", "/api/ps", "/api/v0/models"}


@pytest.mark.anyio
async def test_a_hosted_server_is_asked_for_its_list_alone_at_its_own_address() -> None:
    rows = [
        {"id": "vllm", "max_model_len": 1000},
        {"id": "router", "context_length": 2000, "architecture": {"output_modalities": ["text"]}},
        {"id": "groq", "context_window": 3000},
        {"id": "silent"},
        {"id": "lies", "context_length": -5},
        {"id": "painter", "architecture": {"output_modalities": ["image"]}},
        {"id": "some-embedding-3"},
        {"id": "ranker", "type": "rerank"},
        {"id": "two words"},
        {"id": "bell\x1b[2J"},
        {"id": "l" * 300},
        {"id": 7},
        "nothing",
    ]
    seen: list[httpx2.Request] = []
    transport = server({"/inference/v1/models": {"data": rows}}, seen=seen)
    found = await probe("https://api.example/inference/v1/", api_key="k", transport=transport, list_only=True)
    assert [(m.id, m.context_window) for m in found.models] == [
        ("vllm", 1000),
        ("router", 2000),
        ("groq", 3000),
        ("silent", None),
        ("lies", None),
    ]
    assert [(str(r.url), r.headers["authorization"]) for r in seen] == [
        ("https://api.example/inference/v1/models", "Bearer k")
    ]


@pytest.mark.anyio
async def test_a_router_says_which_models_it_has_loaded_and_their_windows() -> None:
    def row(name: str, state: str) -> dict[str, Any]:
        return {"id": name, "status": {"value": state}}

    asked: list[str] = []

    def handle(request: httpx2.Request) -> httpx2.Response:
        query = dict(request.url.params)
        if request.url.path == "/v1/models":
            return httpx2.Response(200, json={"data": [row("a/b:Q4", "loaded"), row("c", "unloaded")]})
        if request.url.path == "/props":
            asked.append(query.get("model", ""))
            assert query.get("autoload", "false") == "false"
            size = 4096 if query else 0
            return httpx2.Response(200, json={"default_generation_settings": {"n_ctx": size}})
        return httpx2.Response(404)

    found = await probe(URL, transport=httpx2.MockTransport(handle))
    assert found.models == (ProbedModel("a/b:Q4", 4096, state="loaded"), ProbedModel("c", state="unloaded"))
    assert sorted(asked) == ["", "a/b:Q4"]


@pytest.mark.anyio
async def test_an_endless_list_is_given_up() -> None:
    async def more() -> AsyncIterator[bytes]:
        yield b'{"data": ['
        while True:
            yield b'{"id": "m"},' * 100_000

    transport = httpx2.MockTransport(lambda request: httpx2.Response(200, content=more()))
    found = await probe("https://api.example/v1", transport=transport, list_only=True)
    assert found.kind is None
    assert "more than 8,388,608 bytes" in found.error


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
ODD = st.sampled_from(
    ["data", "models", "default_generation_settings", "parameters", "model_info", "n_ctx", "id", "name"]
)
ANSWER = st.dictionaries(ODD, JSON | st.lists(st.dictionaries(ODD, JSON, max_size=3), max_size=2), max_size=4) | JSON


@given(st.fixed_dictionaries({p: ANSWER for p in ("/v1/models", "/props", "/api/tags", "/api/ps", "/api/v0/models")}))
@settings(max_examples=60)
def test_whatever_a_server_says_a_probe_comes_back(paths: dict[str, Any]) -> None:
    import anyio

    found = anyio.run(lambda: probe(URL, transport=server(paths)))
    assert isinstance(found, Probe)
