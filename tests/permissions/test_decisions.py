"""What may run unasked: edits in the project, commands known to change nothing, and what rules allow; and what is told where nobody is asked."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trimtab.agent.ports import Answer, Hooks, Proceed, ToolOutput
from trimtab.coding.permissions import (
    Allow,
    Ask,
    Decision,
    Deny,
    Mode,
    PermissionHooks,
    Policy,
    Rules,
    decide,
    parse_rule,
)
from trimtab.coding.permissions.places import real_path
from trimtab.coding.permissions.policy import READING_TOOLS
from trimtab.coding.permissions.rules import command_rules, parse_rules
from trimtab.coding.permissions.workspace_paths import WorkspacePaths
from trimtab.coding.tools.paths import Workspace
from trimtab.types.messages import ToolCall

NOBODY = "It isn't asked about in this mode; a person allows it with --permission full"
GO_ON = "Go on without it, or say what you need."


@dataclass(frozen=True)
class PlainPaths:
    """Paths of a project without links."""

    cwd: str = "/p"

    def of_tool(self, text: str, tool: str) -> str | None:
        return os.path.normpath(os.path.join(self.cwd, text))

    def of_shell(self, text: str) -> str | None:
        return self.of_tool(text, "write")

    def of_program(self, name: str) -> str | None:
        return {"pip": "/p/.venv/bin/pip", "ls": "/usr/bin/ls"}.get(name)

    def has_version_by_path(self, name: str) -> bool:
        return False

    def python_path(self) -> tuple[str, ...]:
        return ()

    def is_in_git_folder(self, path: str) -> bool:
        return path.startswith("/p/.bare/")

    def has_other_names(self, path: str) -> bool:
        return path.startswith("/p/linked/")

    def git_program(self, folder: str) -> str:
        return {"evil": "filter.x.clean", "/evil": "diff.external"}.get(folder, "")


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("id", name, arguments, "")


def rules(*, allow: tuple[str, ...] = (), deny: tuple[str, ...] = ()) -> Rules:
    return Rules(tuple(map(parse_rule, allow)), tuple(map(parse_rule, deny)))


def bash(command: str, mode: Mode = "auto-edit", given: Rules | None = None) -> Decision:
    return decide(call("bash", command=command), Policy(mode, "/p", "/home/me", given or Rules()), PlainPaths())


def edit(path: str, mode: Mode = "auto-edit", given: Rules | None = None, tool: str = "edit") -> Decision:
    return decide(call(tool, path=path), Policy(mode, "/p", "/home/me", given or Rules()), PlainPaths())


def runs(decision: Decision) -> bool:
    return isinstance(decision, Allow)


def told(decision: Decision) -> tuple[str, str]:
    """What is told of a call that doesn't run where nobody is asked: why, and what would let it run."""
    assert not isinstance(decision, Allow)
    return decision.reason, decision.hint


@pytest.mark.parametrize("tool", ["read", "ls", "grep", "find", "todo"])
def test_tools_that_change_nothing_run_anywhere(tool: str) -> None:
    assert runs(decide(call(tool, path="/etc/passwd"), Policy("auto-edit", "/p"), PlainPaths()))


def test_another_tool_needs_a_rule_and_is_told_which() -> None:
    policy = Policy("auto-edit", "/p")
    hint = f'{NOBODY}, or the setting permissions.allow = ["wiki"]. {GO_ON}'
    assert told(decide(call("wiki", url="x"), policy, PlainPaths())) == ("the tool 'wiki' may change things", hint)
    allowed = Policy("auto-edit", "/p", rules=rules(allow=("wiki",)))
    assert runs(decide(call("wiki", url="x"), allowed, PlainPaths()))
    assert runs(decide(call("wiki", url="x"), Policy("full", "/p"), PlainPaths()))


