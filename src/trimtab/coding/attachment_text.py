"""How an attached file stands in a prompt, and what was attached to one.

`<file path="a.txt">` … `</file>`, `<folder path="src">` … `</folder>`: one part each, so the parts of a prompt say later which files the person named.
"""

import os
from collections.abc import Iterator
from typing import Literal

from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import Workspace, shown_name
from trimtab.types.messages import ATTACHED, Text, User


def framed(kind: Literal["file", "folder"], name: str, text: str) -> Text:
    """The text of a file, or what is in a folder, as a part of a prompt."""
    shown = one_line(shown_name(name)).replace('"', "&quot;")
    return Text(f'<{kind} path="{shown}">\n{text}\n</{kind}>\n')


def attached_to(prompt: User, workspace: Workspace) -> Iterator[str]:
    """The real paths of what was attached to a prompt, those of folders with a slash at the end. Touches the disk."""
    for part in prompt.parts:
        if isinstance(part, Text) and (head := ATTACHED.match(part.text)):
            try:
                path = os.path.realpath(workspace.locate(head[1]))
            except (ToolFailure, OSError, ValueError):
                continue
            yield os.path.join(path, "") if os.path.isdir(path) else path
