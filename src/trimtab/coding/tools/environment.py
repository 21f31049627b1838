"""The environment of every command a tool starts: nothing may ask, open an editor or page, and no key leaks.

A command has no terminal and no standard input, so whatever waits for a person would wait for ever. Each variable below
turns one kind of waiting into an immediate end. Pure functions of a mapping; who calls them reads the real environment.
"""

import shlex
from collections.abc import Collection, Mapping
from fnmatch import fnmatchcase

SECRET_NAMES = ("*_API_KEY", "*_TOKEN", "*_SECRET*")
"""Names that are removed from every tool's environment, whatever the case."""

_NO_EDITOR = "sh -c " + shlex.quote(
    'echo "No editor here: give the text as an argument (git commit -m TEXT), '
    'or set GIT_EDITOR=true to take the proposed text." >&2; exit 1'
)
_SET = {
    "EDITOR": _NO_EDITOR,
    "VISUAL": _NO_EDITOR,
    "GIT_EDITOR": _NO_EDITOR,
    "GIT_SEQUENCE_EDITOR": _NO_EDITOR,
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",  # a look at the status then rewrites no index and runs no hook
    "GCM_INTERACTIVE": "never",
    "GIT_PAGER": "cat",
    "PAGER": "cat",
    "MANPAGER": "cat",
    "SYSTEMD_PAGER": "cat",
    "DEBIAN_FRONTEND": "noninteractive",
    "PIP_NO_INPUT": "1",
    "npm_config_yes": "true",
    "SSH_ASKPASS_REQUIRE": "never",
    "TERM": "dumb",
}
_GIT_CONFIG = {
    "safe.bareRepository": "explicit",
    "core.fsmonitor": "false",
    "diff.autoRefreshIndex": "false",  # the same for a diff, which heeds no GIT_OPTIONAL_LOCKS
}
_UNSET = frozenset({"SSH_ASKPASS", "SUDO_ASKPASS", "GIT_ASKPASS", "FORCE_COLOR", "CLICOLOR_FORCE"})


def removed_names(
    given: Mapping[str, str], *, key_names: Collection[str] = (), passed: Collection[str] = ()
) -> tuple[str, ...]:
    """Return the sorted names of `given` that commands don't get: `key_names` and whatever looks like a secret.

    `passed` (setting `tools.bash.env_pass`) gives names back.
    """
    return tuple(sorted(n for n in given if n not in passed and (n in key_names or _looks_secret(n))))


def command_environment(
    given: Mapping[str, str], *, key_names: Collection[str] = (), passed: Collection[str] = ()
) -> dict[str, str]:
    """Return the environment for commands: `given` without secrets and prompts, with everything set to not ask."""
    removed = {*removed_names(given, key_names=key_names, passed=passed), *_UNSET}
    kept = {name: value for name, value in given.items() if name not in removed}
    ssh = f"{kept.get('GIT_SSH_COMMAND', 'ssh')} -oBatchMode=yes"
    return kept | _SET | {"GIT_SSH_COMMAND": ssh} | _git_settings(kept)


def _looks_secret(name: str) -> bool:
    return any(fnmatchcase(name.upper(), pattern) for pattern in SECRET_NAMES)


def _git_settings(kept: Mapping[str, str]) -> dict[str, str]:
    """What git does in any repository: take no folder that merely looks like a bare one for one, start no file watcher it names, write no index for a look."""
    count = kept.get("GIT_CONFIG_COUNT", "0")
    n = int(count) if count.isdecimal() else 0
    variables = {"GIT_CONFIG_COUNT": str(n + len(_GIT_CONFIG))}
    for number, (key, value) in enumerate(_GIT_CONFIG.items(), start=n):
        variables |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    return variables