@pytest.mark.parametrize("tool", ["write", "edit"])
def test_edits_run_in_the_project_and_nowhere_else(tool: str) -> None:
    assert all(runs(edit(path, tool=tool)) for path in ("a", "src/../b", "/p/c"))
    for path in ("../x", "/etc/passwd", "src/../../x", "/pp/x"):
        assert not runs(edit(path, tool=tool))
    assert told(edit("../x", tool=tool)) == (
        "../x is outside the project",
        f'{NOBODY}, or the setting permissions.allow = ["write(/x)"]. {GO_ON}',
    )


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", "sub/.git", ".trimtab/config.toml", ".GIT/config", ".mcp.json", "sub/.ENVRC"]
)
def test_files_that_can_make_programs_run_are_not_edited(path: str) -> None:
    decision = edit(path)
    assert not runs(decision)
    assert "can make programs run" in decision.reason


def test_a_folder_of_git_is_not_edited_whatever_its_name_is() -> None:
    decision = edit(".bare/config")
    assert not runs(decision)
    assert decision.reason == ".bare/config is in a folder of git's own, whose files can make programs run"
    assert not runs(bash("echo '[core]' >.bare/config"))


def test_git_folders_are_known_by_what_is_in_them(tmp_path: Path) -> None:
    paths = WorkspacePaths(Workspace(tmp_path, tmp_path))
    for names in (("bare/HEAD", "bare/objects/x"), ("part/HEAD", "part/commondir"), ("none/HEAD", "none/other")):
        for name in names:
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text("")
    found = [paths.is_in_git_folder(str(tmp_path / name / "hooks/new")) for name in ("bare", "part", "none")]
    assert found == [True, True, False]


@pytest.mark.parametrize(("project", "allowed"), [("/", False), ("/home", False), ("/home/me", True), ("/srv", True)])
def test_a_project_that_holds_the_home_folder_is_too_wide_for_edits(project: str, allowed: bool) -> None:
    policy = Policy("auto-edit", project, "/home/me")
    path = f"{project.rstrip('/')}/notes.txt"
    decision = decide(call("write", path=path), policy, PlainPaths())
    assert runs(decision) is allowed
    ruled = Policy("auto-edit", project, "/home/me", rules(allow=(f"write({path})",)))
    assert runs(decide(call("write", path=path), ruled, PlainPaths()))


def test_at_home_the_persons_settings_and_those_of_trimtab_are_not_edited() -> None:
    def edited(path: str, project: str) -> bool:
        policy = Policy("auto-edit", project, "/home/me", own=("/home/me/th",))
        return runs(decide(call("write", path=path), policy, PlainPaths()))

    assert [edited(path, "/home/me") for path in ("/home/me/a", "/home/me/src/.bashrc", "/home/me/th2/x")] == [True] * 3
    for path in ("/home/me/.bashrc", "/home/me/.config/git/config", "/home/me/th/config.toml"):
        assert not edited(path, "/home/me")
        assert not edited(path, "/")
    assert edited("/home/me/.dotfiles/bashrc", "/home/me/.dotfiles")
    assert edited("/home/me/.dotfiles/vim/rc", "/home/me/.dotfiles/vim")


def test_a_program_that_may_be_edited_is_not_known_to_change_nothing() -> None:
    assert runs(bash("ls"))
    assert not runs(bash("pip list"))
    assert not runs(bash("timeout 5 pip list"))
    assert not runs(bash("pip list", "ask"))
    assert not runs(bash("pip list", "plan"))
    assert runs(bash("pip list", given=rules(allow=("bash(pip list)",))))


def test_path_rules_open_what_they_name() -> None:
    given = rules(allow=("write(/tmp/**)", "edit(~/notes/*.md)", "write(.trimtab/skills/**)"))
    assert all(runs(edit(p, given=given)) for p in ("/tmp/a/b", "/home/me/notes/x.md", ".trimtab/skills/x"))
    for path in ("/var/tmp/x", "/home/me/notes/x/y.md", ".trimtab/config.toml"):
        assert not runs(edit(path, given=given))
    assert runs(bash("ls > /tmp/x", given=given))


