"""Guesses at what was meant: a slip of the hand is recognised, another word is not made into one."""

import pytest

from trimtab.types.near import near, nearest

PROVIDERS = ("anthropic", "google", "mistral", "ollama", "openai", "openrouter", "xai")
COMMANDS = (
    "config",
    "doctor",
    "export",
    "help",
    "login",
    "ls",
    "mcp",
    "model",
    "models",
    "new",
    "quit",
    "sessions",
    "tree",
)
ARGUMENTS = ("command", "limit", "max_tokens", "new", "old", "path", "timeout_s")


@pytest.mark.parametrize(
    ("word", "names", "meant"),
    [
        ("opnai", PROVIDERS, "openai"),
        ("openia", PROVIDERS, "openai"),
        ("OpenAI", PROVIDERS, "openai"),
        ("open-ai", PROVIDERS, "openai"),
        ("antropic", PROVIDERS, "anthropic"),
        ("anthropics", PROVIDERS, "anthropic"),
        ("openroutre", PROVIDERS, "openrouter"),
        ("hlep", COMMANDS, "help"),
        ("session", COMMANDS, "sessions"),
        ("doctr", COMMANDS, "doctor"),
        ("mpc", COMMANDS, "mcp"),
        ("sl", COMMANDS, "ls"),
        ("modl", COMMANDS, "model"),
        ("nwe", ARGUMENTS, "new"),
        ("file_path", ARGUMENTS, "path"),
        ("timeout", ARGUMENTS, "timeout_s"),
        ("maxTokens", ARGUMENTS, "max_tokens"),
        ("max-tokens", ARGUMENTS, "max_tokens"),
    ],
)
def test_a_slip_names_what_was_meant(word: str, names: tuple[str, ...], meant: str) -> None:
    assert nearest(word, names) == meant


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("nope", PROVIDERS),
        ("none", PROVIDERS),
        ("ai", PROVIDERS),
        ("local", PROVIDERS),
        ("azure", PROVIDERS),
        ("x", PROVIDERS),
        ("hi", COMMANDS),
        ("no", COMMANDS),
        ("tell", COMMANDS),
        ("report", COMMANDS),
        ("rm", COMMANDS),
        ("text", ARGUMENTS),
        ("all", ARGUMENTS),
        ("", ARGUMENTS),
        ("--", ARGUMENTS),
        ("path" * 1_000_000, ARGUMENTS),
        ("\x1b[31m\0", ARGUMENTS),
    ],
)
def test_another_word_names_nothing(word: str, names: tuple[str, ...]) -> None:
    assert nearest(word, names) is None


def test_several_that_are_equally_believable_come_the_nearest_first() -> None:
    assert near("--modle", ("--mode", "--model", "--memo"), most=2) == ["--mode", "--model"]
    assert near("models", COMMANDS, most=3) == ["models", "model"]
    assert near("model", ("model-b", "model-a", "other"), most=5) == ["model-a", "model-b"]


def test_a_name_that_only_has_the_word_in_it_gives_way_to_a_misspelt_one() -> None:
    assert near("pathh", ("some_pathh_more", "path"), most=5) == ["path"]
