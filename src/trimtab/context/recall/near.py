"""Names near one that doesn't exist: what may have been meant."""

import difflib
from collections.abc import Sequence

from trimtab.context.naming import handle_number

MOST = 5
"""Names that are offered."""


def near_names(name: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the names most like `name`, the nearest first; of handles those with the nearest numbers, and the newest where nothing is alike.

    `names` are in the order in which they came up.
    """
    handles = {number: one for one in names if (number := handle_number(one)) is not None}
    wanted = handle_number(name.strip().strip("[]").partition("~")[0])
    if wanted is not None and handles:
        return tuple(handles[n] for n in sorted(handles, key=lambda n: (abs(n - wanted), n))[:MOST])
    alike = difflib.get_close_matches(name, list(dict.fromkeys(names)), n=MOST, cutoff=0.6)
    return tuple(alike) or tuple(reversed(list(handles.values())[-MOST:]))
