"""Files that a person names with `@`: their content becomes part of the prompt, within the caps of the tools, and says where it came from.

    text ──mentions──▶ is there such a file? ──yes──▶ its text, its picture, or what is in the folder
                                              └─no──▶ a word like others; where it looks like a path, the person is told

The one rule: a word that names no file refuses nothing; a file that is there and can't be read is never left out unsaid.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from trimtab.coding.attachment_text import framed
from trimtab.coding.guard import workspace_of
from trimtab.coding.mentions import Mention, mentions
from trimtab.coding.project import Project
from trimtab.coding.telling.printable import one_line
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.ls import list_folder
from trimtab.coding.tools.paths import Workspace, nearest, shown_name
from trimtab.coding.tools.read import read_file
from trimtab.coding.toolset import caps_of
from trimtab.types.errors import UsageError
from trimtab.types.messages import Image, Part, Text, User
from trimtab.types.models import ModelInfo

_MOST = 200
"""Mentions of one text that are looked at: a pasted log may have thousands."""


@dataclass(frozen=True, slots=True)
class Attached:
    """What a text brings with it. `notes` are for the person."""

    parts: tuple[Part, ...] = ()
    notes: tuple[str, ...] = ()


def attach(name: str, project: Project) -> Attached:
    """What one file or folder brings, named as in the project's folder. Raises `UsageError` when it can't be read."""
    try:
        path = workspace_of(project).locate(name)
        if not os.path.lexists(path):
            raise _missing(name, path)
        return _shown(name, path, project)
    except (ToolFailure, OSError) as e:
        raise UsageError(f"@{name}: {_why(e)}", hint=_CORRECT) from None


def attached(text: str, project: Project) -> Attached:
    """What the mentions of a person's text bring. Raises `UsageError` for a file that is there and can't be read."""
    return attached_by(mentions(text), project)


def attached_by(found: Iterable[Mention], project: Project) -> Attached:
    """What these mentions bring. Raises as `attached` does."""
    workspace, parts, notes, seen = workspace_of(project), list[Part](), list[str](), set[str]()
    some = iter(found)
    for mention in islice(some, _MOST):
        alike = mention.like_a_path
        name = next((name for name in mention.names() if _is_there(name, workspace, alike=alike)), None)
        if name is not None:
            real = os.path.realpath(workspace.cwd / name)
            one = Attached() if real in seen else attach(name, project)
            seen.add(real)
            parts += one.parts
            notes += one.notes
        elif alike:
            notes.append(one_line(f"@{shown_name(mention.core)} names no file here, so it is sent as text"))
    if next(some, None) is not None:
        notes.append(f"only the first {_MOST} words with an @ are looked at for files")
    return Attached(tuple(parts), tuple(notes))


def names_file(word: str) -> bool:
    """Whether a word is `@` and a name."""
    return word.startswith("@") and bool(word[1:2].strip())


def is_there(name: str, project: Project) -> bool:
    """Whether a file or folder has this name in the project's folder."""
    return _is_there(name, workspace_of(project), alike=True)


def unseen_pictures(prompt: User, model: ModelInfo) -> str:
    """What to tell the person when `prompt` holds pictures and `model` takes none; empty otherwise."""
    pictures = [part for part in prompt.parts if isinstance(part, Image)]
    if not pictures or "image" in model.input:
        return ""
    names = ", ".join(picture.name or picture.media_type for picture in pictures)
    return (
        f"{model.ref} isn't known to take pictures, so it won't see {names}. "
        f'If it does: models = [{{id = "{model.id}", input = ["text", "image"]}}] in providers.{model.provider}'
    )


def _shown(name: str, path: Path, project: Project) -> Attached:
    """What is in a file or folder. Raises `ToolFailure`, `OSError`, and `UsageError` for what is no text and no picture."""
    workspace, caps = workspace_of(project), caps_of(project.settings.tools)
    folder = os.path.isdir(path)
    output = (
        list_folder(workspace, path, caps) if folder else read_file(path, workspace.shown(path), caps=caps, images=True)
    )
    text = "".join(p.text for p in output.parts if isinstance(p, Text))
    pictures = tuple(p for p in output.parts if isinstance(p, Image))
    if output.is_error:
        raise UsageError(f"@{name}: {text}", hint="Leave the file out, or give it in another form.")
    notes: tuple[str, ...] = ()
    if text.startswith(binary := f"{workspace.shown(path)}: binary, "):
        notes = (
            one_line(f"@{shown_name(name)} is binary, {text.removeprefix(binary)}: that is all the model is told"),
        )
    elif output.cut is not None:
        notes = (one_line(f"@{shown_name(name)} is longer than what is attached: {text.rpartition(chr(10))[2]}"),)
    return Attached((*pictures, framed("folder" if folder else "file", name, text)), notes)


def _is_there(name: str, workspace: Workspace, *, alike: bool) -> bool:
    """Whether there is such a file; `alike`: or one whose name only looks like it, which takes a look at the whole folder. One that no tool opens is there too."""
    if "\0" in name:
        return False
    try:
        there = os.path.lexists(workspace.cwd / name)
        return there or ((alike or name.startswith("~")) and os.path.lexists(workspace.locate(name)))
    except ToolFailure:
        return True
    except (OSError, ValueError):
        return False


def _missing(name: str, path: Path) -> UsageError:
    close = nearest(path)
    there = f"Near it: {', '.join(close)}. " if close else ""
    return UsageError(f"@{name}: there is no such file", hint=f"{there}{_CORRECT}")


_CORRECT = "Correct the path, or put a blank after the @ to send it as text."


def _why(error: ToolFailure | OSError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
