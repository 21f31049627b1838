"""Asking a server on this machine (or any OpenAI-compatible one) what it is, what it holds, and how large the windows are.

One probe: the paths that only one kind of server answers, side by side with `/v1/models` → the first kind that fits → its models.
The rules: it asks only the host it was given (no redirects; a proxy only where one is named), takes at most `timeout_s`, and never raises; a server
that doesn't answer is a `Probe` with `kind` None and the reason in `error`. What it says is read up to a size, and a name that can't be shown is no model.

Paths: llama.cpp `/props`, and in router mode `/props?model=…` for each model that is loaded; Ollama `/api/tags`, `/api/ps` and `/api/show`; LM Studio `/api/v0/models`; vLLM and others `/v1/models`.
A hosted server is asked for its list alone (`list_only`). How windows are called there: `max_model_len` (vLLM), `context_length` (OpenRouter, Together, Fireworks), `context_window` (Groq, Vercel), `max_context_length` (Mistral).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote

import anyio
import httpx2

from trimtab.providers.network import open_transport
from trimtab.providers.wire import WireFailure

ServerKind = Literal["llama.cpp", "ollama", "lmstudio", "vllm", "openai-compatible"]

USUAL_PORTS = (8080, 8000, 11434, 1234, 8081, 5000, 30000)
"""llama.cpp, vLLM, Ollama, LM Studio, and what people choose next (30000: SGLang)."""
_MAX_SHOWN = 16  # models for which Ollama, or a router, is asked one by one
_MAX_BYTES = 8 * 1024 * 1024
_MAX_LISTED = 5_000
_LONGEST_ID = 200
_LISTS = ("/v1/models", "/models")
_WINDOWS = ("max_model_len", "context_length", "context_window", "max_context_length")
_NO_TALK = re.compile(r"embed|rerank|whisper|moderation|transcri|\btts\b|dall-e|text-to-|image-gen", re.IGNORECASE)
_NO_TALK_TYPES = frozenset({"embedding", "embeddings", "image", "video", "audio", "rerank", "moderation", "transcribe"})
_CUT_NOTE = "Ollama drops the front of a longer prompt without an error; raise num_ctx if this is too small"


@dataclass(frozen=True, slots=True)
class ProbedModel:
    """A model that a server offers. `context_window` is what a request may use now, `trained_window` what the model was made for (tokens); `state` is the word of a server that loads models on demand."""

    id: str
    context_window: int | None = None
    trained_window: int | None = None
    state: str = ""


@dataclass(frozen=True, slots=True)
class Probe:
    """What a server said of itself. `base_url` is the one to configure (with `/v1`)."""

    base_url: str
    kind: ServerKind | None
    models: tuple[ProbedModel, ...] = ()
    note: str = ""
    error: str = ""

    def model(self, model_id: str) -> ProbedModel | None:
        """The offered model of that id."""
        return next((m for m in self.models if m.id == model_id), None)


@dataclass(slots=True)
class _Answers:
    """JSON answers by path; a path that gave none is missing. `error` is the last reason for that."""

    by_path: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    def rows(self, path: str, key: str) -> list[dict[str, Any]]:
        """The objects in the list at `key` of the answer to `path`."""
        found = _dict(self.by_path.get(path)).get(key)
        return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


async def probe(
    base_url: str,
    *,
    api_key: str | None = None,
    headers: Mapping[str, str] | None = None,
    proxy: str | None = None,
    ca_file: str | None = None,
    transport: httpx2.AsyncBaseTransport | None = None,
    timeout_s: float = 2.0,
    list_only: bool = False,
) -> Probe:
    """Ask the server at `base_url` (with or without `/v1`); `transport` replaces the network. `list_only`: for its list of models, at exactly this address. Never raises but for cancellation."""
    configured = base_url.rstrip("/")
    root = configured.removesuffix("/v1")
    if not root.startswith(("http://", "https://")):
        return Probe(configured, None, error="not an http(s) URL")
    try:
        transport = transport or open_transport(root, proxy=proxy, ca_file=ca_file)
    except WireFailure as failure:
        return Probe(configured, None, error=failure.info.message)
    sent = dict(headers or {}) | ({"authorization": f"Bearer {api_key}"} if api_key else {})
    answers = _Answers(error=f"no answer within {timeout_s:g} s")
    with anyio.move_on_after(timeout_s):
        async with httpx2.AsyncClient(
            headers=sent, transport=transport, timeout=timeout_s, trust_env=False, follow_redirects=False
        ) as client:
            if list_only:
                await _ask(client, "GET", configured, "/models", answers)
                return _read_list(configured, answers)
            await _get_all(client, root, answers)
            await _ask_loaded(client, root, answers)
            if answers.rows("/api/tags", "models"):
                await _show_all(client, root, answers)
    return _read_list(configured, answers) if list_only else _read(f"{root}/v1", answers)


async def find_local_servers(
    ports: Sequence[int] = USUAL_PORTS,
    *,
    host: str = "127.0.0.1",
    transport: httpx2.AsyncBaseTransport | None = None,
    timeout_s: float = 1.0,
) -> tuple[Probe, ...]:
    """Probe the usual ports side by side; return the servers that answered, in the order of `ports`."""
    found: dict[int, Probe] = {}

    async def ask(port: int) -> None:
        found[port] = await probe(f"http://{host}:{port}/v1", transport=transport, timeout_s=timeout_s)

    async with anyio.create_task_group() as group:
        for port in ports:
            group.start_soon(ask, port)
    return tuple(found[p] for p in ports if found[p].kind is not None)


async def _get_all(client: httpx2.AsyncClient, root: str, answers: _Answers) -> None:
    async with anyio.create_task_group() as group:
        for path in ("/v1/models", "/props", "/api/tags", "/api/ps", "/api/v0/models"):
            group.start_soon(_ask, client, "GET", root, path, answers)


async def _show_all(client: httpx2.AsyncClient, root: str, answers: _Answers) -> None:
    async with anyio.create_task_group() as group:
        for row in answers.rows("/api/tags", "models")[:_MAX_SHOWN]:
            group.start_soon(_ask, client, "POST", root, "/api/show", answers, str(row.get("name", "")))


async def _ask(
    client: httpx2.AsyncClient, method: str, root: str, path: str, answers: _Answers, model: str | None = None
) -> None:
    sent = None if model is None else {"model": model}
    try:
        async with client.stream(method, root + path, json=sent) as response:
            if response.status_code == 200:
                answers.by_path[path if model is None else f"{path} {model}"] = json.loads(await _body(response))
            elif path in _LISTS:
                answers.error = f"{root}{path} answered {response.status_code}"
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError, RecursionError) as exc:
        if path in _LISTS:
            answers.error = str(exc) or type(exc).__name__


async def _body(response: httpx2.Response) -> bytes:
    got = bytearray()
    async for piece in response.aiter_bytes():
        got += piece
        if len(got) > _MAX_BYTES:
            raise ValueError(f"its answer has more than {_MAX_BYTES:,} bytes")
    return bytes(got)


async def _ask_loaded(client: httpx2.AsyncClient, root: str, answers: _Answers) -> None:
    """Ask a router for the windows of the models that it has loaded; the others it is told not to load for that."""
    loaded = [r for r in answers.rows("/v1/models", "data") if _state(r) == "loaded"]
    async with anyio.create_task_group() as group:
        for row in loaded[:_MAX_SHOWN]:
            group.start_soon(_ask, client, "GET", root, _props_of(row), answers)


def _props_of(row: dict[str, Any]) -> str:
    return f"/props?model={quote(str(row.get('id', '')), safe='')}&autoload=false"


def _state(row: dict[str, Any]) -> str:
    """What a router says of one of its models: loaded, unloaded, loading, sleeping, …"""
    said = _dict(row.get("status")).get("value")
    return said if isinstance(said, str) and said.isalpha() else ""


def _read_list(base_url: str, answers: _Answers) -> Probe:
    """The list of a hosted server, without what can't be talked to."""
    if not isinstance(_dict(answers.by_path.get("/models")).get("data"), list):
        return Probe(base_url, None, error=answers.error)
    rows = [row for row in answers.rows("/models", "data")[:_MAX_LISTED] if _talks(row)]
    models = (
        ProbedModel(str(r["id"]), next(filter(None, (_size(r.get(name)) for name in _WINDOWS)), None)) for r in rows
    )
    return Probe(base_url, "openai-compatible", tuple(models))


