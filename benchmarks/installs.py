"""Fresh installs to measure: Trimtab from this checkout, and tau from the package index where it can be had.

Trimtab's environment holds no pip, so its size is what a person gets. Tau needs Python 3.12 or newer: one named by `TAU_PYTHON`, on the PATH,
or under pyenv. Its environment is kept between runs. Nothing that is installed here can see the caller's home or keys.
"""

import glob
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from benchmarks.measure import spend

REPO = Path(__file__).resolve().parent.parent
TAU = "tau-ai==0.4.8"
TAU_MODELS = ("words-1", "words-2048", "sleepers")
_NEWER = ("python3.12", "python3.13", "python3.14")


@dataclass(frozen=True)
class Install:
    """An environment, and a home and a working folder for what runs in it."""

    venv: Path
    home: Path
    work: Path

    @property
    def python(self) -> Path:
        """Its interpreter."""
        return self.venv / "bin" / "python"

    @property
    def env(self) -> dict[str, str]:
        """The environment variables of a run: no key, no setting of the caller's."""
        return {
            "PATH": os.defpath,
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "TRIMTAB_HOME": str(self.home / "trimtab"),
            "TAU_HOME": str(self.home / "tau"),
            "TAU_OFFLINE": "1",
            "TAU_NO_UPDATE_CHECK": "1",
            "FAKE_KEY": "none",
        }

    def site(self) -> Path:
        """Its site-packages."""
        return next(self.venv.glob("lib/python3*/site-packages"))

    def megabytes(self) -> float:
        """Size of everything installed (10^6 bytes), bytecode included: files in site-packages, and programs besides the interpreter."""
        files = [
            p for p in (*self.site().rglob("*"), *(self.venv / "bin").iterdir()) if p.is_file() and not p.is_symlink()
        ]
        return sum(p.stat().st_size for p in files) / 1e6

    def distributions(self) -> int:
        """How many distributions are installed, pip aside."""
        return sum(1 for p in self.site().glob("*.dist-info") if not p.name.startswith("pip-"))


def install_trimtab(folder: Path) -> Install:
    """Install this checkout with its base dependencies."""
    install = _prepare(folder)
    _run(sys.executable, "-m", "venv", "--without-pip", install.venv)
    constraints = REPO / "constraints.txt"
    _run(sys.executable, "-m", "pip", "--python", install.python, "install", "--compile", "-c", constraints, REPO)
    return install


def install_tau(folder: Path, base_url: str) -> Install | str:
    """Install tau and point it at a server, or say why it can't be had."""
    python = _newer_python()
    if python is None:
        return "tau needs Python 3.12 or newer; name one with TAU_PYTHON"
    install = _prepare(folder)
    kept = Path(tempfile.gettempdir()) / "trimtab-bench-tau"
    install = Install(kept, install.home, install.work)
    try:
        if not (kept / "bin" / "tau").exists():
            _run(python, "-m", "venv", "--clear", kept)
            _run(install.python, "-m", "pip", "install", "--compile", TAU)
        for model in TAU_MODELS:
            setup = (
                "--provider",
                model,
                "--base-url",
                base_url,
                "--api-key-env",
                "FAKE_KEY",
                "--model",
                model,
                "setup",
            )
            spend([kept / "bin" / "tau", *setup], env=install.env, cwd=install.work, limit_s=30)
    except (RuntimeError, subprocess.CalledProcessError) as e:
        return f"tau can't be installed: {e}"
    return install


def _prepare(folder: Path) -> Install:
    install = Install(folder / "venv", folder / "home", folder / "work")
    install.home.mkdir(parents=True)
    install.work.mkdir()
    return install


def _newer_python() -> str | None:
    named = os.environ.get("TAU_PYTHON")
    kept = sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.1[2-9]*/bin/python")))
    return named or next(iter(kept), None) or next(filter(None, map(shutil.which, _NEWER)), None)


def _run(*argv: str | Path) -> None:
    env = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, argv))}: exit {done.returncode}\n{done.stderr[-2000:]}")
