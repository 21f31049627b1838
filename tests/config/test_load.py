"""Layers of settings become one value, and every mistake is named with its place."""

from pathlib import Path

import pytest

from trimtab.config.load import Layer, environment_layer, file_layer, load, set_layer, sift
from trimtab.types.errors import ConfigError


def test_later_layers_win_key_by_key_and_origins_say_which() -> None:
    low = Layer("user", {"model": "a/b", "tools": {"bash": {"timeout_s": 5, "env_pass": ["A"]}}})
    loaded = load([low, set_layer(["tools.bash.timeout_s=60"])])
    assert loaded.settings.tools.bash.timeout_s == 60
    assert loaded.settings.tools.bash.env_pass == ("A",)
    assert loaded.origins == {
        "model": "user",
        "tools.bash.env_pass": "user",
        "tools.bash.timeout_s": "--set tools.bash.timeout_s",
    }


@pytest.mark.parametrize(
    ("tree", "named", "nearest"),
    [
        ({"modle": "x"}, "'modle'", "'model'"),
        ({"tools": {"bahs": {}}}, "'tools.bahs'", "'bash'"),
        ({"providers": {"local": {"base_ulr": "x"}}}, "providers", "'base_url'"),
        ({"providers": {"local": {"models": [{"id": "m", "context_windw": 1}]}}}, "models[0]", "'context_window'"),
    ],
)
def test_an_unknown_key_names_the_nearest_one(tree: dict[str, object], named: str, nearest: str) -> None:
    with pytest.raises(ConfigError) as e:
        load([Layer("config", tree)])
    assert named in e.value.message
    assert f"did you mean {nearest}" in e.value.message


def test_a_wrong_type_names_the_setting_and_its_layer() -> None:
    with pytest.raises(
        ConfigError, match=r"^user .*'tools\.bash\.timeout_s'.*expected a number above 0, got text\. Correct the value"
    ):
        load([Layer("user (x.toml)", {"tools": {"bash": {"timeout_s": "soon"}}})])


def test_bad_toml_names_file_line_and_column(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "a"\nmax_steps = = 3\n')
    with pytest.raises(ConfigError, match=r"config\.toml isn't valid TOML: .*line 2, column"):
        file_layer(path, name="user")


def test_a_file_with_a_byte_order_mark_is_read_and_one_that_is_not_utf8_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b'\xef\xbb\xbfmodel = "a"\n')
    layer = file_layer(path, name="user")
    assert layer is not None
    assert layer.values == {"model": "a"}
    path.write_bytes(b'model = "a"\nthinking = "\xe9"\n')
    with pytest.raises(ConfigError, match="line 2 isn't UTF-8"):
        file_layer(path, name="user")


def test_a_missing_file_is_no_layer(tmp_path: Path) -> None:
    assert file_layer(tmp_path / "none.toml", name="user") is None


def test_every_setting_has_a_variable_and_text_that_looks_like_a_number_stays_text_where_text_is_meant() -> None:
    layer, notices = environment_layer(
        {
            "TRIMTAB_PROVIDERS__LOCAL__BASE_URL": "http://127.0.0.1:9/v1",
            "TRIMTAB_PROVIDERS__LOCAL__API_KEY": "12345",
            "TRIMTAB_PROVIDERS__LOCAL__CONTEXT_WINDOW": "32768",
            "TRIMTAB_HOME": "/x",
            "TRIMTAB_TRUST": "once",
            "TRIMTAB_DATA": "/y",
            "OTHER": "1",
        }
    )
    local = load([layer]).settings.providers["local"]
    assert (local.base_url, local.api_key, local.context_window) == ("http://127.0.0.1:9/v1", "12345", 32768)
    assert notices == ()


def test_a_provider_whose_name_no_variable_can_spell_is_found_by_its_letters() -> None:
    layer, _ = environment_layer({"TRIMTAB_PROVIDERS__MY_HOST__MAX_OUTPUT": "7"}, known=["my-host"])
    base = Layer("user", {"providers": {"my-host": {"base_url": "http://127.0.0.1/v1"}}})
    assert load([base, layer]).settings.providers["my-host"].max_output == 7


@pytest.mark.parametrize(
    ("variable", "problem"),
    [
        ("TRIMTAB_MODLE", "unknown setting 'modle' (did you mean 'model'?)"),
        ("TRIMTAB_COLOUR", "unknown setting 'colour'"),
        ("TRIMTAB_TOOLS__BASH__TIMOUT_S", "unknown setting 'tools.bash.timout_s' (did you mean 'timeout_s'?)"),
        ("TRIMTAB_PROVIDERS__X__URL", "unknown setting 'providers.x.url' (did you mean 'base_url'?)"),
        ("TRIMTAB_TOOLS__ENABLED__0", "there is nothing below 'tools.enabled'"),
        ("TRIMTAB_MAX_STEPS__MORE", "there is nothing below 'max_steps'"),
    ],
)
def test_a_variable_that_names_no_setting_is_a_notice_not_an_error(variable: str, problem: str) -> None:
    layer, notices = environment_layer({variable: "x"})
    assert layer.raw == ()
    assert notices == (f"the variable {variable} is ignored: {problem}",)


