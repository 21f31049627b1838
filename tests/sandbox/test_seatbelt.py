"""The profile that macOS gets, as text."""

from pathlib import Path

from trimtab.coding.sandbox.plan import Confinement, Place, by_depth
from trimtab.coding.sandbox.seatbelt import Seatbelt, profile

PLAN = Confinement(
    by_depth((Place("write", "/p"), Place("read", "/p/.git/hooks"), Place("close", "/run/d.sock"))),
    missing=("/p/.trimtab",),
)


def test_the_deeper_rule_comes_later() -> None:
    lines = profile(PLAN).splitlines()
    assert lines[:3] == ["(version 1)", "(allow default)", "(deny file-write*)"]
    assert lines[-7:] == [
        '(allow file-write* (subpath "/p"))',
        '(allow file-write* (subpath "/p/.git"))',
        '(deny network-outbound (literal "/run/d.sock"))',
        '(deny file-read-data (literal "/run/d.sock"))',
        '(deny file-write* (subpath "/p/.git/hooks"))',
        '(deny file-write* (subpath "/p/.trimtab"))',
        '(deny file-write-unlink (literal "/p/.git"))',
    ]


def test_without_a_network_sockets_with_a_path_are_left_but_for_the_closed_ones() -> None:
    closed = Confinement(PLAN.places, network=False)
    assert profile(closed).splitlines()[-4:] == [
        "(deny network*)",
        "(allow network* (remote unix-socket))",
        "(allow network* (local unix-socket))",
        '(deny network-outbound (literal "/run/d.sock"))',
    ]


def test_a_name_can_not_end_its_quotes() -> None:
    assert r'(subpath "/p\"))(allow default)\\")' in profile(Confinement((Place("write", '/p"))(allow default)\\'),)))


def test_the_command_stands_behind_the_profile() -> None:
    argv, environment = Seatbelt(PLAN, "/usr/bin/sandbox-exec").wrap(("/bin/sh", "-c", "true"), {"A": "b"}, Path("/p"))
    assert argv == ("/usr/bin/sandbox-exec", "-p", profile(PLAN), "/bin/sh", "-c", "true")
    assert environment == {"A": "b"}
