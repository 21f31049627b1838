"""A mistyped command is never sent to a model; a prompt always is."""

import pytest

from support.cli import Cli
from trimtab.frontends.cli.commands import COMMANDS
from trimtab.frontends.cli.slips import refuse_slip
from trimtab.types.errors import UsageError


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("session list", "trimtab sessions list"),
        ("sesions list", "trimtab sessions list"),
        ("sesion show last", "trimtab sessions show last"),
        ("modles sonnet", "trimtab models sonnet"),
        ("model", "trimtab models"),
        ("docter --online", "trimtab doctor --online"),
        ("Doctr", "trimtab doctor"),
        ("confg set model x", "trimtab config set model x"),
        ("auth", "trimtab login"),
        ("setup", "trimtab login"),
        ("export last", "trimtab sessions export"),
        ("install", "trimtab extensions add"),
    ],
)
def test_what_was_meant_as_a_command_is_refused_with_what_it_may_be(cli: Cli, line: str, meant: str) -> None:
    outcome = cli.inside(*line.split(), "--model", cli.script({"text": "paid"}))
    assert (outcome.code, outcome.out) == (2, "")
    assert meant in outcome.err
    assert "trimtab -p " in outcome.err
    assert cli.sessions == []


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("sessions find", "trimtab sessions search"),
        ("sessions serach", "trimtab sessions search"),
        ("mcp lst", "trimtab mcp list"),
        ("sessions frobnicate", ""),
    ],
)
def test_an_unknown_subcommand_is_refused_with_what_it_may_be(cli: Cli, line: str, meant: str) -> None:
    outcome = cli.inside(*line.split())
    assert outcome.code == 2
    assert (f"Did you mean: {meant}\n" in outcome.err) if meant else ("Did you mean" not in outcome.err)


def test_a_slip_behind_options_is_refused_too(cli: Cli) -> None:
    assert cli.inside("--model", cli.script({"text": "paid"}), "sesions", "list").code == 2


@pytest.mark.parametrize(
    "words",
    [
        ["fix the login test"],
        ["fix", "it"],
        ["update", "dependencies"],
        ["install", "pytest"],
        ["model", "the", "data", "flow"],
        ["session handling is broken"],
        ["sessions?"],
        ["config", "files", "are", "read", "twice"],
        ["@file"],
        [],
    ],
)
def test_a_prompt_is_a_prompt(words: list[str]) -> None:
    refuse_slip(words, COMMANDS)


def test_with_the_flag_every_word_is_a_prompt(cli: Cli) -> None:
    with pytest.raises(UsageError):
        refuse_slip(["sesions"], COMMANDS)
    assert cli.inside("-p", "sesions", "--model", cli.script({"text": "fine"})).out == "fine\n"


def test_help_is_help(cli: Cli) -> None:
    assert cli.inside("help").out == cli.inside("--help").out
    assert cli.inside("help", "models").out == cli.inside("models", "--help").out


def test_sessions_alone_explains_itself(cli: Cli) -> None:
    outcome = cli.inside("sessions")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out == cli.inside("sessions", "--help").out


@pytest.mark.parametrize(
    ("option", "meant"),
    [("--modle", "--mode or --model"), ("--contineu", "--continue"), ("--onlnie", None), ("--nonsense", None)],
)
def test_an_unknown_option_names_only_what_is_close(cli: Cli, option: str, meant: str | None) -> None:
    outcome = cli.inside("-p", "hi", option)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.splitlines()[0] == f"trimtab: no such option: {option}" + (
        f"; did you mean {meant}?" if meant else ""
    )


@pytest.mark.parametrize(
    ("options", "hint"),
    [
        (["--thinking", "high"], "--model PROVIDER/MODEL:LEVEL"),
        (["-t", "high"], "--model PROVIDER/MODEL:LEVEL"),
        (["-m", "openai/x"], "--model PROVIDER/MODEL chooses"),
        (["--session-id", "x"], "--session FILE"),
        (["--approve"], "--trust once"),
        (["--no-approve"], "--trust never"),
        (["--yolo"], "--permission full"),
        (["-v"], "--version"),
        (["--base-url", "http://x"], "providers.NAME.base_url"),
    ],
)
def test_an_option_of_another_program_names_ours(cli: Cli, options: list[str], hint: str) -> None:
    outcome = cli.inside("-p", "hi", *options, "--model", cli.script({"text": "paid"}))
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.startswith(f"trimtab: no such option: {options[0]}\n  ")
    assert hint in " ".join(outcome.err.split())
    assert hint not in cli.inside("sessions", "list", *options).err


def test_an_option_before_a_command_is_told_its_place(cli: Cli) -> None:
    outcome = cli.inside("--max-cost", "1", "chat")
    assert outcome.code == 2
    assert outcome.err.splitlines()[0] == "trimtab: the options of a command go behind it: trimtab chat --option …"


def test_answer_offers_no_option_that_chooses_a_session(cli: Cli) -> None:
    shown = cli.inside("answer", "--help").out
    assert "--model" in shown
    for option in ("--continue", "--resume", "--fork", "--session", "--no-session"):
        assert option not in shown


def test_a_provider_without_a_model_says_what_lists_its_models(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi", "--provider", "openai")
    assert (outcome.code, outcome.out) == (2, "")
    assert "--model openai/MODEL; trimtab models openai lists them." in " ".join(outcome.err.split())