def test_a_variable_of_a_setting_with_a_wrong_value_is_an_error_that_names_it() -> None:
    layer, notices = environment_layer({"TRIMTAB_MAX_STEPS": "lots"})
    assert notices == ()
    with pytest.raises(
        ConfigError,
        match=r"^environment \(TRIMTAB_MAX_STEPS\): .*a whole number from 1 on, got text\. Correct the value",
    ):
        load([layer])


@pytest.mark.parametrize("text", ["tools.bash.timeout_s", "=3", ""])
def test_a_set_flag_without_a_value_shows_how_to_write_one(text: str) -> None:
    with pytest.raises(ConfigError) as e:
        set_layer([text])
    assert "--set a.b.c=VALUE" in e.value.hint


def test_a_set_flag_reaches_keys_with_dots_and_slashes_by_quoting() -> None:
    loaded = load([set_layer(['models."local/tiny.1".context_window=4096'])])
    assert loaded.settings.models["local/tiny.1"].context_window == 4096


def test_a_value_with_a_newline_is_one_value() -> None:
    loaded = load([set_layer(["append_system_prompt=1\nmodel = 'x'"])])
    assert loaded.settings.append_system_prompt == "1\nmodel = 'x'"
    assert loaded.settings.model is None


def test_a_mistake_in_a_file_is_named_with_the_line_of_its_statement(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('# max_steps\nmodel = "a/b"\n\nmax_steps = "many"\n')
    with pytest.raises(ConfigError) as e:
        load([file_layer(path, name="user config")])
    assert e.value.message == (
        f"user config ({path}), line 4: setting 'max_steps': expected a whole number from 1 on, got text"
    )


def test_sifting_keeps_what_loads_and_says_what_does_not(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "a/b"\nmax_steps = "many"\n[permissions]\nmode = "yolo"\n[tools.bash]\ntimeout_s = 7\n')
    variables, _ = environment_layer({"TRIMTAB_MODEL": "c/d", "TRIMTAB_TOOLS__ENABLED": "3"})
    kept, mistakes = sift([file_layer(path, name="user config"), None, variables])
    settings = load(kept).settings
    assert (settings.model, settings.max_steps, settings.permissions.mode) == ("c/d", None, "auto-edit")
    assert settings.tools.bash.timeout_s == 7
    assert [m.message.split(": ", 1)[1] for m in mistakes] == [
        "setting 'max_steps': expected a whole number from 1 on, got text",
        "setting 'permissions.mode': expected one of ask, auto-edit, full, plan, got 'yolo'",
        "setting 'tools.enabled': expected a list of texts, got a whole number",
    ]


@pytest.mark.parametrize("assignment", [".=.", "=1", '""=1', "..=1"])
def test_an_assignment_that_names_nothing_is_refused(assignment: str) -> None:
    with pytest.raises(ConfigError, match="names no setting"):
        set_layer([assignment])


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"target": 0.9}, ("context.target (0.9) is above context.soft (0.7), so 0.7 holds for both",)),
        ({"soft": 0.95}, ("context.soft (0.95) is above context.hard (0.92), so 0.92 holds for both",)),
        (
            {"target_tokens": 9, "soft_tokens": 5},
            ("context.target_tokens (9) is above context.soft_tokens (5), so 5 holds for both",),
        ),
        ({"target": 0.9, "target_tokens": 5}, ()),
        ({"soft": 0.3}, ()),
    ],
)
def test_a_threshold_above_the_one_it_must_stay_below_is_told(context: dict[str, float], said: tuple[str, ...]) -> None:
    assert load([Layer("a flag", {"context": context})]).notices == said


@pytest.mark.parametrize(
    ("assignment", "meant"),
    [
        ("modle=x", "model"),
        ("tools.bsh.timeout_s=1", "bash"),
        ("providers.l.base_ulr=x", "base_url"),
        ('providers.l.models=[{id="a", contxt_window=1}]', "context_window"),
        ("models.'a/b'.context.sof=0.5", "soft"),
        ("tools.bash.soft=0.5", "context.soft"),
        ("context={sotf=0.5}", "soft"),
    ],
)
def test_an_unknown_key_of_a_flag_names_the_nearest_one_at_every_level(assignment: str, meant: str) -> None:
    with pytest.raises(ConfigError, match=f"did you mean '{meant}'") as e:
        load([set_layer([assignment])])
    assert e.value.message.startswith("--set ")


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("MODLE", "model"),
        ("TOOLS__BASH__TIMOUT_S", "timeout_s"),
        ("PROVIDERS__L__APIKEY", "api_key"),
        ("TIMEOUT_S", "tools.bash.timeout_s"),
    ],
)
def test_an_unknown_variable_names_the_nearest_key_at_every_level(name: str, meant: str) -> None:
    layer, (notice,) = environment_layer({f"TRIMTAB_{name}": "1"})
    assert layer.raw == ()
    assert f"did you mean '{meant}'" in notice
