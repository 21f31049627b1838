"""`trimtab config`: what holds and why, changes that say whether they act, and every mistake with its line."""

import json
from pathlib import Path

import pytest

from support.cli import Cli, Outcome
from trimtab.coding.commands.registry import COMMANDS
from trimtab.coding.project import open_project
from trimtab.coding.settings.change import set_setting

SECRETS = """model = "l/a"
[providers.l]
base_url = "http://me:hush-pw@127.0.0.1:9/v1"
api_key = "hush-key"
headers = { x-key = "hush-header" }
compat = { extra_body = { token = "hush-token" } }
[models."l/a".context]
soft = 0.7
hard = 0.8
[context]
soft = 0.6
"""


def config(cli: Cli, *args: str) -> Outcome:
    return cli.inside("config", *args)


def trusted(cli: Cli, **env: str) -> Cli:
    return Cli(cli.root, {**cli.env, "TRIMTAB_TRUST": "once", **env})


def test_show_lists_what_is_set_and_by_whose_word(cli: Cli) -> None:
    cli.config('model = "a/b"\n\n[tools.bash]\ntimeout_s = 60\n')
    cli.file(".trimtab/config.toml", "max_steps = 3\n")
    here = trusted(cli, TRIMTAB_THINKING="high")
    outcome = config(here, "show", "--origin", "--set", "context.soft=0.5")
    assert (outcome.code, outcome.err) == (0, "")
    assert outcome.out.splitlines() == [
        f'model = "a/b"  # user config ({cli.home}/config.toml), line 1',
        'thinking = "high"  # environment (TRIMTAB_THINKING)',
        f"max_steps = 3  # project config ({cli.project}/.trimtab/config.toml), line 1",
        f"tools.bash.timeout_s = 60.0  # user config ({cli.home}/config.toml), line 4",
        "context.soft = 0.5  # --set context.soft",
    ]
    assert config(here, "show", "model").out == 'model = "a/b"\n'


def test_show_marks_defaults_and_what_is_not_set(cli: Cli) -> None:
    outcome = config(cli, "show", "--all")
    assert "tools.bash.timeout_s = 120.0  # default\n" in outcome.out
    assert "# max_steps is not set\n" in outcome.out
    assert config(cli, "show").err == "nothing is set; --all shows the defaults\n"
    assert config(cli, "show", "tools.grep").out == "tools.grep.max_rows = 200  # default\n"


def test_show_as_json_has_the_origin_of_each_value(cli: Cli) -> None:
    cli.config("# mine\nmax_steps = 3\n")
    (row,) = json.loads(config(cli, "show", "--json").out)
    file = str(cli.home / "config.toml")
    origin = {"name": f"user config ({file})", "file": file, "line": 2}
    assert row == {"key": "max_steps", "value": 3, "default": False, "secret": False, "origin": origin}


@pytest.mark.parametrize(
    "args",
    [
        ("show", "--all", "--origin"),
        ("show", "--json"),
        ("show", "--model", "l/a"),
        ("show", "providers"),
        ("get", "providers.l.api_key"),
        ("get", "providers.l.base_url"),
        ("get", "providers.l.headers.x-key"),
        ("set", "providers.l.api_key", "hush-new"),
        ("set", "providers.l.headers.x-key", "hush-new"),
        ("unset", "providers.l.api_key"),
        ("check",),
        ("check", "--set", "providers.l.api_key=5", "--set", "providers.l.api=hush"),
    ],
    ids=" ".join,
)
def test_no_secret_is_ever_shown(cli: Cli, args: tuple[str, ...]) -> None:
    cli.config(SECRETS)
    outcome = config(Cli(cli.root, {"TRIMTAB_PROVIDERS__L__API_KEY": "hush-env"}), *args)
    assert "hush-" not in outcome.out + outcome.err
    assert outcome.out + outcome.err


def test_show_for_a_model_has_its_own_tables_in_place_of_the_common_ones(cli: Cli) -> None:
    cli.config(SECRETS)
    common, own = (config(cli, "show", "context", "--origin", *more).out for more in ((), ("--model", "l/a")))
    assert "context.soft = 0.6" in common
    assert own.splitlines()[:2] == ['context.policy = "rules"  # default', 'context.tools = "archive"  # default']
    assert f"context.soft = 0.7  # user config ({cli.home}/config.toml), line 8\n" in own
    assert f"context.hard = 0.8  # user config ({cli.home}/config.toml), line 9\n" in own
    facts = config(cli, "show", "models", "--model", "l/a", "--origin").out
    assert 'models."l/a".context_window = 32768  # assumed\n' in facts
    assert config(cli, "show", "--model", "nosuch/x").code == 2


