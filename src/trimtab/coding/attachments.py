"""Files that a person names with `@`: their content becomes part of the prompt, within the caps of `read`, and says where it came from."""

import os
from pathlib import Path

from trimtab.coding.guard import workspace_of
from trimtab.coding.project import Project
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.paths import nearest
from trimtab.coding.tools.read import read_file
from trimtab.coding.toolset import caps_of
from trimtab.types.errors import UsageError
from trimtab.types.messages import Image, Part, Text, User
from trimtab.types.models import ModelInfo


def attach(name: str, project: Project) -> tuple[Part, ...]:
    """Return the parts for one file, named as in the project's folder. Raises `UsageError` when it can't be read."""
    workspace, caps = workspace_of(project), caps_of(project.settings.tools)
    try:
        path = workspace.locate(name)
        if not os.path.lexists(path):
            raise _missing(name, path)
        output = read_file(path, workspace.shown(path), caps=caps, images=True)
    except (ToolFailure, OSError) as e:
        raise UsageError(
            f"@{name}: {_why(e)}",
            hint=_CORRECT,
        ) from None
    text = "".join(p.text for p in output.parts if isinstance(p, Text))
    pictures = tuple(p for p in output.parts if isinstance(p, Image))
    if output.is_error:
        raise UsageError(f"@{name}: {text}", hint="Leave the file out, or give it in another form.")
    return (*pictures, Text(f'<file path="{name}">\n{text}\n</file>\n'))


def attached(text: str, project: Project) -> tuple[Part, ...]:
    """The parts for the files that a text of a person names with `@`. Raises `UsageError` for one that can't be read."""
    names = dict.fromkeys(word[1:] for word in text.split() if names_file(word))
    return tuple(part for name in names for part in attach(name, project))


def names_file(word: str) -> bool:
    """Whether a word is `@` and a name."""
    return word.startswith("@") and bool(word[1:2].strip())


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


def _missing(name: str, path: Path) -> UsageError:
    close = nearest(path)
    there = f"Near it: {', '.join(close)}. " if close else ""
    return UsageError(f"@{name}: there is no such file", hint=f"{there}{_CORRECT}")


_CORRECT = "Correct the path, or put a blank after the @ to send it as text."


def _why(error: ToolFailure | OSError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
