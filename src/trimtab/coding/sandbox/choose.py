"""Which backend there is: the first that works on this machine, or a reason why none does.

settings.sandbox + Confinement ──▶ Landlock with mounts, else bubblewrap, else Landlock alone; on macOS seatbelt ──▶ Choice
"""

import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

from trimtab.coding.sandbox.bubblewrap import Bubblewrap
from trimtab.coding.sandbox.bubblewrap import why_not as why_no_bubblewrap
from trimtab.coding.sandbox.landlock import NEEDED_FOR_TCP, Facts, Landlock, ask_system
from trimtab.coding.sandbox.plan import Confinement
from trimtab.coding.sandbox.sandbox import Sandbox
from trimtab.coding.sandbox.seatbelt import Seatbelt
from trimtab.coding.sandbox.seatbelt import why_not as why_no_seatbelt
from trimtab.config.settings import SandboxSettings


@dataclass(frozen=True, slots=True)
class Machine:
    """What is asked of the machine; tests give another one."""

    platform: str = sys.platform
    ask_linux: Callable[[], Facts] = ask_system
    find: Callable[[str], str | None] = field(default=shutil.which)
    why_no_bubblewrap: Callable[[str], str] = why_no_bubblewrap
    why_no_seatbelt: Callable[[str], str] = why_no_seatbelt


@dataclass(frozen=True, slots=True)
class Choice:
    """The sandbox, or None and `why`."""

    sandbox: Sandbox | None
    why: str = ""


def choose(settings: SandboxSettings, plan: Confinement, machine: Machine | None = None) -> Choice:
    """Find a backend that works. Starts programs to try them: not for the event loop."""
    machine = machine or Machine()
    if settings.mode == "off":
        return Choice(None, "sandbox.mode is off")
    if machine.platform == "darwin":
        return _seatbelt(settings, plan, machine)
    if machine.platform != "linux":
        return Choice(None, f"there is none for {machine.platform}")
    if settings.backend == "seatbelt":
        return Choice(None, "seatbelt is macOS's own")
    return _on_linux(settings, plan, machine)


def _on_linux(settings: SandboxSettings, plan: Confinement, machine: Machine) -> Choice:
    wanted = settings.backend
    facts = machine.ask_linux() if wanted != "bubblewrap" else Facts()
    landlock = Choice(Landlock(plan, facts)) if facts.abi else Choice(None, _no_landlock(facts))
    if landlock.sandbox and not plan.network and facts.no_network and facts.abi < NEEDED_FOR_TCP:
        landlock = Choice(None, f"Landlock's version {facts.abi} can't close the network")
    if wanted == "landlock" or (wanted == "auto" and landlock.sandbox and not facts.no_mounts):
        return landlock
    bubblewrap = _bubblewrap(plan, machine)
    if wanted == "bubblewrap" or bubblewrap.sandbox:
        return bubblewrap
    return landlock if landlock.sandbox else Choice(None, f"{landlock.why}, and {bubblewrap.why}")


def _no_landlock(facts: Facts) -> str:
    return f"Landlock doesn't work here: {facts.no_landlock}" if facts.no_landlock else "this kernel has no Landlock"


def _bubblewrap(plan: Confinement, machine: Machine) -> Choice:
    program = machine.find("bwrap")
    if program is None:
        return Choice(None, "bubblewrap (bwrap) isn't installed")
    why = machine.why_no_bubblewrap(program)
    return Choice(None, f"bubblewrap doesn't work here: {why}") if why else Choice(Bubblewrap(plan, program))


def _seatbelt(settings: SandboxSettings, plan: Confinement, machine: Machine) -> Choice:
    if settings.backend not in ("auto", "seatbelt"):
        return Choice(None, f"{settings.backend} is Linux's own")
    program = machine.find("sandbox-exec")
    if program is None:
        return Choice(None, "sandbox-exec isn't there")
    why = machine.why_no_seatbelt(program)
    return Choice(None, f"sandbox-exec doesn't work here: {why}") if why else Choice(Seatbelt(plan, program))