def _talks(row: dict[str, Any]) -> bool:
    """Whether a row names a model that answers with text."""
    said, outputs = row.get("type"), _dict(row.get("architecture")).get("output_modalities")
    silent = isinstance(outputs, list) and "text" not in outputs
    odd = isinstance(said, str) and said in _NO_TALK_TYPES
    name = row.get("id")
    return isinstance(name, str) and _showable(name) and not silent and not odd and not _NO_TALK.search(name)


def _showable(name: str) -> bool:
    return 0 < len(name) <= _LONGEST_ID and name.isprintable() and " " not in name


def _read(base_url: str, answers: _Answers) -> Probe:
    """The first kind of server that the answers fit."""
    offered = answers.rows("/v1/models", "data")
    if isinstance(_dict(answers.by_path.get("/props")).get("default_generation_settings"), dict):
        return Probe(base_url, "llama.cpp", _llama_models(answers, offered))
    if "models" in _dict(answers.by_path.get("/api/tags")):
        models = _ollama_models(answers)
        return Probe(base_url, "ollama", models, note=_CUT_NOTE if models else "")
    if answers.rows("/api/v0/models", "data"):
        return Probe(base_url, "lmstudio", _lmstudio_models(answers))
    if "data" in _dict(answers.by_path.get("/v1/models")):
        models = tuple(ProbedModel(str(r.get("id", "")), _size(r.get("max_model_len"))) for r in offered)
        vllm = any(m.context_window for m in models)
        return Probe(base_url, "vllm" if vllm else "openai-compatible", models)
    return Probe(base_url, None, error=answers.error)


