"""Whether the sandbox may be why a command failed: the kernel only says "Permission denied", which could have many reasons. Pure."""

_FILES = ("Permission denied", "Read-only file system", "EROFS", "EACCES", "Operation not permitted", "EPERM")
_KEPT = ("Device or resource busy", "EBUSY", "Invalid cross-device link", "EXDEV")
_NETWORK = ("Network is unreachable", "ENETUNREACH", "Could not resolve", "name resolution", "EAI_AGAIN", "ENOTFOUND")
_SOCKETS = ("Cannot connect to the Docker daemon", "Failed to connect to bus", "error connecting to")


def denial_line(printed: str, *, network: bool) -> str:
    """Return one line that names the setting, or nothing. `network`: whether commands have one."""
    if any(sign in printed for sign in (*_FILES, *_KEPT)):
        return (
            "[the sandbox may be why: commands write only in the project, temp and caches, and not in .trimtab, .git/hooks or .git/config; "
            'a person allows more with the setting sandbox.write = ["PATH"]]'
        )
    if not network and any(sign in printed for sign in _NETWORK):
        return "[the sandbox may be why: sandbox.network is off]"
    if any(sign in printed for sign in _SOCKETS):
        return '[the sandbox may be why: it closes sockets of docker, D-Bus, tmux; a person opens one with sandbox.sockets = ["PATH"]]'
    return ""
