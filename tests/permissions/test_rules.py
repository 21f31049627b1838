"""Rules that can't act are errors that say where they stand and what was meant."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.permissions import Rule, parse_rule
from trimtab.coding.permissions.rules import TOOLS, command_rules, parse_rules
from trimtab.coding.project import open_project
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.coding.toolset import build_tools
from trimtab.types.errors import ConfigError


@pytest.mark.parametrize("text", ["", "()", "bash(", "a b", "bash()", "bash( )", "rm(x) y"])
def test_what_is_no_rule_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError) as error:
        parse_rule(text)
    assert "bash(npm test)" in error.value.hint


def refusal(*texts: str, tools: tuple[str, ...] = ()) -> tuple[str, str]:
    with pytest.raises(ConfigError) as error:
        parse_rules(texts, key="permissions.deny", origin="user config (/c)", tools=TOOLS.union(tools))
    return error.value.message, error.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bahs(touch)", "there is no tool 'bahs' (did you mean 'bash'?)"),
        ("edti(**)", "there is no tool 'edti' (did you mean 'edit'?)"),
        ("Bash(ls)", "there is no tool 'Bash' (did you mean 'bash'?)"),
        ("npm", "there is no tool 'npm'"),
        ("npm test", "'npm test' is not a permission rule"),
        ("todo(x)", "a rule for 'todo' takes no argument, but 'todo(x)' has one"),
        ("*(x)", "a rule for '*' takes no argument, but '*(x)' has one"),
    ],
)
def test_a_rule_that_could_never_act_is_named_with_its_place(text: str, words: str) -> None:
    message, _ = refusal("bash(git push)", text)
    assert message == f"user config (/c): setting 'permissions.deny[1]': {words}"


def test_the_right_form_is_shown() -> None:
    assert 'for commands that begin so: "bash(npm test)"' in refusal("npm test")[1]
    assert 'for a command write "bash(npm)"' in refusal("npm")[1]
    assert (
        refusal("bahs(x)")[1]
        == "a rule begins with a tool: bash, edit, fetch, find, grep, jobs, ls, read, task, todo, write"
    )
    assert 'write "todo" for every call of it' in refusal("todo(x)")[1]


def test_tools_from_elsewhere_and_patterns_may_be_named() -> None:
    texts = ("mcp__files__read", "mcp__*", "wiki", "*", "gr*", "bash", "write(a b/**)")
    rules = parse_rules(texts, key="k", origin="", tools=TOOLS | {"wiki"})
    assert [rule.tool for rule in rules[:-1]] == list(texts[:-1])
    assert rules[-1] == Rule("write", "a b/**")
    assert [Rule("mcp__*").is_about(tool) for tool in ("mcp__files__read", "bash")] == [True, False]


def test_an_empty_command_is_named_with_its_place() -> None:
    with pytest.raises(ConfigError) as error:
        command_rules(("ls", " "), key="tools.bash.allow", origin="--set tools.bash.allow")
    assert error.value.message == "--set tools.bash.allow: setting 'tools.bash.allow[1]': it is empty"


@pytest.mark.parametrize(
    "line",
    ["echo a | cat", "a && b", "a; b", "a > b", "(ls)", "FOO=1 npm test", "npm test &", "echo $(ls)", "echo `ls`"],
)
def test_a_whole_line_is_no_rule_because_each_of_its_commands_is_judged_by_itself(line: str) -> None:
    assert "is a line, not the first words of a command" in refusal(f"bash({line})")[0]
    with pytest.raises(ConfigError, match="is a line, not the first words of a command"):
        command_rules((line,), key="tools.bash.allow", origin="")


def opened(tmp_path: Path, config: str) -> tuple[object, Mapping[str, str]]:
    (tmp_path / "home").mkdir(exist_ok=True)
    (tmp_path / "home/config.toml").write_text(config)
    env = {"TRIMTAB_HOME": str(tmp_path / "home"), "HOME": str(tmp_path)}
    project = open_project(tmp_path, env=env)
    return permission_hooks(project, workspace_of(project), more_tools=("wiki",)), env


def test_the_settings_name_their_layer(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as error:
        opened(tmp_path, '[permissions]\ndeny = ["wiki", "bahs(touch)"]\n')
    file = tmp_path / "home/config.toml"
    assert error.value.message == (
        f"user config ({file}): setting 'permissions.deny[1]': there is no tool 'bahs' (did you mean 'bash'?)"
    )


def test_the_tools_that_rules_know_are_those_there_are(tmp_path: Path) -> None:
    project = open_project(tmp_path, env={"TRIMTAB_HOME": str(tmp_path), "HOME": str(tmp_path)})
    tools = build_tools(project, PrivateFolder(), images=False)
    assert {tool.spec.name for tool in tools} == TOOLS - {"fetch"}  # off unless it is turned on
