"""The example that trains with TRL, where TRL isn't installed."""

import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import SOURCES

EXAMPLE = Path(__file__).parents[3] / "examples" / "training" / "train_trl.py"


@pytest.mark.parametrize("missing", ["torch", "trl"])
def test_what_is_missing_is_told_with_what_to_install(missing):
    there = "" if missing == "torch" else "class Any(type(sys)): __getattr__ = lambda self, name: object\n"
    there += "".join(
        f"sys.modules[{name!r}] = Any({name!r})\n"
        for name in ("torch", "torch.utils", "torch.utils.data", "datasets", "transformers")
        if there
    )
    code = f"import runpy, sys\n{there}sys.modules[{missing!r}] = None\nrunpy.run_path({str(EXAMPLE)!r}, run_name='__main__')"
    ran = subprocess.run(
        [sys.executable, "-c", code], env={"PYTHONPATH": SOURCES}, capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr.splitlines() == [
        f"training with TRL needs {missing}, which isn't installed",
        "  pip install trl==1.16.0 transformers",
    ]
