"""Decide whether a call may run, must be asked about, or is denied.

    call ─▶ denied by a rule? ─▶ held for a person by a rule of ask? ─▶ mode full? ─▶ reads only? ─▶ edit: is the real path in the project, and not kept apart (places.py)?
                                                           └▶ command: each part known, allowed by a rule, or asked about

Pure but for `Paths`, which resolves links. What is asked about carries what a person reads and, for where nobody is asked, words for two readers: the model
learns to go on, the person which flag or rule would allow it. Nothing is ever half-run: one part that may not run holds the whole command.
"""

import os.path
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from trimtab.coding.permissions.commands import SYSTEM_FOLDERS, git_folder, is_read_only, unsafe_variables, unwrap
from trimtab.coding.permissions.denials import denied
from trimtab.coding.permissions.fetching import fetch_verdict
from trimtab.coding.permissions.forms import Form
from trimtab.coding.permissions.held import Held
from trimtab.coding.permissions.looking import files_read, names_of_tool, reading_rule
from trimtab.coding.permissions.offers import offer
from trimtab.coding.permissions.places import (
    GO_ON,
    allowed_with,
    asked_by,
    denied_by,
    edit_verdict,
    is_edited_unasked,
    look_asked_by,
    path_rule,
)
from trimtab.coding.permissions.policy import Paths, Policy
from trimtab.coding.permissions.rules import LOOKING, WRITING, Rule
from trimtab.coding.permissions.shell import Command, Unclear, Word, parse
from trimtab.coding.permissions.targets import folders_of, moves_on, redirect_targets
from trimtab.coding.permissions.verdicts import Allow, Ask, By, Decision, Deny, Judgement, Part
from trimtab.types.messages import ToolCall

_SINKS = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr"})
_MAX_DEPTH = 20
_SHOWN = 120
"""Characters of a part of a command that a verdict names."""
_BARE = re.compile(r"[^\s'\"\\|&;<>()$`*?\[\]#~!{}]+")
_PYTHON = frozenset({"pip", "pip3", "mypy"})
"""Of the programs that are known to change nothing those that run modules of Python, which a file of an edit may stand for."""
_MAY = "it may change things"
_NOTHING = By("fact", "it is known to change nothing")
_LOOKS = By("fact", "the tool changes nothing")
_PLANNING = (
    "Mode plan changes nothing, and nobody is asked: look around, and say what you would do. "
    "A person leaves it with --permission ask, auto-edit or full."
)
_NOBODY = f"In mode plan nobody is asked. {GO_ON}"


def decide(call: ToolCall, policy: Policy, paths: Paths) -> Decision:
    """Return whether `call` may run."""
    return judge(call, policy, paths).decision


def judge(call: ToolCall, policy: Policy, paths: Paths, form: Form | None = None) -> Judgement:
    """Return the verdict on `call`, with those on its parts. `form` is that of a tool from elsewhere."""
    arguments = call.arguments or {}
    if call.name == "fetch":
        fetched = fetch_verdict(str(arguments.get("url", "")), policy)
        judged = Judgement(fetched, (Part(_shortened(f"fetch {arguments.get('url', '')}"), fetched),))
        return _planned(judged) if policy.mode == "plan" else judged
    if policy.mode == "plan":
        policy = replace(policy, rules=replace(policy.rules, allow=()))
    if call.name == "bash":
        judged = _judge_command(str(arguments.get("command", "")), policy, paths)
    else:
        whole = _edit(call.name, arguments, policy, paths) if call.name in WRITING else _tool(call.name, policy, form)
        if call.name in LOOKING:
            whole = _looked(call.name, arguments, whole, policy, paths)
        judged = Judgement(whole, (Part(_subject(call.name, arguments), whole),))
    return _planned(judged) if policy.mode == "plan" else judged


def _planned(judged: Judgement) -> Judgement:
    """In mode plan nobody is asked."""

    def refused(decision: Decision) -> Decision:
        if not isinstance(decision, Ask):
            return decision
        return Deny(decision.reason, _NOBODY if decision.by_rule else _PLANNING, decision.by)

    parts = tuple(Part(part.what, refused(part.decision)) for part in judged.parts)
    return Judgement(refused(judged.decision), parts)


def _subject(tool: str, arguments: dict[str, Any]) -> str:
    return f"{tool} {arguments.get('path', '')}".strip() if tool in WRITING | LOOKING else tool