def _llama_models(answers: _Answers, offered: list[dict[str, Any]]) -> tuple[ProbedModel, ...]:
    """llama.cpp: `n_ctx` of `/props` is the window of one slot; `meta.n_ctx_train` what the model was made for."""
    props = _dict(answers.by_path.get("/props"))
    window = _size(_dict(props.get("default_generation_settings")).get("n_ctx"))
    rows = offered or [{"id": props.get("model_alias") or "default"}]
    return tuple(
        ProbedModel(
            str(r.get("id", "")),
            _own_window(answers, r, window),
            _size(_dict(r.get("meta")).get("n_ctx_train")),
            _state(r),
        )
        for r in rows
    )


def _own_window(answers: _Answers, row: dict[str, Any], shared: int | None) -> int | None:
    """The window of one model: a router has one for each that is loaded."""
    if not _state(row):
        return shared
    props = _dict(answers.by_path.get(_props_of(row)))
    return _size(_dict(props.get("default_generation_settings")).get("n_ctx"))


def _ollama_models(answers: _Answers) -> tuple[ProbedModel, ...]:
    """Ollama: a loaded model says its window (`/api/ps`), else the model's own `num_ctx` parameter; else it is unknown."""
    loaded = {str(r.get("name", "")): _size(r.get("context_length")) for r in answers.rows("/api/ps", "models")}
    models = []
    for row in answers.rows("/api/tags", "models"):
        name = str(row.get("name", ""))
        shown = _dict(answers.by_path.get(f"/api/show {name}"))
        trained = [v for k, v in _dict(shown.get("model_info")).items() if k.endswith(".context_length")]
        window = loaded.get(name) or _num_ctx(shown.get("parameters"))
        models.append(ProbedModel(name, window, _size(trained[0]) if trained else None))
    return tuple(models)


def _lmstudio_models(answers: _Answers) -> tuple[ProbedModel, ...]:
    """LM Studio: a loaded model has `loaded_context_length`; embedding models can't be talked to."""
    rows = [r for r in answers.rows("/api/v0/models", "data") if r.get("type") != "embeddings"]
    return tuple(
        ProbedModel(
            str(r.get("id", "")),
            _size(r.get("loaded_context_length")),
            trained_window=_size(r.get("max_context_length")),
        )
        for r in rows
    )


def _num_ctx(parameters: Any) -> int | None:
    """The last `num_ctx N` in a Modelfile's parameter text."""
    lines = parameters.splitlines() if isinstance(parameters, str) else []
    words = [line.split() for line in lines]
    values = [w[1] for w in words if len(w) == 2 and w[0] == "num_ctx" and w[1].isdecimal()]
    return int(values[-1]) if values else None


def _size(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
