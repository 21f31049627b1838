"""`/model`, `/models`, `/thinking`, `/cost` in a talk, and `trimtab models`: favourites, roles, switches."""

import json
from pathlib import Path

import pytest

from support.cast import Cast
from support.cli import Cli, Outcome
from trimtab.coding.choose import Ephemeral
from trimtab.coding.commands.model import COMMAND as MODEL
from trimtab.coding.commands.models import COMMAND as MODELS
from trimtab.coding.model_list import matching, model_rows, next_favourite
from trimtab.coding.opening import open_session
from trimtab.coding.project import open_project
from trimtab.types.errors import UsageError

pytestmark = pytest.mark.anyio

CONFIG = """\
favourites = ["local/two", "local/three:high"]
[roles]
main = ["local/one", {model = "local/two", weight = 2}]
small = "local/three"
[providers.local]
base_url = "http://127.0.0.1:9/v1"
models = [
  {id = "one", context_window = 9000, price_input = 1.5, price_output = 6},
  {id = "two", context_window = 8000},
  {id = "three", context_window = 7000, thinking = ["off", "high"]},
]
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    return Cli.at(tmp_path)


def talk(cli: Cli, *lines: str, flags: tuple[str, ...] = ()) -> Outcome:
    return cli.inside("chat", *flags, stdin="".join(f"{line}\n" for line in lines).encode())


def test_models_marks_favourites_and_puts_them_first(cli: Cli) -> None:
    cli.config(CONFIG)
    outcome = talk(cli, "/models local")
    rows = [line for line in outcome.err.splitlines() if "local/" in line and line.lstrip("> ").startswith(("★", "*"))]
    assert [line.split()[1] for line in rows] == ["local/two", "local/three:high", "local/one"]
    assert "$1.5/6" in rows[2]
    assert "main" in rows[2]


def test_a_star_is_kept_in_the_settings_and_taken_back(cli: Cli) -> None:
    cli.config(CONFIG)
    lines = ("/models star local/one", "/models unstar two", "/models local")
    outcome = talk(cli, *lines, "/models unstar local/two", "/models star local/one")
    assert outcome.code == 0, outcome.err
    assert "*★  local/one" in outcome.err
    assert "error: local/two is no favourite" in outcome.err
    assert "local/one is a favourite already" in outcome.err
    assert cli.inside("config", "get", "favourites").out.strip() == '["local/three:high", "local/one"]'


def test_a_star_for_no_model_is_refused_and_keeps_the_settings(cli: Cli) -> None:
    cli.config(CONFIG)
    outcome = talk(cli, "/models star nobody/nothing")
    assert "error: no provider is called 'nobody'" in outcome.err
    assert cli.inside("config", "get", "favourites").out.strip() == '["local/two", "local/three:high"]'


def test_next_and_back_go_round_the_favourites(cli: Cli) -> None:
    cli.config(CONFIG)
    outcome = talk(cli, "/model next", "/model next", "/model next", "/model back", "/model")
    said = [line for line in outcome.err.splitlines() if line.lstrip("> ").startswith("model: ")]
    refs = [line.partition("model: ")[2].split(";")[0].split(",")[0] for line in said]
    assert refs == ["local/two", "local/three", "local/two", "local/three", "local/three"]
    assert "thinking: high" in said[-1]


def test_without_favourites_next_says_how_to_make_one(cli: Cli) -> None:
    assert "/models star P/M makes one" in talk(cli, "/model next", flags=("--model", cli.script())).err


async def test_completion_puts_favourites_first_with_price_and_window(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "work").mkdir()
    (tmp_path / "home" / "config.toml").write_text(CONFIG)
    project = open_project(tmp_path / "work", env={"TRIMTAB_HOME": str(tmp_path / "home")})
    async with open_session(project, Ephemeral()) as session:
        found = MODEL.complete(session, "")
        assert [one.value for one in found[:2]] == ["local/two", "local/three:high"]
        assert next(one.help for one in found if one.value == "local/one") == "9,000 · $1.5/6 · main"
        assert found[-1].value == "back"
        assert [one.value for one in MODELS.complete(session, "unstar ")] == [
            "unstar local/two",
            "unstar local/three:high",
        ]


def test_a_list_is_filtered_by_every_word(tmp_path: Path) -> None:
    cast = Cast.at(tmp_path, a=[], b=[])
    rows = model_rows(cast.project(favourites=[cast.ref("b")]))
    assert [row.ref for row in matching(rows, "JSONL b/")] == [cast.ref("b")]
    assert rows[0].favourite
    assert next_favourite(cast.project(), [cast.ref("b")], cast.ref("a"), step=-1) == cast.ref("b")
    with pytest.raises(UsageError):
        next_favourite(cast.project(), ["nobody/nothing"], cast.ref("a"))


def test_trimtab_models_shows_roles_and_favourites(cli: Cli) -> None:
    cli.config(CONFIG)
    outcome = cli.inside("models", "local")
    assert outcome.out.splitlines()[1].startswith("local/two ★")
    assert "roles.main: local/one; stand by: local/two (weight 2)" in outcome.err
    assert "roles.small: local/three" in outcome.err
    (one,) = [row for row in json.loads(cli.inside("models", "local/one", "--json").out)]
    assert (one["usable"], one["favourite"], one["roles"]) == (True, False, ["main"])


def test_config_adds_to_a_list_and_takes_out_of_it(cli: Cli) -> None:
    cli.config("# mine\n")
    assert cli.inside("config", "set", "favourites", '["a/x"]').code == 0
    assert cli.inside("config", "add", "favourites", "b/y").code == 0
    assert "already" in cli.inside("config", "add", "favourites", "b/y").out
    assert cli.inside("config", "remove", "favourites", "a/x").code == 0
    assert cli.inside("config", "get", "favourites").out.strip() == '["b/y"]'
    wrong = cli.inside("config", "remove", "favourites", "z/z")
    assert (wrong.code, "isn't in favourites" in wrong.err, '"b/y"' in wrong.err) == (2, True, True)
    assert cli.inside("config", "add", "max_steps", "3").code == 2
    assert cli.inside("config", "add", "instructions.files", "RULES.md").code == 0
    assert (
        cli.inside("config", "get", "instructions.files").out.strip()
        == '["AGENTS.md", "CLAUDE.md", ".claude/CLAUDE.md", "RULES.md"]'
    )


def test_a_member_of_the_wrong_kind_changes_nothing(cli: Cli) -> None:
    cli.config('favourites = ["a/x"]\n')
    outcome = cli.inside("config", "add", "sandbox.write", "5")
    assert outcome.code == 0, "a text is what it can be"
    outcome = cli.inside("config", "add", "providers.local.models", "x")
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert cli.inside("config", "add", "roles.main", '{model = "b/y", weight = 2}').code == 0
    assert cli.inside("config", "get", "roles.main").code == 0


def test_the_doctor_says_who_has_which_role_and_who_lacks_a_key(cli: Cli) -> None:
    cli.config(CONFIG.replace('"local/three"', '["local/three", "anthropic/claude-haiku-4-5"]', 1))
    outcome = cli.inside("doctor")
    lines = outcome.out.splitlines()
    assert any(line.split()[1] == "model:" and "local/one" in line for line in lines), outcome.out
    assert any("role main: local/one; then local/two" in line and line.startswith("ok") for line in lines)
    assert any("role small" in line and "no key for anthropic" in line and line.startswith("note") for line in lines)
    assert "summaries by local/three" in outcome.out


def test_a_role_without_such_a_model_is_named_in_the_error(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi", "--set", 'roles.main=["nobody/x"]')
    assert outcome.code == 2
    assert "roles.main: no provider is called 'nobody'" in outcome.err