def _tool(tool: str, policy: Policy, form: Form | None) -> Decision:
    if denial := _first(policy.rules.deny, tool):
        return denied_by(denial, tool)
    digest = form.digest if form else None
    if asking := _asking_about(tool, policy, digest):
        return asked_by(asking, tool)
    if tool in policy.reading:
        return Allow(_LOOKS)
    if rule := _first(policy.rules.allow, tool, lambda rule: rule.fits_form(digest)):
        return Allow(rule.by)
    if policy.mode == "full":
        return Allow(policy.by_mode)
    if form and (before := _first(policy.rules.allow, tool)):
        return _changed(tool, form, before, policy)
    hint = allowed_with(f'permissions.allow = ["{tool}"]')
    return Ask(f"the tool {tool!r} may change things", hint, policy.by_mode, (tool,))


def _asking_about(tool: str, policy: Policy, digest: str | None) -> Rule | None:
    """The rule of `permissions.ask` about the tool; none if an answer in this session named it."""
    answered = any(rule.answer and rule.tool == tool and rule.fits_form(digest) for rule in policy.rules.allow)
    return None if answered else _first(policy.rules.ask, tool)


def _changed(tool: str, form: Form, before: Rule, policy: Policy) -> Ask:
    """A rule allows the tool in another form than it has now."""
    now = f"{tool}#{form.digest}"
    reason = f"the tool {tool!r} isn't what it was when {before.origin or 'a rule'} allowed it: {form.change_since(before.form)}"
    ways = allowed_with(f'permissions.allow = ["{now}"]')
    return Ask(reason, f"A talk shows the difference and asks. {ways}", policy.by_mode, (now,))


def _edit(tool: str, arguments: dict[str, Any], policy: Policy, paths: Paths) -> Decision:
    text = str(arguments.get("path", ""))
    path = paths.of_tool(text, tool)
    if path is None:
        return Allow(By("fact", "it is no path: the tool says better what is wrong with it"))
    if tool == "edit" and (closed := reading_rule(policy.rules.deny, names_of_tool(text, policy, paths), policy)):
        return Deny(
            f"edit shows lines of {text!r}, and a rule of permissions.deny refuses to read it", GO_ON, closed.by
        )
    return edit_verdict(text, path, policy, paths, tool=tool)


def _looked(tool: str, arguments: dict[str, Any], whole: Decision, policy: Policy, paths: Paths) -> Decision:
    """The verdict on a tool that reads, with rules about the path; `whole` is that of the rules about the tool."""
    text = str(arguments.get("path") or ".")
    names = names_of_tool(text, policy, paths)
    if isinstance(whole, Deny) or not names:
        return whole
    if denial := reading_rule(policy.rules.deny, names, policy):
        return denied_by(denial, f"{tool} {text}")
    asking = reading_rule(policy.rules.ask, names, policy)
    return (asking and look_asked_by(asking, names[0], policy)) or whole


def _read_by(command: Command, policy: Policy, paths: Paths) -> Deny | Ask | None:
    """What rules about reading say of a command; None when nothing."""
    rules = policy.rules
    if not any(rule.tool in LOOKING and rule.argument is not None for rule in (*rules.deny, *rules.ask)):
        return None
    files = list(files_read(command, policy, paths))
    for text, names in files:
        if denial := reading_rule(rules.deny, names, policy):
            return denied_by(denial, f"{_written(command.words[:1])} {text}".strip())
    for _, names in files:
        if (asking := reading_rule(rules.ask, names, policy)) and (ask := look_asked_by(asking, names[0], policy)):
            return ask
    return None


def _judge_command(script: str, policy: Policy, paths: Paths) -> Judgement:
    denials = tuple(rule for rule in policy.rules.deny if rule.is_about("bash"))
    if every := next((rule for rule in denials if rule.argument is None), None):
        return _whole(script, denied_by(every, "bash"))
    if found := _denied_target(script, policy, paths):
        return _whole(script, denied_by(found[1], f"> {found[0]}"))
    asking = Held.by(script, policy, paths)
    looks = any(r.tool in LOOKING and r.argument is not None for r in (*policy.rules.deny, *policy.rules.ask))
    if policy.mode == "full" and not denials and not asking and not looks:
        return _whole(script, Allow(policy.by_mode))
    try:
        commands = parse(script)
        refused = denied(commands, denials) if denials else None
        if refused is not None:
            parts = tuple(_with_denials(script, commands, denials, policy, paths))
            return Judgement(denied_by(refused[1], _written(refused[0])), parts)
        reads = [(command, said) for command in commands if (said := _read_by(command, policy, paths))] if looks else []
        if closed := next(((c, said) for c, said in reads if isinstance(said, Deny)), None):
            return Judgement(closed[1], (Part(_written(closed[0].words), closed[1]),))
        if policy.mode == "full" and not asking and not reads:
            return _whole(script, Allow(policy.by_mode))
        steps = _parts(script, commands, policy, paths, asking)
        held = [_Step(_written(command.words), said) for command, said in reads]
        steps = [step for step in steps if step.what not in {one.what for one in held}] + held
        if policy.mode == "full" and all(isinstance(step.decision, Allow) for step in steps):
            return _whole(script, Allow(policy.by_mode))
        return _combined(steps, policy)
    except Unclear as unclear:
        ways = "Rules of permissions.deny and permissions.ask hold." if policy.mode == "full" else allowed_with(None)
        reason = f"the command can't be judged: {unclear}"
        return _whole(script, Ask(reason, f"Use simpler commands. {ways}", policy.by_mode))


