"""Where a file may be written: the verdict on one real path.

    denied, or held for a person, by a rule? ─▶ mode full? ─▶ allowed by a rule? ─▶ mode ask, plan ─▶ outside the project, or by a second name (hard link), or a place whose files make programs run ─▶ allowed

Some places are kept apart wherever they are: folders of git's own, Trimtab's settings and those of other agents, and the dot files of a home folder. A rule opens
one of them only if it is the person's own and names it: `write(**)` never does.
"""

import os.path
from dataclasses import dataclass, replace

from trimtab.coding.permissions.policy import Paths, Policy
from trimtab.coding.permissions.rules import Rule, Rules
from trimtab.coding.permissions.verdicts import Allow, Ask, Decision, Deny

PROTECTED = frozenset({".git", ".husky", ".trimtab", ".agents", ".claude"})
"""Folders whose files can make programs run, or tell an agent what to do: not edited without a person, wherever they are."""
PROTECTED_FILES = frozenset({".mcp.json", ".envrc"})
"""Files that name programs which a person's tools start with no further question (MCP clients, direnv), wherever they are."""
GO_ON = "Go on without it, or say what you need."
_MOST_LINKS = 40
"""Links that a system follows before it gives a path up."""
_RUNS = "whose files can make programs run"


@dataclass(frozen=True, slots=True)
class _Place:
    """A file or folder that is kept apart, and why in words."""

    path: str
    why: str


def edit_verdict(
    text: str, path: str, policy: Policy, paths: Paths, *, tool: str = "write", mind_names: bool = True
) -> Decision:
    """Return whether the real path `path`, written `text`, may be edited; `mind_names`: only if it has no other names."""
    if denial := path_rule(policy.rules.deny, tool, path, policy):
        return denied_by(denial, f"{tool} {text}")
    if asking := asking_about(path, policy, tool=tool):
        return asked_by(asking, _rule_for(path) if _kept_apart(path, policy, paths) is None else "")
    if policy.mode == "full":
        return Allow(policy.by_mode)
    place = _kept_apart(path, policy, paths)
    rule = path_rule(policy.rules.allow, "write", path, policy, place=place)
    if rule is not None:
        return Allow(rule.by)
    problem = _problem(path, policy, place)
    if not problem and mind_names and paths.has_other_names(path):
        problem = "has other names too (hard links), which may be outside the project"
    if not problem:
        return Allow(policy.by_mode)
    wanted = _rule_for(path)
    hint = allowed_with(f'permissions.allow = ["{wanted}"]' if wanted else None)
    return Ask(f"{text} {problem}", hint, policy.by_mode, (wanted,) if wanted and place is None else ())


def is_edited_unasked(path: str, policy: Policy, paths: Paths) -> bool:
    """Whether an edit of the real path would need nobody, had it no other name and were no rule to deny it or ask about it: the project may bring the file."""
    free = replace(policy, rules=Rules(policy.rules.allow))
    return isinstance(edit_verdict("", path, free, paths, mind_names=False), Allow)


def asking_about(path: str, policy: Policy, *, tool: str = "write") -> Rule | None:
    """The rule of `permissions.ask` that holds an edit of the real path for a person; none if an answer in this session named just this file."""
    answered = any(rule.answer and rule.is_about(tool) and rule.argument == path for rule in policy.rules.allow)
    return None if answered else path_rule(policy.rules.ask, tool, path, policy)


def path_rule(
    rules: tuple[Rule, ...], tool: str, path: str, policy: Policy, *, place: _Place | None = None
) -> Rule | None:
    """The first of `rules` for `tool` that fits the real path; of an allowance for what is kept apart, one that may open it."""
    for rule in rules:
        if not rule.is_about(tool) or not rule.fits_path(path, project=policy.project, home=policy.home):
            continue
        if place is None or _opens(rule, place, policy):
            return rule
    return None


def denied_by(rule: Rule, what: str) -> Deny:
    """The refusal that a rule of denial means."""
    return Deny(f"a rule of permissions.deny refuses {what!r}", GO_ON, rule.by)


def look_asked_by(rule: Rule, path: str, policy: Policy) -> Ask | None:
    """The question that a rule about reading means for the real path; None if an answer in this session named just this file."""
    wanted = _rule_for(path).replace("write(", "read(", 1)
    answered = any(one.answer and one.text == wanted for one in policy.rules.allow)
    return None if answered else asked_by(rule, wanted)


