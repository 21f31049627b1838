"""What `trimtab.agent` promises to others."""

import subprocess
import sys

import trimtab.agent


def test_the_door_is_small_and_every_name_is_there():
    names = trimtab.agent.__all__
    assert names == sorted(names)
    assert len(names) <= 25
    assert all(hasattr(trimtab.agent, name) for name in names)


def test_the_agent_loads_no_provider_no_screen_and_no_http():
    code = (
        "import sys, trimtab.agent; "
        "print([m for m in sys.modules if m.split('.')[0] in ('httpx', 'httpx2', 'click', 'rich', 'trio') "
        "or m.startswith(('trimtab.providers', 'trimtab.context', 'trimtab.coding', 'trimtab.frontends'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