def test_redirections_are_edits() -> None:
    for command in ("ls > out.txt", "ls >> src/a 2>/dev/null", "ls 2>&1 | cat > /p/x", "cat <<'E' > f\nx\nE"):
        assert runs(bash(command))
    assert told(bash("ls > ../x")) == (
        "../x is outside the project",
        f'{NOBODY}, or the setting permissions.allow = ["write(/x)"]. {GO_ON}',
    )
    assert told(bash("cd .. && ls > x")) == ("after cd it is unclear where x is", "Redirect to an absolute path.")


@pytest.mark.parametrize(
    "command",
    [
        "cd x; ls > f",
        "command cd x; ls > f",
        "command -p cd x; ls > f",
        "command command cd x && ls >f",
        "$X y; ls > f",
    ],
)
def test_where_a_relative_redirection_leads_is_unclear_once_anything_may_have_changed_the_folder(command: str) -> None:
    assert not runs(bash(command))


@pytest.mark.parametrize("mode", ["auto-edit", "full"])
def test_what_may_not_be_edited_may_not_be_redirected_to(mode: Mode) -> None:
    given = rules(deny=("edit(secret/**)",))
    assert told(bash("ls > secret/a", mode, given)) == ("a rule of permissions.deny refuses '> secret/a'", GO_ON)
    assert not runs(bash("ls > x/../secret/a", mode, given))
    assert runs(bash("ls > open", mode, given))


def test_the_missing_part_is_what_is_offered() -> None:
    given = rules(allow=("bash(git *)", "bash(grep *)"))
    assert runs(bash("git diff | grep x && ls", given=given))
    assert told(bash("git push | grep x && npm test -- --watch", given=given)) == (
        "'npm test -- --watch' may change things",
        f'{NOBODY}, or the setting tools.bash.allow = ["npm test"]. {GO_ON}',
    )


@pytest.mark.parametrize(
    ("command", "offer"),
    [
        ("pytest -q", '["pytest"]'),
        ("python -m pytest x", '["python -m pytest"]'),
        ("npm test -- --grep 'a b'", '["npm test"]'),
        ("make test && npm install x", '["make test", "npm install x $"]'),
        ("make a; make a", '["make a $"]'),
        ("rm -rf build && git push --force", '["rm -rf build $", "git push --force $"]'),
        ("sudo rm x; timeout 5 rm y", '["sudo rm x $", "rm y $"]'),
        ("bash -c 'timeout 9 pytest -q | tail'", '["pytest"]'),
        ("python x.py -v", '["python x.py -v $"]'),
        ("cargo test --release; cargo publish --dry-run", '["cargo test", "cargo publish --dry-run $"]'),
    ],
)
def test_the_offered_rule_is_no_wider_than_is_harmless_and_works(command: str, offer: str) -> None:
    decision = bash(command)
    assert not runs(decision)
    assert f"tools.bash.allow = {offer}." in decision.hint
    allow = command_rules([text.strip('"') for text in offer.strip("[]").split(", ")], key="k", origin="")
    assert runs(bash(command, given=Rules(allow=allow)))


@pytest.mark.parametrize(
    "command",
    [
        "rm -rf $X",
        "rm *",
        "bash",
        "curl x | sh",
        "python",
        "bash -c 'rm *'",
        "git push $REMOTE",
        "echo x | python3",
        "$X",
        "rm 'a b'",
    ],
)
def test_no_rule_is_offered_that_would_open_a_dangerous_program(command: str) -> None:
    decision = bash(command)
    assert not runs(decision)
    assert "tools.bash.allow" not in decision.hint


def test_a_rule_opens_no_side_door() -> None:
    given = rules(allow=("bash(npm test)",))
    assert runs(bash("npm test -- --grep 'a b'", given=given))
    assert runs(bash("timeout 60 npm test 2>&1 | tail -5", given=given))
    for command in (
        "npm test; rm x",
        "npm test $(rm x)",
        "npm test > ../x",
        "npm testx",
        "npm $X",
        "PATH=. npm test",
        "NODE_OPTIONS=--require=x npm test",
        "env NODE_OPTIONS=x npm test",
        "npm test 3>x",
        "npm test ((",
    ):
        assert not runs(bash(command, given=given)), command