def test_get_prints_a_value_for_scripts(cli: Cli) -> None:
    cli.config('model = "a/b"\n[permissions]\ndeny = ["bash(rm)"]\n')
    assert config(cli, "get", "model").out == "a/b\n"
    assert config(cli, "get", "permissions.deny").out == '["bash(rm)"]\n'
    assert config(cli, "get", "context.prepare_summaries").out == "true\n"
    assert (config(cli, "get", "max_steps").code, config(cli, "get", "max_steps").out) == (1, "")
    table = config(cli, "get", "tools.read")
    assert table.code == 2
    assert "tools.read.max_lines" in table.err


@pytest.mark.parametrize(
    ("key", "meant"),
    [("modle", "model"), ("tools.bash.timout_s", "timeout_s"), ("timeout_s", "tools.bash.timeout_s"), ("models.'a/b'.max_tokens", "max_output")],
)  # fmt: skip
@pytest.mark.parametrize("verb", [("get",), ("set",), ("unset",), ("show",)])
def test_a_key_that_does_not_exist_names_the_nearest(cli: Cli, verb: tuple[str], key: str, meant: str) -> None:
    outcome = config(cli, *verb, key, *(["1"] if verb == ("set",) else []))
    assert outcome.code == 2
    assert f"did you mean '{meant}'?" in outcome.err


def test_set_and_unset_leave_the_rest_of_the_file(cli: Cli) -> None:
    own = '# mine\nmodel = "a/b"  # the one\n'
    cli.config(own)
    file = cli.home / "config.toml"
    outcome = config(cli, "set", "tools.bash.timeout_s", "60")
    assert (outcome.code, outcome.out) == (0, f"tools.bash.timeout_s = 60 in {file}\n")
    assert config(cli, "get", "tools.bash.timeout_s").out == "60.0\n"
    outcome = config(cli, "unset", "tools.bash.timeout_s")
    assert outcome.out.splitlines()[1] == "tools.bash.timeout_s is 120.0, the default"
    assert file.read_text() == own
    outcome = config(cli, "unset", "tools.bash.timeout_s")
    assert (outcome.code, outcome.out) == (1, "")
    assert "isn't set in" in outcome.err


def test_a_text_that_looks_like_a_number_is_text_where_text_is_meant(cli: Cli) -> None:
    assert config(cli, "set", "system_prompt", "42").code == 0
    assert config(cli, "set", "tools.enabled", '["read", "ls"]').code == 0
    assert (cli.home / "config.toml").read_text() == 'system_prompt = "42"\n\n[tools]\nenabled = ["read", "ls"]\n'


def test_what_is_no_setting_can_be_taken_out(cli: Cli) -> None:
    cli.config('modle = "x"\nmax_steps = 3\n')
    assert config(cli, "check").code == 2
    assert config(cli, "unset", "modle").code == 0
    assert (cli.home / "config.toml").read_text() == "max_steps = 3\n"


def test_values_of_every_toml_kind_are_shown(cli: Cli) -> None:
    cli.config(
        "[providers.l.compat]\nbig = 1234567890123456789012345678901\nday = 2020-01-02\nat = 03:04:05\nx = nan\n"
    )
    shown = config(cli, "show", "providers.l.compat")
    assert shown.code == 0
    assert "providers.l.compat.big = 1234567890123456789012345678901\n" in shown.out
    assert "providers.l.compat.day = 2020-01-02\n" in shown.out
    assert config(cli, "show", "--json").code == 0


def test_a_wrong_value_is_refused_and_nothing_is_written(cli: Cli) -> None:
    outcome = config(cli, "set", "max_steps", "many")
    assert outcome.code == 2
    assert "expected a whole number from 1 on, got text" in outcome.err
    assert config(cli, "set", "context", "{soft = 0.5}").code == 2
    assert not (cli.home / "config.toml").exists()


def test_a_value_may_come_from_standard_input_so_that_no_history_keeps_it(cli: Cli) -> None:
    outcome = cli.run("config", "set", "providers.l.api_key", "-", stdin=b"sk-hush\n")
    assert outcome.code == 0, outcome.err
    assert 'api_key = "sk-hush"' in (cli.home / "config.toml").read_text()
    assert "hush" not in outcome.out + outcome.err
    assert (cli.home / "config.toml").stat().st_mode & 0o077 == 0
    assert cli.run("config", "set", "model", "-", stdin=b"\xff\xfe").code == 2


