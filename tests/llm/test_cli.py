"""The real command line, the real loop and a real model, end to end."""

from pathlib import Path

import pytest

from support.cli import Cli
from support.small_model import ROOMY, WINDOW, count_tokens
from trimtab.types.models import Api

pytestmark = pytest.mark.llm

QUESTION = "The capital of France is"
ANSWER = "The capital of France is Paris."


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """An empty home and project."""
    return Cli.at(tmp_path)


def served(base_url: str, api: Api = "openai-chat", **more: object) -> tuple[str, ...]:
    """Flags that name the model and, unless `more` says otherwise, its sizes."""
    values = {"base_url": base_url, "api": api, "context_window": WINDOW, "max_output": 64, **more}
    sets = [f"providers.local.{key}={value}" for key, value in values.items() if value is not None]
    return ("--model", "local/smollm2", "--no-tools", *(part for text in sets for part in ("--set", text)))


def bare(base_url: str, api: Api = "openai-chat") -> tuple[str, ...]:
    """The same without a system prompt, under which so small a model may say anything."""
    return (*served(base_url, api), "--system-prompt", "")


def test_text_mode_prints_the_answer_and_nothing_else(cli: Cli, base_url: str, api: Api) -> None:
    done = cli.run("-p", QUESTION, *bare(base_url, api))
    assert (done.code, done.out, done.err) == (0, ANSWER + "\n", "")


def test_json_mode_ends_with_a_result_whose_usage_is_the_servers(cli: Cli, base_url: str) -> None:
    done = cli.run("-p", QUESTION, "--mode", "json", *bare(base_url))
    assert (done.code, done.result["reason"], done.result["text"]) == (0, "stop", ANSWER)
    usage = done.result["usage"]
    prompt = f"<|im_start|>user\n{QUESTION}<|im_end|>\n<|im_start|>assistant\n"
    assert usage["input"] + usage["cache_read"] == count_tokens(base_url, prompt)
    assert usage["output"] == count_tokens(base_url, ANSWER) + 1, "the end mark is a token, too"
    assert "".join(e["text"] for e in done.of("message_delta")) == ANSWER


def test_a_session_goes_on_with_a_real_model(cli: Cli, base_url: str) -> None:
    first = cli.run("-p", QUESTION, "--mode", "json", *bare(base_url))
    more = cli.run("--continue", "-p", "And of Italy?", "--mode", "json", *bare(base_url))
    assert (first.code, more.code) == (0, 0)
    assert "Rome" in more.result["text"]
    seen = first.result["usage"]
    assert more.result["usage"]["cache_read"] >= seen["input"] + seen["cache_read"], (
        "the server still has the first turn"
    )


def test_the_whole_system_prompt_reaches_the_model(cli: Cli, roomy_url: str) -> None:
    words = "You are asked about places. " * 20
    flags = served(roomy_url, context_window=ROOMY, max_output=4)
    done = cli.run("-p", QUESTION, "--mode", "json", *flags, "--append-system-prompt", words)
    usage = done.result["usage"]
    assert usage["input"] + usage["cache_read"] > count_tokens(roomy_url, words) + 100, "ours, and what was added"
    assert done.result["reason"] in ("stop", "length")
    assert (done.code == 0) == (done.result["reason"] == "stop")


def test_a_probe_finds_the_window_that_nobody_stated(cli: Cli, base_url: str) -> None:
    flags = served(base_url, context_window=None, probe="true")
    done = cli.run("-p", QUESTION, *flags, "--system-prompt", "")
    assert (done.code, done.out) == (0, ANSWER + "\n")
    assert f"local/smollm2: a window of {WINDOW} tokens, as its server says" in done.err


def test_a_prompt_over_the_real_window_says_so(cli: Cli, base_url: str) -> None:
    done = cli.run("-p", "word " * 1_000, *bare(base_url))
    assert (done.code, done.out) == (5, "")
    assert f"(window {WINDOW})" in done.err
    assert "Traceback" not in done.err


def test_a_window_that_is_smaller_than_declared_is_learned_from_the_refusal(cli: Cli, roomy_url: str) -> None:
    flags = served(roomy_url, context_window=16_384)
    done = cli.run("-p", "word " * 3_000, *flags, "--system-prompt", "")
    assert (done.code, done.out) == (5, "")
    assert f"(window {ROOMY:,})" in done.err
    assert "Traceback" not in done.err


def test_the_demo_talks_to_the_model_and_ends_it(base_url: str, cli: Cli) -> None:
    done = cli.run("demo", "--llm")
    assert (done.code, done.err) == (0, "")
    assert f"\n{ANSWER}\n" in done.out
    assert base_url not in done.out, "it serves the model itself"
