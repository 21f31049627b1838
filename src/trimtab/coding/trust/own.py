"""Whether a file belongs to the project that was trusted: a link may lead out of it, and a repository inside it has another author.

path ──links resolved──▶ in the project, no repository of its own on the way ──▶ own
                    └──▶ in another place that is trusted ──▶ used as well, and told
                    └──▶ anywhere else, or neither file nor folder ──▶ not used, and told
"""

import os
import stat
from pathlib import Path

from trimtab.coding.telling.printable import one_path
from trimtab.coding.trust.known import read_known
from trimtab.coding.trust.lookup import look_up
from trimtab.coding.trust.place import is_foreign, lies_in, project_root


def is_own(root: Path, path: Path) -> bool:
    """Whether `path` is a file or folder that lies in the project `root`, links resolved, and neither in a repository of its own inside it nor in what was installed there."""
    real, outer = os.path.realpath(path), os.path.realpath(root)
    return _is_plain(real) and not is_foreign(real, outer)


def own_path(root: Path, path: Path, store: Path) -> tuple[Path | None, str]:
    """The real path to read in place of `path`, which is of the trusted project `root`, and a notice; None when it isn't there or may not be used.

    Read what is returned and not `path`: a link that is changed in between is then no way out. Raises `ConfigError` when the store is damaged.
    """
    real = Path(os.path.realpath(path))
    if not os.path.lexists(path):
        return None, ""
    if is_own(root, path):
        return real, ""
    shown = f"{one_path(os.path.relpath(path, root))} of {one_path(root)}"
    if not _is_plain(os.fspath(real)):
        return None, f"{shown} isn't used: it leads to nothing that is a file or a folder"
    there = real if real.is_dir() else real.parent
    if look_up(project_root(there), read_known(store)).trusted:
        return real, f"{shown} leads to {one_path(real)}, which is trusted too"
    why = (
        "lies in a repository of its own, or in what was installed,"
        if lies_in(str(real), os.path.realpath(root))
        else "leads out of the project"
    )
    return None, (
        f"{shown} isn't used: it {why}, at {one_path(real)}, and that isn't trusted "
        f"(trimtab trust set {one_path(there)} folder trusts it)"
    )


def _is_plain(real: str) -> bool:
    try:
        mode = os.lstat(real).st_mode
    except OSError:
        return False
    return stat.S_ISREG(mode) or stat.S_ISDIR(mode)
