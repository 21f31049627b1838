"""The real command line, the real loop and a real model, end to end."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.small_model import WINDOW, count_tokens
from trimtab.types.models import Api

pytestmark = pytest.mark.llm

ANSWER = "The capital of France is Paris.\n"


def trimtab(home: Path, *args: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in an empty folder of `home`, without a terminal."""
    work = home / "work"
    work.mkdir(exist_ok=True)
    env = {k: v for k, v in os.environ.items() if not k.startswith("TRIMTAB_")}
    env |= {"TRIMTAB_HOME": str(home), "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(
        [sys.executable, "-m", "trimtab", *args],
        cwd=work,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=50,
        check=False,
    )


def settings(base_url: str, api: Api = "openai-chat") -> tuple[str, ...]:
    """Flags for the model, without tools and without the system prompt that is too much for it."""
    sets = (f"base_url={base_url}", f"api={api}", f"context_window={WINDOW}", "max_output=64")
    flags = [part for text in sets for part in ("--set", f"providers.local.{text}")]
    return ("--model", "local/smollm2", "--no-tools", "--system-prompt", "", *flags)


def test_text_mode_prints_the_answer_and_nothing_else(base_url: str, api: Api, tmp_path: Path) -> None:
    done = trimtab(tmp_path, "-p", "The capital of France is", *settings(base_url, api))
    assert (done.returncode, done.stdout, done.stderr) == (0, ANSWER, "")


def test_json_mode_ends_with_a_result_whose_usage_is_the_servers(base_url: str, tmp_path: Path) -> None:
    done = trimtab(tmp_path, "-p", "The capital of France is", "--mode", "json", *settings(base_url))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    result = events[-1]
    assert done.returncode == 0
    assert (events[0]["type"], result["type"], result["text"]) == ("session", "result", ANSWER.strip())
    usage = result["usage"]
    prompt = "<|im_start|>user\nThe capital of France is<|im_end|>\n<|im_start|>assistant\n"
    assert usage["input"] + usage["cache_read"] == count_tokens(base_url, prompt)
    assert usage["output"] == count_tokens(base_url, ANSWER.strip()) + 1, "the end mark is a token, too"


def test_a_session_goes_on_with_a_real_model(base_url: str, tmp_path: Path) -> None:
    first = trimtab(tmp_path, "-p", "The capital of France is", *settings(base_url))
    more = trimtab(tmp_path, "--continue", "-p", "And of Italy?", "--mode", "json", *settings(base_url))
    result = json.loads(more.stdout.splitlines()[-1])
    assert (first.returncode, more.returncode) == (0, 0)
    assert "Rome" in result["text"]
    assert result["usage"]["cache_read"] > 14, "the first turn is still in the server's cache"


def test_our_own_system_prompt_is_read_and_answered(base_url: str, tmp_path: Path) -> None:
    sets = ("--set", f"providers.local.base_url={base_url}", "--set", "providers.local.max_output=400")
    done = trimtab(tmp_path, "-p", "The capital of France is", "--model", "local/smollm2", "--no-tools", *sets)
    assert done.returncode == 0
    assert done.stdout.strip()


def test_a_prompt_over_the_real_window_says_so(base_url: str, tmp_path: Path) -> None:
    done = trimtab(tmp_path, "-p", "word " * 1_000, *settings(base_url))
    assert done.returncode != 0
    assert done.stdout == ""
    assert f"exceeds the available context size ({WINDOW} tokens)" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_demo_talks_to_the_model_and_ends_it(base_url: str, tmp_path: Path) -> None:
    done = trimtab(tmp_path, "demo", "--llm")
    assert (done.returncode, done.stderr) == (0, "")
    assert ANSWER in done.stdout
    assert base_url not in done.stdout, "it serves the model itself"
