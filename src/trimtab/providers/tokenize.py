"""The tokenizer of a server: exact counts of texts, for servers that have one beside their OpenAI-compatible API.

text ──POST /tokenize──▶ the first dialect that answers with a count that can be true ──▶ tokens
                    └ slow, gone, lying, none there ──▶ None, for good: whoever counts does it without

Dialects (server sources and documentation, read 2026-11): llama.cpp takes `content` and `add_special`, and answers `{"tokens": […]}`; vLLM and SGLang take `model`, `prompt`
and `add_special_tokens`, and answer `{"count": N, …}`. It lies beside the version part of the base URL (`…/v1` → `…/tokenize`).

The rules: one question takes at most two seconds, and all of them together a small share of the session's time; no answer is read beyond a size; nothing is asked again after the first
failure.
It blocks, so it is called from worker threads.
"""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import httpx2
import msgspec

from trimtab.providers.network import open_blocking_transport
from trimtab.providers.post import Address, NoAnswer, broken, check
from trimtab.providers.wire import WireFailure

ANSWER_S = 2.0
"""Seconds that one question may take: llama.cpp needs 0.3 for the longest."""
PATIENCE_S, SHARE = 5.0, 0.05
"""Seconds that all of them together may take, and how much of each second since the first is added to that."""
MAX_TEXT = 100_000
"""Characters of the longest text that is sent; a longer one goes in parts."""
_MAX_ANSWER = 16 << 20
_MORE = 8
"""Tokens that a tokenizer may put beside those of the text, of which none is shorter than a byte …"""
_LONGEST_TOKEN = 1_024
"""… and none, on average, longer than this, in bytes."""


class _Answer(msgspec.Struct):
    """What dialects answer: the tokens, or how many there are."""

    count: int | None = None
    tokens: list[int] | None = None


def _llama(_model: str, text: str) -> Mapping[str, object]:
    return {"content": text, "add_special": False}


def _vllm(model: str, text: str) -> Mapping[str, object]:
    return {"model": model, "prompt": text, "add_special_tokens": False}


_DIALECTS = (_llama, _vllm)


@dataclass(slots=True)
class ServerTokenizer:
    """Counts texts for `model`, whose API is at `address`. `problem` says why it counts no more; `worked`: it once did. `clock` gives seconds."""

    address: Address
    model: str
    clock: Callable[[], float] = time.monotonic
    problem: str = ""
    worked: bool = False
    _dialect: Callable[[str, str], Mapping[str, object]] | None = None
    _client: httpx2.Client | None = None
    _began: float | None = None
    _spent: float = 0.0

    def __call__(self, text: str) -> int | None:
        """Return the tokens of `text`; None when that can't be said, from then on for every text."""
        if self.problem:
            return None
        if len(text) > MAX_TEXT:
            return self._counted_in_parts(text)
        now = self.clock()
        self._began = now if self._began is None else self._began
        try:
            tokens = self._ask(text)
        except NoAnswer as problem:
            self._stop(str(problem))
            return None
        self.worked = True
        since, now = now, self.clock()
        self._spent += now - since
        if self._spent > PATIENCE_S + SHARE * (now - self._began):
            self._stop(f"it is slow: {self._spent:.0f} s in the last {now - self._began:.0f}")
        return tokens

    def _stop(self, problem: str) -> None:
        self.problem = problem
        self.close()

    def close(self) -> None:
        """Close its connection."""
        client, self._client = self._client, None
        if client is not None:
            client.close()

    def _counted_in_parts(self, text: str) -> int | None:
        """A text too long to be sent whole: each cut may add a token or two, in some ten thousand."""
        total = 0
        for start in range(0, len(text), MAX_TEXT):
            tokens = self(text[start : start + MAX_TEXT])
            if tokens is None:
                return None
            total += tokens
        return total

    def _ask(self, text: str) -> int:
        size = len(text.encode("utf-8", "replace"))
        problem = NoAnswer("it has none")
        for dialect in _DIALECTS if self._dialect is None else (self._dialect,):
            try:
                body = msgspec.json.encode(dialect(self.model, text.encode("utf-8", "replace").decode()))
                tokens = _count_in(self._post(body))
            except NoAnswer as found:
                problem = found
                continue
            if not size / _LONGEST_TOKEN <= tokens <= size + _MORE:
                problem = NoAnswer(f"it says {tokens:,} tokens of a text of {size:,} bytes")
                continue
            self._dialect = dialect
            return tokens
        raise problem

    def _post(self, body: bytes) -> bytes:
        """Ask once, and once more where a kept connection turns out to be closed."""
        for attempt in range(2):
            try:
                return self._posted(body)
            except httpx2.TimeoutException:
                raise NoAnswer(f"no answer within {ANSWER_S:g} s") from None
            except (httpx2.RemoteProtocolError, httpx2.ReadError, httpx2.WriteError) as problem:
                if attempt:
                    raise NoAnswer(broken(problem)) from None
            except WireFailure as failure:
                raise NoAnswer(failure.info.message) from None
            except (httpx2.HTTPError, httpx2.InvalidURL, OSError, UnicodeError) as problem:
                raise NoAnswer(broken(problem)) from None
        raise AssertionError

    def _posted(self, body: bytes) -> bytes:
        root, headers = self.address.url.rstrip("/").removesuffix("/v1"), self.address.sent
        if self._client is None:
            transport = open_blocking_transport(root, proxy=self.address.proxy, ca_file=self.address.ca_file)
            self._client = httpx2.Client(transport=transport, timeout=ANSWER_S, trust_env=False, follow_redirects=False)
        end = self.clock() + ANSWER_S
        with self._client.stream("POST", f"{root}/tokenize", content=body, headers=headers) as response:
            check(response)
            got = bytearray()
            for piece in response.iter_raw():
                got += piece
                if len(got) > _MAX_ANSWER:
                    raise NoAnswer(f"the answer has more than {_MAX_ANSWER:,} bytes")
                if self.clock() > end:
                    raise NoAnswer(f"no answer within {ANSWER_S:g} s")
            return bytes(got)


def _count_in(body: bytes) -> int:
    try:
        answer = msgspec.json.decode(body, type=_Answer)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        raise NoAnswer("the answer is no count of tokens") from None
    if answer.count is not None:
        return answer.count
    if answer.tokens is None:
        raise NoAnswer("the answer is no count of tokens")
    return len(answer.tokens)