def _with_denials(
    script: str, commands: tuple[Command, ...], denials: tuple[Rule, ...], policy: Policy, paths: Paths
) -> Iterator[Part]:
    """The parts of a script of which a rule denies some."""
    for command in commands:
        if found := denied((command,), denials):
            yield Part(_written(found[0]), denied_by(found[1], _written(found[0])))
        elif policy.mode == "full":
            yield Part(_written(command.words), Allow(policy.by_mode))
        else:
            yield from _steps(command, policy, paths, folders_of(script, commands))


def _whole(script: str, decision: Decision) -> Judgement:
    return Judgement(decision, (Part(_shortened(script.strip()), decision),))


def _denied_target(script: str, policy: Policy, paths: Paths) -> tuple[str, Rule] | None:
    """A redirection is an edit, so what may not be edited may not be redirected to, in any mode."""
    for target in redirect_targets(script) if policy.rules.deny else ():
        if (path := paths.of_shell(target)) and (rule := path_rule(policy.rules.deny, "write", path, policy)):
            return target, rule
    return None


@dataclass(frozen=True, slots=True)
class _Step(Part):
    """A part of a command line: `kind` says what of it."""

    kind: str = "command"


def _combined(steps: list[_Step], policy: Policy) -> Judgement:
    """The verdict on all steps: that of those which may not run, commands first."""
    asks = [(step, step.decision) for step in steps if isinstance(step.decision, Ask)]
    if not asks:
        bys = list(dict.fromkeys(step.decision.by for step in steps))
        return Judgement(Allow(bys[0] if len(bys) == 1 else By("fact", "each part may run")), tuple(steps))
    rules = () if any(not ask.rules for _, ask in asks) else _all_rules(ask for _, ask in asks)
    if held := [ask for _, ask in asks if ask.by_rule]:
        return Judgement(replace(held[0], rules=rules), tuple(steps))
    by_kind = {
        kind: [(step, ask) for step, ask in asks if step.kind == kind] for kind in ("command", "setting", "file")
    }
    first = next(found for found in by_kind.values() if found)
    reason, hint = first[0][1].reason, first[0][1].hint
    if commands := by_kind["command"]:
        odd = dict.fromkeys(ask.reason for _, ask in commands if ask.reason != _MAY)
        why = f": {'; '.join(odd)}" if odd else ""
        reason = f"{', '.join(repr(step.what) for step, _ in commands)} may change things{why}"
        hint = allowed_with(_settings(rules) if rules else None)
    return Judgement(Ask(reason, hint, policy.by_mode, rules), tuple(steps))


def _all_rules(asks: Iterator[Ask]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(rule for ask in asks for rule in ask.rules))


def _settings(rules: tuple[str, ...]) -> str:
    """Rules as a person would write them into settings."""
    words = [rule[len("bash(") : -1] for rule in rules if rule.startswith("bash(")]
    others = [rule for rule in rules if not rule.startswith("bash(")]
    named = (("tools.bash.allow", words), ("permissions.allow", others))
    lists = ((key, ", ".join(f'"{text}"' for text in texts)) for key, texts in named)
    return " and ".join(f"{key} = [{texts}]" for key, texts in lists if texts)


def _parts(script: str, commands: tuple[Command, ...], policy: Policy, paths: Paths, asking: Held) -> list[_Step]:
    moves = any(moves_on(command) for command in commands)
    folders = folders_of(script, commands)
    steps: list[_Step] = []
    for command in commands:
        if held := asking.command(command):
            steps.append(_Step(_written(command.words), held))
            steps += () if policy.mode == "full" else _settings_of(command, policy)
        elif policy.mode == "full":
            steps.append(_Step(_written(command.words), Allow(policy.by_mode)))
        else:
            steps += _steps(command, policy, paths, folders)
        steps += [
            _Step(f"> {target.text}", _write(target, policy, paths, moves=moves), "file")
            for target in command.writes
            if target.text not in _SINKS and policy.mode != "full"
        ]
    judged = {step.what for step in steps if step.kind == "file"}
    steps += [
        _Step(f"> {target}", held, "file") for target, held in asking.targets.items() if f"> {target}" not in judged
    ]
    return steps


