"""Bad input: one clear error with the next step, the right exit code, no traceback, nothing lost."""

import os
import resource
import signal
from threading import Thread

import pytest

from support.cli import Cli, Outcome, local, said
from support.servers import FakeServer, Reply, Stall, sse, wait_until


def refused(outcome: Outcome, *words: str, code: int = 2) -> None:
    """One message of two or three lines: what, where, and the next step; nothing on standard output."""
    assert outcome.code == code, outcome
    assert outcome.out == ""
    first, *hint = outcome.err.strip().splitlines()
    assert first.startswith("trimtab: ")
    assert hint
    assert len(hint) <= 3
    assert "Traceback" not in outcome.err
    for word in words:
        assert word in outcome.err


def ok(cli: Cli) -> str:
    return cli.script({"text": "ok"})


@pytest.mark.parametrize("flags", [["@missing.txt"], ["read", "@missing.txt"]])
def test_a_missing_file_is_named(cli: Cli, flags: list[str]) -> None:
    refused(cli.inside("-p", *flags, "--model", ok(cli)), "@missing.txt: there is no such file")
    cli.file("missing.text", "")
    refused(cli.inside("-p", *flags, "--model", ok(cli)), "Near it: missing.text.")
    assert cli.sessions == []


def test_a_missing_folder_is_named(cli: Cli) -> None:
    refused(cli.inside("-p", "hi", "--cwd", "nowhere", "--model", ok(cli)), "nowhere", "--cwd")
    cli.file("f", "x")
    refused(cli.inside("-p", "hi", "--cwd", "f", "--model", ok(cli)), "no folder")


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("model = \n", "line 1, column"),
        ("a = 1\nmodel 'x'\n", "line 2, column"),
        ("[providers.local\n", "line 1, column"),
        ('model = "a"\nmodel = "b"\n', "line 2"),
    ],
)
def test_bad_toml_is_named_with_line_and_column(cli: Cli, text: str, place: str) -> None:
    cli.config(text)
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "config.toml", place)


def test_a_config_that_is_no_text_is_named_with_its_line(cli: Cli) -> None:
    cli.config("")
    (cli.home / "config.toml").write_bytes(b"# fine\n# caf\xe9\n")
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "line 2", "UTF-8")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('modle = "x"\n', ("'modle'", "'model'")),
        ("[tools.bash]\ntimeout = 3\n", ("'tools.bash.timeout'", "'timeout_s'")),
        ('[providers.local]\nbase_ulr = "x"\n', ("base_ulr", "'base_url'")),
        ('[[providers.local.models]]\nid = "m"\ncontext_windw = 1\n', ("context_windw", "'context_window'")),
    ],
)
def test_an_unknown_key_names_the_nearest(cli: Cli, text: str, words: tuple[str, ...]) -> None:
    cli.config(text)
    refused(cli.inside("-p", "hi", "--model", ok(cli)), *words)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("max_steps = 'many'\n", ("max_steps", "line 1", "a whole number from 1 on, got text")),
        ("model = 3\n", ("'model'", "text, got a whole number")),
        ("[permissions]\nmode = 'yolo'\n", ("permissions.mode", "ask, auto-edit, full, plan, got 'yolo'")),
        ("tools = 5\n", ("tools", "a table")),
        ("[providers.local]\napi = 'grpc'\n", ("'providers.local.api'", "openai-chat, openai-responses, anthropic")),
        ("[providers.local]\nmodels = 'x'\n", ("models",)),
        ("[providers.local]\nidle_timeout_s = 'long'\n", ("line 2", "idle_timeout_s", "a number above 0, got text")),
    ],
)
def test_a_wrong_type_names_key_and_type(cli: Cli, text: str, words: tuple[str, ...]) -> None:
    cli.config(text)
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "config.toml", *words)


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("max_steps", ("has no value",)),
        ("=3", ("names no setting",)),
        ("max_steps=lots", ("--set max_steps",)),
        ("tools.bash.timeout_z=3", ("timeout_z", "'timeout_s'")),
        ("model.x=1", ("model",)),
        ("permissions.mode=yolo", ("permissions.mode",)),
    ],
)
def test_a_bad_set_is_named(cli: Cli, assignment: str, words: tuple[str, ...]) -> None:
    refused(cli.inside("-p", "hi", "--set", assignment, "--model", ok(cli)), *words)


