"""Whether a script only reads, but for what it redirects: what need not be looked at for changes."""

from trimtab.coding.permissions.commands import is_read_only, unsafe_variables, unwrap
from trimtab.coding.permissions.shell import Command, Unclear, parse

_DEPTH = 20


def reads_only(script: str) -> bool:
    """Tell whether every command of `script` is known to change nothing but the files that it redirects into; False for what can't be read with certainty."""
    try:
        return all(_reads(command, _DEPTH) for command in parse(script))
    except Unclear:
        return False


def _reads(command: Command, depth: int) -> bool:
    if unsafe_variables(command):
        return False
    if not command.words or is_read_only(command.words):
        return True
    inner = unwrap(command) if depth else None
    return inner is not None and all(_reads(one, depth - 1) and not one.writes for one in inner)
