"""What a rule of `permissions.ask` names is asked about in every mode, whatever allows it; only a person's answer about the very thing lifts it, for the session."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from permissions.test_asking import Keeper, Typist, bash, call, keys, text_of
from permissions.test_decisions import PlainPaths
from trimtab.agent.ports import Proceed
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.permissions import Mode, PermissionHooks, Policy, Rules, decide, parse_rule
from trimtab.coding.permissions.grants import Grant
from trimtab.coding.permissions.verdicts import outcome_of
from trimtab.coding.person import NOBODY, Person
from trimtab.coding.project import open_project
from trimtab.coding.refusals import RefusalRecorder
from trimtab.coding.telling.permission_text import policy_lines, rule_rows, why_lines
from trimtab.coding.tools.paths import Workspace
from trimtab.types.messages import ToolCall

pytestmark = pytest.mark.anyio


def rules(allow: Sequence[str] = (), ask: Sequence[str] = (), deny: Sequence[str] = ()) -> Rules:
    return Rules(*(tuple(map(parse_rule, each)) for each in (allow, deny, ask)))


def outcome(of: ToolCall, given: Rules, mode: Mode = "full") -> str:
    return outcome_of(decide(of, Policy(mode, "/p", "/home/me", given), PlainPaths()))


def hooks_at(folder: Path, person: Person, given: Rules, mode: Mode = "auto-edit", **more: object) -> PermissionHooks:
    policy = Policy(mode, str(folder), "/home/me", given, mode_origin="default")
    return PermissionHooks(policy, Workspace(folder, Path("/home/me")), "/usr/bin", person, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["ask", "auto-edit", "full"])
@pytest.mark.parametrize(
    ("rule", "asked"),
    [
        ("bash(git push)", bash("git push --force")),
        ("bash(git push)", bash("ls && sudo /usr/bin/git -C . push | cat")),
        ("bash(git push)", bash("sh -c 'timeout 9 git push'")),
        ("bash(ls)", bash("ls -la")),
        ("bash", bash("a=1")),
        ("*", call("read", path="a")),
        ("wiki", call("wiki", url="x")),
        ("write(migrations/**)", call("edit", path="migrations/a.sql")),
        ("edit(migrations/**)", bash("echo x > migrations/a.sql")),
        ("edit(migrations/**)", bash("sh -c 'echo x > migrations/a.sql'")),
    ],
)
def test_an_ask_rule_stands_above_every_mode_and_every_rule_that_allows(rule: str, asked: ToolCall, mode: Mode) -> None:
    wide = ("bash", "write(**)", "wiki", "read", "bash(sh)", "bash(git)")
    assert outcome(asked, rules(wide, ask=(rule,)), mode) == "ask"
    assert outcome(asked, rules(wide), mode) == "allow" or mode == "ask"
    assert outcome(asked, rules(wide, ask=(rule,)), "plan") == "deny"


def test_what_an_ask_rule_does_not_name_runs_as_before() -> None:
    given = rules(("bash(git)",), ask=("bash(git push)", "write(migrations/**)", "wiki"))
    for of in (bash("git status"), bash("git commit -m push"), call("write", path="src/a"), bash("echo x > src/a")):
        assert outcome(of, given, "auto-edit") == "allow"
        assert outcome(of, given, "full") == "allow"


def test_a_command_that_cannot_be_read_is_asked_about_in_mode_full_where_a_rule_asks() -> None:
    assert outcome(bash("[[ a ]] && git push"), rules(ask=("bash(git push)",))) == "ask"
    assert outcome(bash("[[ a ]] && git push"), rules()) == "allow"


async def test_without_a_person_it_is_refused_with_the_name_of_the_rule(tmp_path: Path) -> None:
    hooks = RefusalRecorder(hooks_at(tmp_path, NOBODY, rules(("bash(git)",), ask=("bash(git push)",)), "full"))
    told = text_of(await hooks.before_tool(bash("git push")))
    assert told == (
        "Not run: the rule bash(git push) of permissions.ask wants a person's yes.\n"
        "No rule of permissions.allow lifts that, and no mode; a person is asked in a talk, or takes that rule out. "
        "Go on without it, or say what you need."
    )
    assert hooks.take_notice() == (
        "1 call was not allowed: bash git push. A rule of permissions.ask holds it for a person, whatever allows it: "
        "ask for it in a talk, or take the rule out"
    )


async def test_once_lets_it_run_once_and_session_lets_just_that_command_run_until_the_end(tmp_path: Path) -> None:
    person = Typist(["once", "session"])
    hooks = hooks_at(tmp_path, person, rules(("bash",), ask=("bash(git push)",)), "full", keep=Keeper().keep)
    for _ in range(3):
        assert await hooks.before_tool(bash("git push origin main")) == Proceed()
    assert [keys(question) for question in person.asked] == [["once", "session", "no", "tell"]] * 2
    assert person.asked[0].options[1].hint == "bash(git push origin main $)"
    assert "asked because the rule bash(git push) of permissions.ask wants a person's yes" in person.asked[0].details
    await hooks.before_tool(bash("git push origin main --force"))
    await hooks.before_tool(bash("FOO=1 git push origin main"))
    assert len(person.asked) == 4
    assert hooks.forget("bash(git push origin main $)")
    await hooks.before_tool(bash("git push origin main"))
    assert len(person.asked) == 5


async def test_a_wider_answer_to_another_question_lifts_no_ask_rule(tmp_path: Path) -> None:
    person = Typist(["session", None])
    hooks = hooks_at(tmp_path, person, rules(ask=("bash(pytest --pdb)",)), keep=Keeper().keep)
    assert await hooks.before_tool(bash("pytest -q")) == Proceed()
    assert [rule.text for rule in hooks.answers] == ["bash(pytest)"]
    await hooks.before_tool(bash("pytest --pdb"))
    assert len(person.asked) == 2


async def test_an_answer_about_one_file_or_one_tool_holds_for_just_that(tmp_path: Path) -> None:
    person = Typist(["session", "session"])
    hooks = hooks_at(tmp_path, person, rules(ask=("write(db/**)", "wi*")), "full", keep=Keeper().keep)
    for of in (call("write", path="db/a", content="x"), call("wiki", url="x")):
        for _ in range(2):
            assert await hooks.before_tool(of) == Proceed()
    assert [option.hint for question in person.asked for option in question.options if option.key == "session"] == [
        f"write({tmp_path}/db/a)",
        "wiki",
    ]
    await hooks.before_tool(call("write", path="db/b", content="x"))
    assert len(person.asked) == 3


async def test_a_skill_and_a_subagent_lift_no_ask_rule(tmp_path: Path) -> None:
    granted = Grant(rules=(parse_rule("bash"), parse_rule("bash(git push $)")), edits=True)
    hooks = hooks_at(tmp_path, NOBODY, rules(ask=("bash(git push)",)), "full", granted=lambda: granted)
    below = hooks_at(tmp_path, NOBODY, rules(("bash",)), "full", above=hooks)
    for one in (hooks, below):
        assert outcome_of(one.judge(bash("git push")).decision) == "ask"


def test_a_project_may_add_an_ask_rule_and_none_is_lost(tmp_path: Path) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "p/.trimtab").mkdir(parents=True)
    folder = tmp_path / "p"
    (tmp_path / "home/config.toml").write_text(
        f'[permissions]\nask = ["bash(git push)"]\n[projects."{folder}".permissions]\nask = ["bash(make deploy)"]\n'
    )
    (folder / ".trimtab/config.toml").write_text('[permissions]\nask = ["bash(npm publish)"]\nallow = ["bash"]\n')
    env = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    project = open_project(folder, env=env, trust="once")
    policy = permission_hooks(project, workspace_of(project)).current
    assert {rule.text for rule in policy.rules.ask} == {"bash(git push)", "bash(make deploy)", "bash(npm publish)"}
    assert policy.rules.allow == ()


def test_why_and_the_list_show_ask_rules_and_what_lifts_them(tmp_path: Path) -> None:
    hooks = hooks_at(tmp_path, NOBODY, rules(("bash(git)",), ask=("bash(git push)",)))
    assert why_lines("bash git push", hooks.judge(bash("git push"))) == [
        "bash git push: is asked about; without a person it is refused",
        "  ask  git push  the rule bash(git push) of permissions.ask wants a person's yes; rule bash(git push)",
        "No rule of permissions.allow lifts that, and no mode; a person is asked in a talk, or takes that rule out. "
        "Go on without it, or say what you need.",
    ]
    lines = policy_lines(hooks.current)
    assert "ask    bash(git push)" in [line.rstrip() for line in lines]
    assert list(rule_rows(hooks.current)) == ["deny", "ask", "allow"]


_RULES = st.sampled_from(
    ["bash(git push)", "bash(git)", "bash(ls)", "bash", "write(db/**)", "edit(src/a)", "wiki", "*", "bash(echo)"]
)
_CALLS = st.sampled_from(
    [
        *(bash(text) for text in ("git push", "sudo git push", "ls; git status", "echo x > db/a", "npm ci", "[[ a ]]")),
        *(call("write", path=path) for path in ("db/a", "src/a", "../x")),
        *(call(tool) for tool in ("wiki", "read", "todo")),
    ]
)
_MODES = st.sampled_from(["plan", "ask", "auto-edit", "full"])
_SETS = st.lists(_RULES, max_size=4)
_RANK = {"deny": 0, "ask": 1, "allow": 2}


@settings(max_examples=150)
@given(of=_CALLS, mode=_MODES, allow=_SETS, ask=_SETS, deny=_SETS, added=_RULES, data=st.data())
def test_denial_beats_asking_beats_allowing_beats_the_mode_in_any_order(
    of: ToolCall, mode: Mode, allow: list[str], ask: list[str], deny: list[str], added: str, data: st.DataObject
) -> None:
    before = outcome(of, rules(allow, ask, deny), mode)
    shuffled = rules(*(data.draw(st.permutations(each)) for each in (allow, ask, deny)))
    assert outcome(of, shuffled, mode) == before
    assert _RANK[outcome(of, rules(allow, [*ask, added], deny), mode)] <= _RANK[before]
    assert _RANK[outcome(of, rules(allow, ask, [*deny, added]), mode)] <= _RANK[before]
    assert _RANK[outcome(of, rules([*allow, added], ask, deny), mode)] >= _RANK[before]
    if outcome(of, rules(deny=deny)) == "deny":
        assert before == "deny"
    elif outcome(of, rules(ask=ask)) == "ask":
        assert before in ("ask", "deny")