def test_a_misspelt_variable_is_named_when_the_run_fails_without_it(cli: Cli) -> None:
    cli = Cli(cli.root, {"TRIMTAB_PROVIDERS__LOCAL__BASE_ULR": "http://127.0.0.1:1/v1"})
    refused(cli.inside("-p", "hi", "--model", "local/tiny"), "no provider is called", "LOCAL__BASE_ULR", "'base_url'")
    outcome = cli.inside("-p", "hi", "--model", ok(cli))
    assert (outcome.code, outcome.out) == (0, "ok\n")
    assert "TRIMTAB_PROVIDERS__LOCAL__BASE_ULR is ignored" in outcome.err
    refused(Cli(cli.root, {"TRIMTAB_MODLE": "a/b"}).inside("-p", "hi"), "no model is configured", "TRIMTAB_MODLE")


def test_a_bad_variable_is_named(cli: Cli) -> None:
    cli = Cli(cli.root, {"TRIMTAB_MAX_STEPS": "lots"})
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "TRIMTAB_MAX_STEPS")
    cli = Cli(cli.root, {"TRIMTAB_TRUST": "maybe"})
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "TRIMTAB_TRUST", "never")


@pytest.mark.parametrize("name", ["claude-nonsense", "nosuch/model", "gpt", "tiny"])
def test_an_unknown_model_names_what_can_be_done(cli: Cli, name: str) -> None:
    cli.config(
        '[providers.one]\nbase_url = "http://127.0.0.1:1/v1"\nmodels = [{id = "tiny"}]\n'
        '[providers.two]\nbase_url = "http://127.0.0.1:2/v1"\nmodels = [{id = "tiny"}]\n'
    )
    outcome = cli.inside("-p", "hi", "--model", name)
    refused(outcome, name.split("/")[0])
    if name == "tiny":
        assert "one/tiny" in outcome.err
        assert "two/tiny" in outcome.err
    assert cli.sessions == []


def test_a_missing_key_names_its_variable(cli: Cli) -> None:
    refused(cli.inside("-p", "hi", "--model", "anthropic/claude-sonnet-4-5"), "ANTHROPIC_API_KEY")
    assert cli.sessions == []


def test_a_missing_or_broken_script_is_named(cli: Cli) -> None:
    refused(cli.inside("-p", "hi", "--model", "scripted/nowhere.jsonl"), "nowhere.jsonl")
    cli.file("bad.jsonl", '{"text": "a"}\n{"text": }\n')
    refused(cli.inside("-p", "hi", "--model", "scripted/bad.jsonl"), "line 2, column")


@pytest.mark.parametrize("mode", ["text", "json"])
def test_an_unreachable_server_is_named_and_the_prompt_is_kept(cli: Cli, mode: str) -> None:
    with FakeServer() as gone:
        url, flags = gone.url, local(gone, max_retries=0)
    outcome = cli.inside("-p", "remember me", "--mode", mode, *flags)
    assert outcome.code == 1
    message = outcome.err if mode == "text" else outcome.of("error")[0]["message"]
    assert url.removeprefix("http://") in message
    assert "Traceback" not in outcome.err
    with FakeServer(said("welcome back")) as server:
        assert cli.inside("-p", "again", "-c", *local(server)).out == "welcome back\n"
    assert "remember me" in server.requests[0].body.decode()


def test_a_folder_without_permission_is_named(cli: Cli) -> None:
    (cli.project / "locked").mkdir(mode=0)
    plain = {"preexec_fn": _lose_root} if os.geteuid() == 0 else {}
    refused(cli.run("-p", "hi", "--cwd", "locked", "--model", ok(cli), **plain), "locked", "permission")