def test_set_says_what_holds_instead_where_another_layer_wins(cli: Cli) -> None:
    here = Cli(cli.root, {"TRIMTAB_MAX_STEPS": "9"})
    out = config(here, "set", "max_steps", "5").out
    assert out.splitlines()[1] == "not in force: max_steps is 9 by environment (TRIMTAB_MAX_STEPS)"


def test_what_is_set_for_the_project_says_when_it_does_not_act(cli: Cli) -> None:
    file = cli.project / ".trimtab" / "config.toml"
    first = config(cli, "set", "--project", "max_steps", "5")
    assert (first.code, file.read_text()) == (0, "max_steps = 5\n")
    assert "isn't trusted" in first.out
    here = trusted(cli)
    assert config(here, "set", "--project", "max_steps", "4").out == f"max_steps = 4 in {file}\n"
    withheld = config(here, "set", "--project", "permissions.mode", "full").out
    assert "not in force: it decides what runs unasked" in withheld
    assert config(here, "set", "--here", "permissions.mode", "full").out.count("\n") == 1
    assert config(here, "get", "permissions.mode").out == "full\n"
    assert sorted(p.name for p in file.parent.iterdir()) == ["config.toml"]


@pytest.mark.parametrize("link", [".trimtab", ".trimtab/config.toml"])
def test_no_link_leads_what_is_set_for_the_project_out_of_it(cli: Cli, link: str) -> None:
    outside = cli.root / "outside"
    if link == ".trimtab":
        outside.mkdir()
    else:
        (cli.project / ".trimtab").mkdir()
        outside.write_text("")
    (cli.project / link).symlink_to(outside)
    outcome = config(trusted(cli), "set", "--project", "max_steps", "5")
    assert outcome.code == 2
    assert "a link that leads out" in outcome.err
    assert not list(outside.iterdir()) if outside.is_dir() else outside.read_text() == ""


def test_check_lists_every_mistake_with_its_line(cli: Cli) -> None:
    cli.config('modle = "x"\n[permissions]\nmode = "yolo"\n\n[[providers.l.models]]\nid = 3\ncontxt_window = 5\n')
    cli.file(".trimtab/config.toml", "max_steps = 0\n[permissions]\nallow = ['bash']\n")
    here = trusted(cli, TRIMTAB_MAX_STEPS="lots", TRIMTAB_TOOL="x")
    outcome = config(here, "check", "--set", "context.soft=2")
    assert outcome.code == 2
    user, project = cli.home / "config.toml", cli.project / ".trimtab" / "config.toml"
    found = [line for line in outcome.out.splitlines() if not line.startswith(" ")]
    assert [line.split(" ")[0] for line in found[:5]] == [f"{user}:{n}:" for n in (1, 3, 6, 7)] + [f"{project}:1:"]
    assert "did you mean 'context_window'?" in found[3]
    assert found[5].startswith("environment (TRIMTAB_MAX_STEPS): ")
    assert found[6].startswith("--set context.soft: ")
    assert found[7].startswith(f"{project}:3: note: permissions.allow is ignored")
    assert found[8].startswith("note: the variable TRIMTAB_TOOL is ignored")
    rows = json.loads(config(here, "check", "--json").out)
    assert rows[1]["line"] == 3


def test_check_of_good_settings_is_quiet_and_zero(cli: Cli) -> None:
    cli.config('model = "a/b"\n')
    outcome = config(cli, "check")
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "no mistakes\n")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (b"model = \n", "line 1"),
        (b"model = '\xff'\n", "isn't UTF-8"),
        (b"a" * 1_000_001, "more than 1,000,000 bytes"),
        (b"x = " + b"[" * 5000, "isn't valid TOML"),
        (b'"\\u001b]0;evil\\u0007" = 1\n', "unknown setting"),
        (b'"\xe2\x80\xae" = 1\n', "unknown setting"),
    ],
)
def test_hostile_toml_is_told_harmlessly_and_survives(cli: Cli, text: bytes, word: str) -> None:
    cli.home.mkdir()
    (cli.home / "config.toml").write_bytes(text)
    checked, changed = config(cli, "check"), config(cli, "set", "model", "a/b")
    assert (checked.code, changed.code) == (2, 0 if word == "unknown setting" else 2)
    assert word in checked.out
    for said in (checked.out, checked.err, changed.err):
        assert not set(said) & set("\x1b\x07\u202e"), said
        assert "Traceback" not in said
    kept = (cli.home / "config.toml").read_bytes()
    assert kept == (text + b'model = "a/b"\n' if changed.code == 0 else text)
    assert changed.code == 2 or "a run stops at this" in changed.out