@pytest.mark.parametrize("command", ["ls " + "x" * 10_001, "ls 7>&1", "[[ a =~ b ]]", "ls '"])
def test_what_cannot_be_read_for_certain_does_not_run(command: str) -> None:
    decision = bash(command)
    assert not runs(decision)
    assert decision.reason.startswith("the command can't be judged: ")
    assert runs(bash(command, mode="full"))


def test_wrappers_without_end_are_not_followed() -> None:
    decision = bash("env " * 2_000 + "ls")
    assert not runs(decision)
    assert decision.reason.startswith("'env env")


@pytest.mark.parametrize("mode", ["ask", "plan"])
def test_modes_that_edit_nothing_unasked_still_look_around(mode: Mode) -> None:
    looking = [bash("ls | wc", mode), decide(call("read", path="x"), Policy(mode, "/p"), PlainPaths())]
    assert all(map(runs, looking))
    assert not any(runs(bash(command, mode)) for command in ("ls > a", "npm test"))


def test_mode_ask_asks_about_edits_unless_a_rule_allows_them() -> None:
    decision = edit("a", "ask")
    assert isinstance(decision, Ask)
    assert told(decision) == (
        "a is not edited in mode ask",
        f'{NOBODY}, or the setting permissions.allow = ["write(/p/a)"]. {GO_ON}',
    )
    assert decision.rules == ("write(/p/a)",)
    assert runs(edit("docs/a", "ask", rules(allow=("write(docs/**)",))))


def test_mode_plan_changes_nothing_whatever_rules_allow_and_asks_nothing() -> None:
    given = rules(allow=("write(docs/**)", "bash(npm test)", "wiki"))
    decisions = [edit("docs/a", "plan", given), bash("npm test", "plan", given), bash("ls > docs/a", "plan", given)]
    decisions += [
        decide(call("wiki"), Policy("plan", "/p", rules=given), PlainPaths()),
        bash("[[ a ]]", "plan", given),
    ]
    assert all(isinstance(decision, Deny) for decision in decisions)
    assert told(decisions[1]) == (
        "'npm test' may change things",
        "Mode plan changes nothing, and nobody is asked: look around, and say what you would do. "
        "A person leaves it with --permission ask, auto-edit or full.",
    )


def test_full_runs_everything_that_no_rule_denies() -> None:
    given = rules(deny=("bash(git push)", "write(secret/**)", "wiki"))
    assert runs(bash("rm -rf x; [[ a ]]", mode="full"))
    assert runs(edit("/etc/passwd", mode="full"))
    assert told(bash("ls && git push -f", mode="full", given=given)) == (
        "a rule of permissions.deny refuses 'git push -f'",
        GO_ON,
    )
    assert not runs(bash("timeout 5 git push", mode="full", given=given))
    assert runs(bash("git pull", mode="full", given=given))
    assert not runs(edit("secret/a", mode="full", given=given))
    assert not runs(decide(call("wiki"), Policy("full", "/p", rules=given), PlainPaths()))


def test_a_denial_wins_over_an_allowance() -> None:
    given = rules(allow=("bash(git *)",), deny=("bash(git push)",))
    assert [runs(bash(c, given=given)) for c in ("git pull", "git push")] == [True, False]
    for command in ("ls", "> x"):
        decision = bash(command, given=rules(deny=("bash",)))
        assert isinstance(decision, Deny)
        assert told(decision) == ("a rule of permissions.deny refuses 'bash'", GO_ON)


def test_rules_of_denial_need_a_command_that_can_be_read() -> None:
    assert told(bash("[[ a ]] && git push", mode="full", given=rules(deny=("bash(git push)",)))) == (
        "the command can't be judged: it uses '[['",
        "Use simpler commands. Rules of permissions.deny and permissions.ask hold.",
    )


