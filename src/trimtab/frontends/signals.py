"""The signals that ask a program to end, and what becomes of its output when its terminal was closed.

    SIGINT, SIGTERM, SIGHUP ──heeded?──▶ whoever waits for them, an exit code each
    the terminal is gone ──▶ what is still said goes nowhere, so that tidying up fails at no line

The one rule: a hang-up that was shut out when the program began stays so: `nohup` says that the terminal's end doesn't concern it.
"""

import os
import signal
import stat
from contextlib import suppress

CODES = {signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
"""Signal to exit code."""


def heeded() -> tuple[signal.Signals, ...]:
    """Those of `CODES` that this program is to hear."""
    return tuple(one for one in CODES if one != signal.SIGHUP or signal.getsignal(one) is not signal.SIG_IGN)


def let_go_of_terminal() -> None:
    """Let what is said on a terminal that is gone lead nowhere; one that is still there keeps it."""
    for fd in (1, 2):
        with suppress(OSError):
            if stat.S_ISCHR(os.fstat(fd).st_mode) and not os.isatty(fd):
                nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
                os.dup2(nowhere, fd)
                os.close(nowhere)
