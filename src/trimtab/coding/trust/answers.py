"""The words of trust: what a person answers, and what of it is stored.

once     for this process                            nothing
folder   this project, from now on                   "folder" at its own path
parent   all that lies in the folder above it, too   "below" at the path above
never    don't ask again                             "never" at its own path
"""

from collections.abc import Mapping
from typing import Literal, TypeAlias

TrustAnswer: TypeAlias = Literal["once", "folder", "parent", "never"]
StoredAnswer: TypeAlias = Literal["folder", "below", "never"]

ANSWERS: tuple[TrustAnswer, ...] = ("once", "folder", "parent", "never")
STORED: Mapping[str, StoredAnswer] = {"folder": "folder", "parent": "below", "never": "never"}
"""What is stored for an answer; nothing for `once`."""