def _lose_root() -> None:
    """Keep the user and lose the right to override permissions (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    for capability in (1, 2):
        if libc.prctl(24, capability, 0, 0, 0):
            raise OSError(ctypes.get_errno(), "prctl")


def test_a_home_without_permission_keeps_the_session_in_memory_and_says_so(cli: Cli) -> None:
    cli.home.write_text("a file where the folder should be")
    outcome = cli.inside("-p", "hi", "--model", ok(cli))
    assert (outcome.code, outcome.out) == (0, "ok\n")
    assert "in memory only" in outcome.err
    assert "trimtab" not in cli.home.read_text()


def test_a_file_size_limit_in_the_middle_of_a_turn_loses_nothing_that_was_said(cli: Cli) -> None:
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (8_000, 8_000))

    first = cli.run("-p", "before", "--mode", "json", "--model", ok(cli))
    script = cli.script({"text": "y" * 20_000})
    outcome = cli.run("-p", "now", "-c", "--mode", "json", "--model", script, preexec_fn=limit)
    assert outcome.code == 1
    (error,) = outcome.of("error")
    assert error["class"] == "store"
    assert error["hint"]
    assert "Traceback" not in outcome.err
    kept = cli.sessions[0].read_text()
    assert all(entry_id in kept for entry_id in (*first.acknowledged, *outcome.acknowledged))
    again = cli.inside("-p", "later", "-c", "--model", ok(cli))
    assert (again.code, again.out) == (0, "ok\n")


def test_a_session_in_use_is_refused_with_a_way_on(cli: Cli) -> None:
    with FakeServer(Reply([*sse({"choices": []}), Stall()])) as server:
        holder = cli.start("-p", "long", "--session", "s.jsonl", *local(server))
        try:
            assert wait_until(lambda: bool(server.requests), seconds=15)
            refused(cli.inside("-p", "hi", "--session", "s.jsonl", "--model", ok(cli)), str(holder.pid), "--fork")
            refused(cli.inside("-p", "hi", "--resume", "s.jsonl", "--model", ok(cli)), str(holder.pid), "--fork")
            assert cli.inside("sessions", "show", "s.jsonl").code == 0
        finally:
            os.kill(holder.pid, signal.SIGTERM)
            holder.communicate()
    assert cli.inside("-p", "hi", "--resume", "s.jsonl", "--model", ok(cli)).code == 0


@pytest.mark.parametrize("reference", ["0000dead", "last", "gone.jsonl", "a/b.jsonl", "", "../..", "*"])
@pytest.mark.parametrize("flag", ["--resume", "--fork"])
def test_an_unknown_session_points_to_the_list(cli: Cli, flag: str, reference: str) -> None:
    outcome = cli.inside("-p", "hi", flag, reference, "--model", ok(cli))
    refused(outcome, "sessions list")
    assert cli.sessions == []


def test_an_ambiguous_session_names_the_candidates(cli: Cli) -> None:
    for _ in range(17):
        assert cli.inside("-p", "hi", "--model", ok(cli)).code == 0
    ids = [p.stem.split("_")[-1] for p in cli.sessions]
    first = next(i[0] for i in ids if sum(j.startswith(i[0]) for j in ids) > 1)
    refused(
        cli.inside("-p", "hi", "--resume", first, "--model", ok(cli)), "fits", next(i for i in ids if i[0] == first)
    )


@pytest.mark.parametrize(
    "flags",
    [
        ["--session", "a.jsonl", "--resume", "last"],
        ["--continue", "--fork", "last"],
        ["--no-session", "--session", "a.jsonl"],
        ["--no-session", "--continue"],
    ],
)
def test_flags_that_disagree_are_named(cli: Cli, flags: list[str]) -> None:
    refused(
        cli.inside("-p", "hi", *flags, "--model", ok(cli)), "exclude each other", *(f for f in flags if f[:2] == "--")
    )
    assert not (cli.project / "a.jsonl").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-p", "hi", "--modle", "x"], ("--modle",)),
        (["-p", "hi", "--max-steps", "0"], ("--max-steps",)),
        (["-p", "hi", "--max-steps", "x"], ("--max-steps",)),
        (["-p", "hi", "--mode", "xml"], ("json",)),
        (["-p", "hi", "--permission", "yolo"], ("auto-edit",)),
        (["-p", "hi", "--model"], ("--model",)),
        (["-p", "hi", "--tools", "read,fly"], ("'fly'", "read")),
        (["-p", "hi", "--tools", "read", "--no-tools"], ("exclude",)),
        (["-p"], ("no prompt",)),
        (["-p", " "], ("no prompt",)),
        (["docter"], ("doctor",)),
        (["sessions", "shw", "x"], ("shw",)),
        (["answer", "last", "c1", "yes"], ("sessions list",)),
        (["completion", "tcsh"], ("bash",)),
    ],
)
def test_wrong_arguments_are_named(cli: Cli, arguments: list[str], words: tuple[str, ...]) -> None:
    flags = ["--model", ok(cli)] if "-p" in arguments and "--model" not in arguments else []
    refused(cli.inside(*flags, *arguments), *words)
    assert cli.sessions == []


@pytest.mark.parametrize("content", [b"", b"not a session\n", b"\x89PNG\r\n\x1a\n", b'{"type": "session"}\n', b"[]\n"])
def test_any_file_can_be_named_as_a_session_and_is_not_harmed(cli: Cli, content: bytes) -> None:
    path = cli.file("s.jsonl", content)
    outcome = cli.inside("-p", "hi", "--resume", "s.jsonl", "--model", ok(cli))
    assert outcome.code in (0, 2)
    assert "Traceback" not in outcome.err
    assert path.read_bytes().startswith(content)


@pytest.mark.parametrize("option", ["--session", "--resume", "--fork"])
def test_a_text_of_a_person_is_no_session_and_is_not_written_to(cli: Cli, option: str) -> None:
    path = cli.file("notes.md", b"# Notes\n\n- milk\n")
    refused(
        cli.inside("-p", "hi", option, "notes.md", "--model", ok(cli)),
        "notes.md",
        "is no session",
        "@FILE",
        "trimtab replay",
    )
    assert (path.read_bytes(), cli.sessions) == (b"# Notes\n\n- milk\n", [])


def test_a_folder_named_as_a_session_is_refused(cli: Cli) -> None:
    (cli.project / "d.jsonl").mkdir()
    refused(cli.inside("-p", "hi", "--session", "d.jsonl", "--model", ok(cli)), "d.jsonl")


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        ('[permissions]\ndeny = ["bahs(touch)"]', ("permissions.deny[0]", "did you mean 'bash'", "config.toml")),
        ('[permissions]\nallow = ["npm test"]', ("permissions.allow[0]", '"bash(npm test)"', "config.toml")),
        ('[tools.bash]\nallow = ["ls", ""]', ("tools.bash.allow[1]", "config.toml")),
    ],
)
def test_a_permission_rule_that_could_never_act_is_named(cli: Cli, setting: str, words: tuple[str, ...]) -> None:
    cli.config(setting)
    refused(cli.inside("-p", "hi", "--model", ok(cli)), *words)
    assert cli.sessions == []


def test_a_damaged_trust_file_is_named(cli: Cli) -> None:
    cli.config("")
    (cli.home / "trust.json").write_text("{")
    refused(cli.inside("-p", "hi", "--model", ok(cli)), "trust.json")
    assert (cli.home / "trust.json").read_text() == "{"


def test_what_is_no_file_is_refused_as_an_attachment(cli: Cli) -> None:
    os.mkfifo(cli.project / "pipe")
    refused(cli.inside("-p", "hi", "@pipe", "--model", ok(cli)), "pipe", "regular file")


def test_no_tool_and_no_prompt_file_are_slips_not_wishes(cli: Cli) -> None:
    refused(cli.inside("-p", "hi", "--tools", "", "--model", ok(cli)), "--tools names no tool", "--no-tools")
    for name in ("nope.md", "./nope", "~/nope.txt"):
        refused(cli.inside("-p", "hi", "--system-prompt", name, "--model", ok(cli)), f"there is no file {name!r}")
    assert cli.inside("-p", "hi", "--system-prompt", "Be brief.", "--model", ok(cli)).code == 0


def test_without_a_model_the_ignored_settings_of_an_untrusted_project_are_told(cli: Cli) -> None:
    (cli.project / ".trimtab").mkdir()
    cli.file(".trimtab/config.toml", 'model = "local/x"')
    refused(cli.inside("-p", "hi"), "no model is configured", ".trimtab", "isn't trusted")


def test_an_unknown_policy_is_refused_with_the_list(cli: Cli) -> None:
    outcome = cli.inside("-p", "hi", "--policy", "ruls", "--model", cli.script({"text": "hello"}))
    assert (outcome.code, "there is no policy 'ruls'" in outcome.err, "rules" in outcome.err) == (2, True, True)


def test_the_policy_of_the_flag_wins_over_a_setting(cli: Cli) -> None:
    cli.config('context.policy = "ruls"\n')
    outcome = cli.inside("-p", "hi", "--policy", "mask(keep=3)", "--model", cli.script({"text": "hello"}))
    assert (outcome.code, outcome.err) == (0, "")


def test_the_policy_of_the_flag_wins_over_that_of_the_model_s_own_table(cli: Cli) -> None:
    model = cli.script({"text": "hello"})
    cli.config(f'[models."{model}"]\ncontext.policy = "ruls"\n')
    assert cli.inside("-p", "hi", "--model", model).code == 2
    outcome = cli.inside("-p", "hi", "--policy", "none", "--model", model)
    assert (outcome.code, outcome.err) == (0, "")


def test_weights_that_a_policy_cannot_decide_by_are_refused_before_anything_is_asked(cli: Cli) -> None:
    cli.file("bad.json", "{}")
    for policy, words in (
        ("learned(weights='none.json')", "the weights 'none.json' can't be read"),
        ("cost-gate:learned(weights='bad.json')", "bad.json holds no weights"),
        ("shadow(policy=\"learned(weights='none.json')\"):rules", "the weights 'none.json' can't be read"),
        ("shadow(policy='ruls'):rules", "there is no policy 'ruls'"),
    ):
        refused(cli.inside("-p", "hi", "--policy", policy, "--model", ok(cli)), words)


@pytest.mark.parametrize("words", [("-r",), ("-r", "-p", "hi"), ("--resume",)])
def test_resume_without_a_session_says_how_to_find_one(cli: Cli, words: tuple[str, ...]) -> None:
    outcome = cli.inside(*words)
    assert outcome.code == 2
    assert "trimtab sessions list" in outcome.err
    assert "--continue" in outcome.err


def test_a_misspelt_tool_is_told_with_the_nearest_one(cli: Cli) -> None:
    assert "Did you mean read?" in cli.inside("-p", "hi", "--tools", "reed", "--model", cli.script({"text": "x"})).err


def test_a_schema_may_come_from_a_pipe_which_is_not_waited_for_without_end(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trimtab.coding.output_schema._PATIENCE_S", 0.2)
    pipe = cli.project / "pipe"
    os.mkfifo(pipe)
    model = cli.script({"text": '"x"'})
    outcome = cli.inside("-p", "hi", "--output-schema", "pipe", "--model", model)
    assert (outcome.code, "is a pipe that nothing came from" in outcome.err) == (2, True)
    monkeypatch.setattr("trimtab.coding.output_schema._PATIENCE_S", 20)
    thread = Thread(target=lambda: pipe.write_text('{"type": "string"}'))
    thread.start()
    assert cli.inside("-p", "hi", "--output-schema", "pipe", "--model", model).code == 0
    thread.join()
