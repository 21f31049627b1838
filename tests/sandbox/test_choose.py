"""Which backend a machine gets, and what is said when it gets none."""

from dataclasses import replace

import pytest

from trimtab.coding.sandbox.choose import Machine, choose
from trimtab.coding.sandbox.landlock import Facts, read_facts
from trimtab.coding.sandbox.plan import Confinement
from trimtab.config.settings import SandboxBackend, SandboxSettings

ALL = Machine("linux", lambda: Facts(7), lambda name: f"/bin/{name}", lambda _: "", lambda _: "")
NO_MOUNTS = replace(ALL, ask_linux=lambda: Facts(7, "refused", "refused"))
NOTHING = replace(ALL, ask_linux=Facts, find=lambda _: None)


def chosen(machine: Machine, backend: SandboxBackend = "auto", *, network: bool = True) -> str:
    choice = choose(SandboxSettings(backend=backend), Confinement(network=network), machine)
    return choice.sandbox.describe().name if choice.sandbox else f"none: {choice.why}"


def test_the_best_that_works_is_taken() -> None:
    assert chosen(ALL) == "landlock (ABI 7) with a mount namespace"
    assert chosen(NO_MOUNTS) == "bubblewrap (/bin/bwrap)"
    assert chosen(replace(NO_MOUNTS, why_no_bubblewrap=lambda _: "refused")) == "landlock (ABI 7)"
    assert chosen(replace(ALL, platform="darwin")) == "seatbelt"


def test_a_backend_by_name_is_that_or_none() -> None:
    assert chosen(ALL, "bubblewrap") == "bubblewrap (/bin/bwrap)"
    assert chosen(NO_MOUNTS, "landlock") == "landlock (ABI 7)"
    assert chosen(NOTHING, "bubblewrap") == "none: bubblewrap (bwrap) isn't installed"
    assert chosen(NOTHING, "landlock") == "none: this kernel has no Landlock"
    assert chosen(ALL, "seatbelt") == "none: seatbelt is macOS's own"
    assert chosen(replace(ALL, platform="darwin"), "landlock") == "none: landlock is Linux's own"


def test_none_says_why() -> None:
    assert chosen(NOTHING) == "none: this kernel has no Landlock, and bubblewrap (bwrap) isn't installed"
    assert chosen(replace(ALL, platform="win32")) == "none: there is none for win32"
    assert chosen(replace(NOTHING, platform="darwin")) == "none: sandbox-exec isn't there"
    refusing = replace(NOTHING, ask_linux=lambda: Facts(0, "", "", "landlock: Operation not supported"))
    assert chosen(refusing, "landlock") == "none: Landlock doesn't work here: landlock: Operation not supported"
    off = choose(SandboxSettings(mode="off"), Confinement(), ALL)
    assert (off.sandbox, off.why) == (None, "sandbox.mode is off")


@pytest.mark.parametrize(
    ("abi", "found"), [(3, "none: Landlock's version 3 can't close the network"), (4, "landlock (ABI 4)")]
)
def test_a_network_that_can_not_be_closed_is_no_sandbox(abi: int, found: str) -> None:
    machine = replace(ALL, ask_linux=lambda: Facts(abi, "refused", "refused"))
    assert chosen(machine, "landlock", network=False) == found


@pytest.mark.parametrize(
    ("printed", "facts"),
    [
        (
            "landlock=7\nmounts=yes\nnetns=no: a user namespace: Operation not permitted\n",
            Facts(7, "", "a user namespace: Operation not permitted"),
        ),
        (
            "landlock=no: landlock: Function not implemented\nmounts=no\n",
            Facts(0, "refused", "it could not be tried", "landlock: Function not implemented"),
        ),
        ("", Facts(0, *("it could not be tried",) * 3)),
        ("Traceback\n\x1b[2J=\nlandlock=-1\n", Facts(0, "it could not be tried", "it could not be tried", "refused")),
    ],
)
def test_what_a_probe_prints_is_read_whatever_it_is(printed: str, facts: Facts) -> None:
    assert read_facts(printed) == facts


def test_what_an_old_kernel_can_not_hold_is_said() -> None:
    choice = choose(
        SandboxSettings(backend="landlock"),
        Confinement(),
        replace(ALL, ask_linux=lambda: Facts(1, "refused", "refused")),
    )
    assert choice.sandbox is not None
    said = " ".join(choice.sandbox.describe().gaps)
    for gap in ("no mount namespace (refused)", "can be emptied", "abstract sockets", "devices", "modes", "signals"):
        assert gap in said
