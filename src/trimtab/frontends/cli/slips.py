"""Slips of the hand on the command line: words that were meant as a command must not become a prompt that costs money.

A quoted sentence is always a prompt. Unquoted words are taken for a slip only when the first one nearly is a command and the rest looks
like what follows one: nothing, one word, an option, or a command's own subcommand.
"""

from collections.abc import Iterable, Mapping, Sequence

from trimtab.types.errors import UsageError
from trimtab.types.near import nearest

SUBCOMMANDS: Mapping[str, tuple[str, ...]] = {
    "config": ("show", "get", "set", "unset", "path", "schema", "check"),
    "context": ("show", "log", "explain", "blame", "restore", "pin", "unpin", "revert", "bisect"),
    "extensions": ("list", "add", "update", "remove"),
    "jobs": ("list", "tail", "wait", "kill"),
    "mcp": ("list", "add", "remove", "tools", "call", "login", "logout", "allow"),
    "permissions": ("list", "why"),
    "sessions": ("list", "show", "search", "export", "import", "name", "archive", "unarchive", "doctor", "rm"),
    "trust": ("list", "show", "set", "forget"),
    "completion": ("bash", "zsh", "fish"),
}
_ABSENT: Mapping[str, str] = {
    "init": "Nothing needs to be set up; trimtab doctor says what is missing.",
    "auth": "trimtab login keeps a key or logs in; trimtab login --list says what lets you in.",
    "version": "trimtab --version prints it.",
    "setup": "Nothing needs to be set up; trimtab login keeps a key, and trimtab doctor says what is missing.",
    "providers": "trimtab models lists them, and trimtab login --list says which let you in.",
    "skills": "/skills in trimtab chat lists them.",
    "resume": "trimtab --continue goes on with the last session, --resume ID with another.",
    "export": "trimtab sessions export SESSION FILE writes one down.",
    "install": "trimtab extensions add SOURCE adds one; Trimtab itself is installed by pip or uv.",
    "update": "Trimtab is updated by what installed it (pip, uv); trimtab extensions update is for extensions.",
    "upgrade": "Trimtab is updated by what installed it (pip, uv); trimtab extensions update is for extensions.",
}
"""Commands of other programs that people try, and what does their job here."""
_OF_ABSENT = frozenset({"last", "get", "set", "list", "show", "edit", "path"})

_ALIKE: Mapping[str, str] = {
    "find": "search",
    "grep": "search",
    "ls": "list",
    "cat": "show",
    "delete": "rm",
    "remove": "rm",
    "del": "rm",
}
"""Words of other programs for what some subcommands do."""


FOREIGN: Mapping[str, str] = {
    "--thinking": "The level of thinking is part of the model's name: --model PROVIDER/MODEL:LEVEL.",
    "-t": "The level of thinking is part of the model's name: --model PROVIDER/MODEL:LEVEL.",
    "-m": "--model PROVIDER/MODEL chooses the model.",
    "--session-id": "--session FILE names the file of a new session; --resume ID goes on with one.",
    "--new-session": "A run begins a new session unless --continue or --resume is given.",
    "-a": "--trust once lets this project's own settings act in this run.",
    "--approve": "--trust once lets this project's own settings act in this run.",
    "--no-approve": "--trust never, or --safe, leaves this project's own settings out.",
    "--project-extensions": "--trust once lets a project act; its code is asked about, and kept, by /trust in trimtab chat.",
    "--auto-compact-threshold": "--set context.soft_tokens=N sets where the context is first worked on.",
    "-v": "--version prints the version.",
    "-V": "--version prints the version.",
    "--models": "trimtab models lists them.",
    "--list-models": "trimtab models lists them.",
    "--export": "trimtab sessions export SESSION FILE writes one down.",
    "--prompt": "-p TEXT is a prompt.",
    "-o": "--mode json writes events, one a line; --mode transcript all that was said.",
    "--output": "--mode json writes events, one a line; --mode transcript all that was said.",
    "--base-url": "--set providers.NAME.base_url=URL says where a server is.",
    "--api-key": "trimtab login PROVIDER keeps a key, unseen by other programs.",
    "--api-key-env": "--set providers.NAME.api_key_env=VARIABLE says which variable holds the key.",
    "--no-skills": "--set instructions.enabled=false leaves out skills, prompt templates and AGENTS.md.",
    "--max-retries": "--set providers.NAME.max_retries=N says how often a request is sent again.",
    "--timeout-seconds": "--set providers.NAME.idle_timeout_s=N says how long a stream may be silent.",
    "--max-turns": "--max-steps N bounds the requests of a run.",
    "--output-format": "--mode json writes events, one a line.",
    "--permission-mode": "--permission ask|auto-edit|full|plan says what may run unasked.",
    "--dangerously-skip-permissions": "--permission full lets everything run unasked.",
    "--yolo": "--permission full lets everything run unasked.",
    "--full-auto": "--permission full lets everything run unasked.",
    "--allowedTools": "--tools A,B leaves only these tools on; permissions.allow has rules for what may run unasked.",
}
"""Options of other programs for what ours do."""


def meant_by(word: str, names: Iterable[str]) -> str:
    """The subcommand among `names` that `word` probably means; empty when none is near."""
    names = tuple(names)
    alike = _ALIKE.get(word.lower(), "")
    return alike if alike in names else nearest(word.lower(), names) or ""


def refuse_slip(words: Sequence[str], commands: Iterable[str]) -> None:
    """Raise `UsageError` when `words` were hardly meant as a prompt."""
    if not words or not words[0].isalpha():
        return
    word, rest = words[0].lower(), words[1:]
    as_prompt = f"To ask that, write: trimtab -p {' '.join(words)}"
    if word in _ABSENT and (not rest or rest[0] in _OF_ABSENT):
        raise UsageError(f"there is no command {words[0]!r}", hint=f"{_ABSENT[word]} {as_prompt}")
    meant = nearest(word, commands)
    if meant and (len(rest) < 2 or rest[0].startswith("-") or rest[0] in SUBCOMMANDS.get(meant, ())):
        if meant == word:
            raise UsageError(f"the options of a command go behind it: trimtab {word} --option …", hint=as_prompt)
        whole = " ".join((meant, *rest))
        raise UsageError(f"there is no command {words[0]!r}; did you mean: trimtab {whole}", hint=as_prompt)