def _write(target: Word, policy: Policy, paths: Paths, *, moves: bool) -> Decision:
    if moves and not target.text.startswith("/"):
        reason = f"after cd it is unclear where {target.text} is"
        return Ask(reason, "Redirect to an absolute path.", policy.by_mode)
    path = paths.of_shell(target.text)
    if path is None:
        return Ask(f"{target.text} is no path", allowed_with(None), policy.by_mode)
    return edit_verdict(target.text, path, policy, paths)


def _steps(
    command: Command, policy: Policy, paths: Paths, folders: frozenset[str], *, depth: int = 0
) -> Iterator[_Step]:
    """The command, or those that a wrapper (`timeout`, `sh -c`) runs in its place, and the variables that it sets. `folders`: where it may run."""
    if command.words:
        rule = _first(policy.rules.allow, "bash", lambda rule: rule.fits_command(command.words))
        inner = None if rule or depth == _MAX_DEPTH else _inside(command.words, policy, paths)
        if inner is None:
            yield _Step(_written(command.words), _run(command.words, rule, policy, paths, folders))
        within = folders_of(" ".join(word.text for word in command.words), inner or (), folders)
        for each in inner or ():
            yield from _steps(each, policy, paths, within, depth=depth + 1)
            if each.writes:  # where it would be depends on what runs around it
                yield _Step(f"> {each.writes[0].text}", _ask(policy, "it redirects inside another command"))
    yield from _settings_of(command, policy)


def _settings_of(command: Command, policy: Policy) -> Iterator[_Step]:
    for variable in unsafe_variables(command):
        reason = f"setting {variable} can change what programs do"
        yield _Step(f"{variable}=…", Ask(reason, allowed_with(None), policy.by_mode), "setting")


def _inside(words: tuple[Word, ...], policy: Policy, paths: Paths) -> tuple[Command, ...] | None:
    """The commands that the program runs in its place; None when it is judged itself."""
    if is_read_only(words) or _is_editable_program(words[0].text, policy, paths):
        return None
    return unwrap(Command(words))


def _run(words: tuple[Word, ...], rule: Rule | None, policy: Policy, paths: Paths, folders: frozenset[str]) -> Decision:
    if rule is not None:
        return Allow(rule.by)
    if _is_editable_program(words[0].text, policy, paths):
        return _ask(policy, "it runs a file that an edit could have put there", words)
    if not is_read_only(words):
        return _ask(policy, _MAY, words)
    problem = _git_problem(words, paths, folders)
    return _ask(policy, problem, words) if problem else Allow(_NOTHING)


def _git_problem(words: tuple[Word, ...], paths: Paths, folders: frozenset[str]) -> str:
    """Why a git command that only looks may change things all the same; empty when it doesn't."""
    place = git_folder(words)
    if place is None:
        return ""
    if not folders and not os.path.isabs(place):
        return "after cd it is unclear in which repository git runs, whose settings may name programs"
    for folder in sorted(folders) if folders else [""]:
        if program := paths.git_program(os.path.join(folder, place)):
            return f"the repository's own settings may make git run a program: {program}"
    return ""


def _ask(policy: Policy, reason: str, words: tuple[Word, ...] = ()) -> Ask:
    wanted = offer(words) if words else ""
    rules = (f"bash({wanted})",) if wanted else ()
    return Ask(reason, allowed_with(_settings(rules) if rules else None), policy.by_mode, rules)


def _is_editable_program(name: str, policy: Policy, paths: Paths) -> bool:
    """Whether what may be in the project, or is edited unasked, decides what the command does: `.venv/bin/pip`, a module in PYTHONPATH, a version that `.tool-versions` names.

    In the narrower modes no less than in `auto-edit`: nobody is asked about a file that the project brings.
    """
    path = paths.of_program(name)
    wide = replace(policy, mode="auto-edit") if policy.mode in ("ask", "plan") else policy
    if os.path.basename(name) in _PYTHON:
        modules = (os.path.join(folder, "sitecustomize.py") for folder in paths.python_path())
        if any(is_edited_unasked(module, wide, paths) for module in modules):
            return True
    if path is None or path.startswith(SYSTEM_FOLDERS):
        return False
    return is_edited_unasked(path, wide, paths) or paths.has_version_by_path(name)


def _first(
    rules: tuple[Rule, ...], tool: str, fits: Callable[[Rule], bool] = lambda rule: rule.argument is None
) -> Rule | None:
    return next((rule for rule in rules if rule.is_about(tool) and fits(rule)), None)


def _written(words: tuple[Word, ...]) -> str:
    return _shortened(" ".join(_quoted(word) for word in words))


def _quoted(word: Word) -> str:
    """The word with quotes where its value, which is known, would fall apart without."""
    if not word.known or _BARE.fullmatch(word.text):
        return word.text
    return "'" + word.text.replace("'", "'\\''") + "'"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