def asked_by(rule: Rule, wanted: str = "") -> Ask:
    """The question that a rule of `permissions.ask` means, in every mode. `wanted` is the rule that a person's answer would be, for the session."""
    place = f" ({rule.origin})" if rule.origin else ""
    lifts = "No rule of permissions.allow lifts that, and no mode; a person is asked in a talk, or takes that rule out"
    reason = f"the rule {rule.text} of permissions.ask wants a person's yes"
    return Ask(reason, f"{lifts}{place}. {GO_ON}", rule.by, (wanted,) if wanted else ())


def allowed_with(setting: str | None) -> str:
    """What is told where nobody is asked. `setting` would allow the call; None: only a wider mode does."""
    ways = f"--permission full, or the setting {setting}" if setting else "--permission full"
    return f"It isn't asked about in this mode; a person allows it with {ways}. {GO_ON}"


def real_path(path: str) -> str:
    """Return `path` with its links resolved, but those in `/proc`, which lead each process somewhere else: they stay as they are written."""
    found, rest, links = "/", path.split("/")[::-1], 0
    while rest:
        part = rest.pop()
        if part in ("", ".", ".."):
            found = os.path.dirname(found) if part == ".." else found
            continue
        found = os.path.join(found, part)
        if found.startswith("/proc/"):
            return os.path.join(found, *rest[::-1])
        if os.path.islink(found) and (links := links + 1) <= _MOST_LINKS:
            target = os.readlink(found)
            rest += target.split("/")[::-1]
            found = "/" if target.startswith("/") else os.path.dirname(found)
    return found


def _problem(path: str, policy: Policy, place: _Place | None) -> str:
    """Why the real path isn't edited unasked; empty when it is."""
    inside = _is_in(path, policy.project)
    if place is not None:
        return place.why if inside else f"is outside the project and {place.why}"
    if policy.mode in ("ask", "plan"):
        where = "" if inside else "is outside the project, and "
        return f"{where}is not edited in mode {policy.mode}"
    if not inside:
        return "is outside the project"
    if policy.project == "/" or _is_in(policy.home, policy.project):
        return f"is in {policy.project}, which is too wide for a project: the whole home folder is in it"
    return ""


def _kept_apart(path: str, policy: Policy, paths: Paths) -> _Place | None:
    for folder in policy.own:
        if path == folder or _is_in(path, folder):
            return _Place(folder, "is among Trimtab's own settings and sessions")
    if top := _personal(path, policy):
        return _Place(top, "is among the person's own settings, which can make programs run")
    base = policy.project if _is_in(path, policy.project) else ""
    at = len(base)
    for part in path[len(base) :].split("/"):
        at += len(part)
        if part.casefold() in PROTECTED:
            return _Place(path[:at], f"is in {part.casefold()}, {_RUNS}")
        at += 1
    name = os.path.basename(path).casefold()
    if name in PROTECTED_FILES:
        return _Place(path, f"is {name}, which can make programs run")
    if paths.is_in_git_folder(path):
        return _Place(path, f"is in a folder of git's own, {_RUNS}")
    return None


def _personal(path: str, policy: Policy) -> str:
    """The dot file or folder of the home folder that the path is or is in (`~/.bashrc`), unless the project is in there; else empty."""
    home = policy.home.rstrip("/")
    if not _is_in(path, policy.home) or not home:
        return ""
    top = f"{home}/{path[len(home) + 1 :].partition('/')[0]}"
    is_dotted = os.path.basename(top).startswith(".")
    return top if is_dotted and top != policy.project and not _is_in(policy.project, top) else ""


def _opens(rule: Rule, place: _Place, policy: Policy) -> bool:
    """Whether a rule that fits may open what is kept apart: a person's own one that names the place or something in it."""
    if rule.of_project or rule.argument is None:
        return False
    named, kept = rule.literal_path(project=policy.project, home=policy.home).casefold(), place.path.casefold()
    return named == kept or _is_in(named, kept)


def _is_in(path: str, folder: str) -> bool:
    return path.startswith(folder.rstrip("/") + "/")


def _rule_for(path: str) -> str:
    """The rule for this file alone; empty when a rule can't say its name."""
    plain = all(c.isalnum() or c in " @%+=:,./_-~#" for c in path)
    return f"write({path})" if plain and path == path.strip() else ""
