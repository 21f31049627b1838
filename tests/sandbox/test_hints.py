"""When a failed command's output makes the sandbox a likely reason."""

import pytest

from trimtab.coding.sandbox.hints import denial_line


@pytest.mark.parametrize(
    ("printed", "network", "setting"),
    [
        ("touch: cannot touch '/etc/x': Read-only file system", True, "sandbox.write"),
        ("sh: 1: cannot create /x: Permission denied", True, "sandbox.write"),
        ("error: could not write config file .git/config: Device or resource busy", True, "sandbox.write"),
        ("Error: EROFS: read-only file system, open '/x'", True, "sandbox.write"),
        ("curl: (6) Could not resolve host: example.org", False, "sandbox.network"),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.", True, "sandbox.sockets"),
        ("curl: (6) Could not resolve host: example.org", True, ""),
        ("1 failed, 3 passed", False, ""),
        ("", True, ""),
    ],
)
def test_the_line_names_the_setting(printed: str, network: bool, setting: str) -> None:
    line = denial_line(printed, network=network)
    assert (setting in line and "\n" not in line) if setting else line == ""
