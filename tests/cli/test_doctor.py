"""`trimtab doctor`: what is wrong is a line with its next step, and the rest is looked at all the same."""

import json
from collections.abc import Iterator

import pytest

from support.cli import Cli, Outcome

Check = dict[str, str]


def checks(outcome: Outcome, name: str) -> list[Check]:
    return [check for check in json.loads(outcome.out) if check["name"] == name]


def doctor(cli: Cli, *arguments: str) -> Outcome:
    return cli.inside("doctor", "--json", *arguments)


def names(outcome: Outcome) -> Iterator[str]:
    return (check["name"] for check in json.loads(outcome.out))


def test_every_mistake_in_the_settings_is_missing_with_a_next_step_and_the_rest_is_still_looked_at(cli: Cli) -> None:
    cli.config('modle = "x"\n[permissions]\nmode = "yolo"\n[tools.bash]\nenv_pass = ["A_TOKEN"]\n')
    cli = Cli(cli.root, {"TRIMTAB_MAX_STEPS": "lots", "TRIMTAB_TRUST": "maybe", "A_TOKEN": "1", "B_TOKEN": "2"})
    outcome = doctor(cli, "--set", "nothing", "--model", cli.script({"text": "ok"}))
    assert outcome.code == 1
    config = [check for check in checks(outcome, "config") if check["status"] == "missing"]
    assert len(config) == 5
    for check, word in zip(config, ("TRIMTAB_TRUST", "--set", "'modle'", "permissions.mode", "MAX_STEPS"), strict=True):
        assert word in check["found"]
        assert check["todo"]
    (model,), (secrets,) = checks(outcome, "model"), checks(outcome, "secrets")
    assert model["status"] == "ok"
    assert secrets["found"] == "not given to commands: B_TOKEN"


@pytest.mark.parametrize(("content", "word"), [("model = \n", "line 1"), ("[x\n", "line 1")])
def test_a_file_that_is_no_toml_does_not_stop_the_doctor(cli: Cli, content: str, word: str) -> None:
    cli.config(content)
    outcome = cli.inside("doctor")
    assert outcome.code == 1
    assert "MISSING  config: " in outcome.out
    assert word in outcome.out
    assert "permissions: mode auto-edit" in outcome.out
    assert outcome.err == ""


def test_a_damaged_trust_file_does_not_stop_the_doctor(cli: Cli) -> None:
    cli.config("")
    (cli.project / ".trimtab").mkdir()
    (cli.home / "trust.json").write_text("{")
    outcome = doctor(cli)
    assert any("trust.json" in check["found"] for check in checks(outcome, "config"))
    assert checks(outcome, "trust")[0]["status"] == "note"


def test_a_stored_no_is_told_as_the_answer_it_was_and_how_to_change_it(cli: Cli) -> None:
    (cli.project / ".trimtab").mkdir()
    (before,) = checks(doctor(cli), "trust")
    assert before["todo"] == "A run with --trust folder trusts this folder."
    assert cli.inside("-p", "hi", "--trust", "never", "--model", cli.script({"text": "ok"})).code == 0
    (after,) = checks(doctor(cli), "trust")
    assert f"a `never` for this folder is stored in {cli.home / 'trust.json'}" in after["found"]
    assert after["todo"] == "If you have changed your mind: --trust folder stores a yes instead."


def test_two_folders_have_two_names_and_one_folder_has_one(cli: Cli) -> None:
    assert list(names(doctor(cli))).count("home") == 1
    apart = Cli(cli.root, {"TRIMTAB_HOME": "", "XDG_CONFIG_HOME": str(cli.root), "XDG_DATA_HOME": str(cli.root / "d")})
    found = list(names(doctor(apart)))
    assert ("settings folder" in found, "sessions folder" in found, "home" in found) == (True, True, False)


def test_a_misspelt_model_of_a_known_provider_is_noted_with_the_name_it_nearly_has(cli: Cli) -> None:
    cli = Cli(cli.root, {"ANTHROPIC_API_KEY": "x"})
    (model,) = checks(doctor(cli, "--model", "anthropic/claude-sonet-4-5"), "model")
    assert model["status"] == "note"
    assert "did you mean anthropic/claude-sonnet-4-5?" in model["todo"]


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('permissions.allow=["bsh(x)"]', "there is no tool 'bsh' (did you mean 'bash'?)"),
        ('permissions.deny=["bash(ls"]', "is not a permission rule"),
        ('tools.bash.allow=["a | b"]', "is a line"),
    ],
)
def test_a_rule_that_would_stop_every_run_is_missing_not_ok(cli: Cli, setting: str, words: str) -> None:
    outcome = doctor(cli, "--set", setting)
    (check,) = checks(outcome, "permissions")
    assert (outcome.code, check["status"]) == (1, "missing")
    assert words in str(check["found"])