def test_what_is_no_file_is_not_waited_for(cli: Cli) -> None:
    import os

    cli.home.mkdir()
    os.mkfifo(cli.home / "config.toml")
    outcome = cli.run("config", "check", timeout=20)
    assert outcome.code == 2
    assert "is no regular file" in outcome.out


def test_path_names_the_files_that_change(cli: Cli) -> None:
    assert config(cli, "path").out == f"{cli.home}/config.toml\n"
    assert config(cli, "path", "--project").out == f"{cli.project}/.trimtab/config.toml\n"
    assert Path(config(cli, "path", "--here").out.strip()).parent == cli.home / "folders"
    assert config(cli, "path", "--here", "--project").code == 2


def test_the_schema_is_json(cli: Cli) -> None:
    assert json.loads(config(cli, "schema").out)["title"] == "Trimtab's config.toml"


def completions(cli: Cli, *words: str) -> list[str]:
    here = Cli(cli.root, {"_TRIMTAB_COMPLETE": "bash_complete", "COMP_WORDS": " ".join(["trimtab", *words]), "COMP_CWORD": str(len(words))})  # fmt: skip
    return [line.split(",")[1] for line in here.run().out.splitlines()]


def test_keys_and_values_are_completed(cli: Cli) -> None:
    cli.config('[providers.mine]\nbase_url = "http://127.0.0.1:9/v1"\n')
    assert completions(cli, "config", "get", "tools.bash.t") == ["tools.bash.tail_bytes", "tools.bash.timeout_s"]
    assert "providers.mine.api_key_env" in completions(cli, "config", "set", "providers.mine.api")
    assert completions(cli, "config", "set", "permissions.mode", "") == ["ask", "auto-edit", "full", "plan"]


def test_settings_in_a_talk_show_and_set_and_say_when_it_acts(cli: Cli) -> None:
    cli.config("max_steps = 9\n")
    lines = b"/settings\n/settings tools.bash.timeout_s\n/settings thinking high\n/settings modle x\n/settings max_steps 5\n/settings max_steps\n/settings providers\n"
    outcome = cli.inside("chat", "--model", cli.script({"text": "x"}), stdin=lines)
    assert (outcome.code, outcome.out) == (0, "")
    file = cli.home / "config.toml"
    for said in (
        f"max_steps = 9  # user config ({file}), line 1",
        'model = "scripted/',
        "tools.bash.timeout_s = 120.0  # default",
        f'thinking = "high" in {file}',
        "It acts after /reload, and from the next session on; /model changes this one.",
        "did you mean 'model'?",
        f"max_steps = 5 in {file}\n",
        f"max_steps = 9  # user config ({file}), line 1\nafter /reload: max_steps = 5  # user config ({file}), line 1\n",
        "nothing is set below 'providers'",
    ):
        assert said in outcome.err
    assert file.read_text() == 'max_steps = 5\nthinking = "high"\n'


def test_the_command_completes_keys_then_values(cli: Cli) -> None:
    from trimtab.coding.project import open_project

    class _Session:
        project = open_project(cli.project, env={"TRIMTAB_HOME": str(cli.home)})

    complete = COMMANDS["settings"].complete
    assert [c.value for c in complete(_Session(), "permissions.m")] == ["permissions.mode"]  # type: ignore[arg-type]
    assert [c.value for c in complete(_Session(), "permissions.mode a")] == ["permissions.mode ask", "permissions.mode auto-edit"]  # type: ignore[arg-type]  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("model", "foo/bar", "note: no provider is called 'foo', unless an extension brings it; list what is known: trimtab models; or declare the provider: [providers.NAME] base_url = …"),
        ("model", "openia/gpt-5", "note: no provider is called 'openia', unless an extension brings it; did you mean openai/"),
        ("favourites", '["openai/gpt-5", "foo/\\u001bx"]', "note: no provider is called 'foo', unless an extension brings it; "),
        ("model", "openai/gpt-5", ""),
        ("thinking", "high", ""),
    ],
)  # fmt: skip
def test_a_model_of_no_known_provider_is_set_and_told(cli: Cli, key: str, value: str, told: str) -> None:
    project = open_project(cli.project, env={"TRIMTAB_HOME": str(cli.home)})
    first, *rest = set_setting(project, key, value)
    assert first.endswith(f" in {cli.home}/config.toml")
    assert [line.startswith(told) for line in rest] == ([True] if told else [])
