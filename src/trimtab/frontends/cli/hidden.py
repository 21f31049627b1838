"""Typing without being shown: the terminal's echo is off for as long as a secret is asked for."""

import termios
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def unshown(fd: int) -> Iterator[None]:
    """Turn off the echo of the terminal `fd`, and what was typed ahead away; the end of a line still shows. All is as before afterwards."""
    before = termios.tcgetattr(fd)
    quiet = termios.tcgetattr(fd)
    quiet[3] = (quiet[3] & ~termios.ECHO) | termios.ECHONL | termios.ICANON
    try:
        termios.tcsetattr(fd, termios.TCSAFLUSH, quiet)
        yield
    finally:
        with suppress(termios.error):  # a terminal that was hung up
            termios.tcsetattr(fd, termios.TCSADRAIN, before)