@pytest.mark.anyio
async def test_the_hook_answers_what_is_refused_and_links_are_resolved(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (tmp_path / "outside").mkdir()
    (project / "link").symlink_to(tmp_path / "outside")
    hooks: Hooks = PermissionHooks(Policy("auto-edit", str(project)), Workspace(project, tmp_path))
    assert await hooks.before_tool(call("write", path="new/file.py")) == Proceed()
    assert await hooks.before_tool(call("bash", command="ls | wc -l > count")) == Proceed()
    for refused in (
        call("write", path="link/x"),
        call("edit", path=str(tmp_path / "x")),
        call("bash", command="ls > link/x"),
        call("bash", command="npm test"),
    ):
        answer = await hooks.before_tool(refused)
        assert isinstance(answer, Answer)
        assert answer.output.is_error
        assert (answer.output.details or {})["permission"] == "denied"
    output = ToolOutput.text("x")
    assert await hooks.after_tool(call("read"), output) is output


@pytest.mark.anyio
async def test_the_refusal_teaches_the_person_and_the_model(tmp_path: Path) -> None:
    hooks = PermissionHooks(Policy("auto-edit", str(tmp_path)), Workspace(tmp_path, tmp_path))
    answer = await hooks.before_tool(call("bash", command="npm test"))
    assert answer == Answer(
        ToolOutput.text(
            "Not run: 'npm test' may change things.\nIt isn't asked about in this mode; a person allows it with "
            '--permission full, or the setting tools.bash.allow = ["npm test"]. Go on without it, or say what you need.',
            is_error=True,
            details={"permission": "denied", "rules": ["bash(npm test)"]},
        )
    )


def test_no_rule_is_offered_where_none_would_let_it_run() -> None:
    assert told(bash("FOO=1 npm test")) == ("'npm test' may change things", f"{NOBODY}. {GO_ON}")
    assert told(bash("npm test; FOO=1 ls")) == ("'npm test' may change things", f"{NOBODY}. {GO_ON}")


_ARGUMENTS = [
    "a",
    "-rf",
    "'b c'",
    "x=1",
    "$v",
    "*",
    "'A=1'",
    "é",
    "\\$",
    "sub/dir",
    "test",
    "-m",
    "pytest",
    "git",
    "rm",
    "push",
    "--a=b",
]


@given(
    st.lists(
        st.sampled_from(["rm", "git", "make", "npm", "python", "pytest", "timeout 5 rm", "env x=1 rm", "'A=1'", "cat"]),
        min_size=1,
        max_size=3,
    ),
    st.lists(st.sampled_from(_ARGUMENTS), max_size=4),
    st.sampled_from(["", " > ../out", " > '../o*'", " > in"]),
)
def test_the_rules_that_an_answer_would_add_can_be_read_allow_the_command_and_no_more_words(
    programs: list[str], arguments: list[str], redirect: str
) -> None:
    command = "; ".join(f"{program} {' '.join(arguments)}" for program in programs) + redirect
    decision = bash(command)
    if not isinstance(decision, Ask) or not decision.rules:
        return
    offered = parse_rules(decision.rules, key="permissions.allow", origin="")
    assert runs(bash(command, given=Rules(allow=offered)))
    exact = tuple(rule for rule in offered if (rule.argument or "").endswith(" $"))
    longer = "; ".join(f"{program} {' '.join(arguments)} /etc" for program in programs)
    assert not exact or not runs(bash(longer, given=Rules(allow=exact)))


def test_a_file_with_further_names_is_edited_unasked_only_by_a_rule() -> None:
    reason, _ = told(edit("/p/linked/a"))
    assert reason == "/p/linked/a has other names too (hard links), which may be outside the project"
    assert told(bash("ls > linked/a"))[0].endswith("may be outside the project")
    assert runs(edit("/p/linked/a", given=rules(allow=("write(linked/**)",))))


def test_a_program_of_the_project_is_not_known_to_change_nothing_by_whatever_name(tmp_path: Path) -> None:
    project = Path(os.path.realpath(tmp_path)) / "project"
    (project / "bin").mkdir(parents=True)
    (project / "bin" / "pip").write_text("#!/bin/sh\n")
    (project / "bin" / "pip").chmod(0o755)
    os.link(project / "bin" / "pip", project / "other")
    paths = WorkspacePaths(Workspace(project, tmp_path), str(project / "bin"))
    assert not runs(decide(call("bash", command="pip list"), Policy("ask", str(project), "/home/me"), paths))


def test_links_are_resolved_but_for_those_in_proc_which_lead_each_process_elsewhere(tmp_path: Path) -> None:
    base = os.path.realpath(tmp_path)
    for name, target in {"a": "b/c", "up": "..", "loop": "loop", "own": "/proc/self/cwd", "fd": "/dev/fd"}.items():
        (tmp_path / name).symlink_to(target)
    (tmp_path / "b" / "c").mkdir(parents=True)
    for text in ("a/x", "a/../y", "up/z", "b//./c/../new", "gone/x", "loop/x"):
        assert real_path(f"{base}/{text}") == os.path.realpath(f"{base}/{text}"), text
    paths = WorkspacePaths(Workspace(tmp_path, tmp_path))
    found = [paths.of_shell(text) for text in ("own/x", "fd/9", "/dev/fd/9", f"/proc/self/../..{base}/x")]
    assert found == ["/proc/self/cwd/x", "/proc/self/fd/9", "/proc/self/fd/9", f"/proc/self/../..{base}/x"]


@pytest.mark.parametrize(
    ("given", "runs_unasked"), [("", True), ("/usr/lib/x", True), ("src", False), ("/usr/lib/x:", False)]
)
def test_a_python_program_is_asked_about_where_an_edit_could_put_a_module_in_its_way(
    tmp_path: Path, given: str, runs_unasked: bool
) -> None:
    project = os.path.realpath(tmp_path)
    paths = WorkspacePaths(Workspace(tmp_path, Path("/home/me")), "/usr/bin", {"PYTHONPATH": given} if given else {})
    for command in ("pip list", "mypy --version"):
        decision = decide(call("bash", command=command), Policy("auto-edit", project, "/home/me"), paths)
        assert runs(decision) is runs_unasked


def test_a_program_whose_version_a_project_names_by_a_path_is_asked_about(tmp_path: Path) -> None:
    shims = tmp_path / "home" / "shims"
    shims.mkdir(parents=True)
    (shims / "node").write_text("#!/bin/sh\n")
    (shims / "node").chmod(0o755)
    project = tmp_path / "project"
    (project / "sub").mkdir(parents=True)
    paths = WorkspacePaths(Workspace(project / "sub", tmp_path), str(shims))
    policy = Policy("ask", str(project), "/home/me")
    look = call("bash", command="node --version")
    assert runs(decide(look, policy, paths))
    (project / ".tool-versions").write_text("node 20.1.0\n")
    assert runs(decide(look, policy, paths))
    (project / ".tool-versions").write_text("node path:./evil\n")
    assert not runs(decide(look, policy, paths))


def test_a_tool_of_others_may_change_files_unless_it_is_known_to_read(tmp_path: Path) -> None:
    policy = Policy("full", str(tmp_path), str(tmp_path), Rules(), READING_TOOLS | {"mcp__s__look"})
    hooks = PermissionHooks(policy, Workspace(tmp_path, tmp_path), stands_for=lambda c: carried.get(c.name, c))
    carried = {"mcp_call": ToolCall("1", "mcp__s__stir", {}, "{}"), "carried": ToolCall("1", "mcp__s__look", {}, "{}")}
    names = (
        "mcp__s__stir",
        "stir",
        "mcp_call",
        "mcp__s__look",
        "carried",
        "bash",
        "write",
        "read",
        "fetch",
        "memo",
        "mcp_find",
    )
    found = [name for name in names if hooks.may_change_files(ToolCall("1", name, {}, "{}"))]
    assert found == ["mcp__s__stir", "stir", "mcp_call"]