def test_a_script_that_is_not_there_is_missing_not_ok(cli: Cli) -> None:
    (check,) = checks(doctor(cli, "--model", "scripted/none.jsonl"), "model")
    assert check["status"] == "missing"
    assert "there is no file 'none.jsonl'" in str(check["found"])


def test_all_mistakes_of_one_table_are_listed_and_what_is_right_beside_them_holds(cli: Cli) -> None:
    cli.config('[context]\nsoft = -1\nhard = 1.5\npolicy = "none"\ntoolz = "off"\n[contxt]\na = 1\nb = 2\n')
    outcome = doctor(cli, "--model", cli.script({"text": "ok"}))
    wrong = [check["found"] for check in checks(outcome, "config") if check["status"] == "missing"]
    assert len(wrong) == 4
    for found, word in zip(wrong, ("context.soft", "context.hard", "context.toolz", "'contxt'"), strict=True):
        assert word in found
    assert str(checks(outcome, "context")[0]["found"]).startswith("policy none;")


def test_the_settings_of_the_context_that_are_in_force_are_told_with_their_tokens(cli: Cli) -> None:
    cli.config(
        '[context]\npolicy = "dry-run:remote"\nremote_url = "http://me:sesame@127.0.0.1:9000/decide?key=hidden"\ntools = "pilot"\n'
        'summary_model = "small/tiny"\nsoft_tokens = 20000\n[providers.small]\nbase_url = "http://127.0.0.1:9/v1"\n'
        "[providers.scripted]\ncontext_window = 100000\nmax_output = 10000\n"
    )
    outcome = doctor(cli, "--model", cli.script({"text": "ok"}))
    first, second = (str(check["found"]) for check in checks(outcome, "context"))
    assert first == "policy dry-run:remote at 127.0.0.1:9000, 5 s; tools pilot; summaries by small/tiny"
    assert "of 100,000 tokens 10,000 are kept for the answer and 2,000 as a margin" in second
    assert "nothing is done below 20,000, the aim is 20,000, no request has more than 80,960" in second
    assert "sesame" not in outcome.out
    assert "hidden" not in outcome.out
    (learned,) = checks(outcome, "learned")
    assert str(learned["found"]).startswith(f"nothing yet ({cli.home}/learned/")


def test_a_model_of_its_own_settings_is_told_with_those(cli: Cli) -> None:
    model = cli.script({"text": "ok"})
    cli.config(f'[models."{model}".context]\npolicy = "none"\ntools = "off"\n')
    first, second = (str(check["found"]) for check in checks(doctor(cli, "--model", model), "context"))
    assert first.startswith("policy none; tools off;")
    assert "nothing is ever done" in second


@pytest.mark.parametrize(
    ("setting", "name", "words"),
    [
        ('context.policy="ruls"', "policy", ("there is no policy 'ruls'", "rules")),
        ('context.policy="mask(kep=3)"', "policy", ("has no parameter kep", "keep")),
        ('tools.enabled=["read", "raed"]', "tools", ("there is no tool 'raed'", "read")),
        ('context.summary_model="nobody/none"', "summary model", ("nobody", "")),
        (
            "context.reserve_tokens=99999999",
            "window",
            ("context.reserve_tokens (99,999,999) leaves nothing", "Lower it"),
        ),
    ],
)
def test_what_a_run_stops_at_the_doctor_says_in_the_same_words(
    cli: Cli, setting: str, name: str, words: tuple[str, str]
) -> None:
    model = cli.script({"text": "ok"})
    outcome = doctor(cli, "--model", model, "--set", setting)
    (check,) = checks(outcome, name)
    assert (outcome.code, check["status"]) == (1, "missing")
    assert words[0] in check["found"]
    assert words[1] in check["todo"]
    run = cli.inside("-p", "hi", "--model", model, "--set", setting)
    assert run.code in (1, 2)
    assert check["found"] in " ".join(run.err.split())


def test_the_doctor_says_that_no_sandbox_hides_what_rules_close_to_reading(cli: Cli) -> None:
    (found,) = checks(doctor(cli, "--set", "permissions.deny=['read(.env)', 'bash(rm)']"), "sandbox reads")
    assert (found["status"], found["found"].partition(":")[0]) == ("note", "read(.env)")
    assert "programs that a command starts can still read it" in found["found"]
