"""Files that a person names with `@`: their content becomes part of the prompt, within the caps of `read`, and says where it came from."""

from trimtab.coding.guard import workspace_of
from trimtab.coding.project import Project
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.read import read_file
from trimtab.coding.toolset import caps_of
from trimtab.types.errors import UsageError
from trimtab.types.messages import Image, Part, Text


def attach(name: str, project: Project) -> tuple[Part, ...]:
    """Return the parts for one file, named as in the project's folder. Raises `UsageError` when it can't be read."""
    workspace, caps = workspace_of(project), caps_of(project.settings.tools)
    try:
        path = workspace.locate(name)
        output = read_file(path, workspace.shown(path), caps=caps, images=True)
    except (ToolFailure, OSError) as e:
        raise UsageError(
            f"@{name}: {_why(e)}",
            hint="Correct the path, or leave the file out; a prompt that begins with @ needs a blank before it.",
        ) from None
    text = "".join(p.text for p in output.parts if isinstance(p, Text))
    pictures = tuple(p for p in output.parts if isinstance(p, Image))
    if output.is_error:
        raise UsageError(f"@{name}: {text}", hint="Leave the file out, or give it in another form.")
    return (*pictures, Text(f'<file path="{name}">\n{text}\n</file>\n'))


def _why(error: ToolFailure | OSError) -> str:
    return error.strerror or str(error) if isinstance(error, OSError) else str(error)
