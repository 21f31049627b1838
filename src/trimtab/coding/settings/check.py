"""Every mistake in all layers of a folder's settings, each with its place; a run stops at the first.

layers ──structs──▶ Problem("config.toml:3", …)        what fits but can't be meant: tools, policies, rules ──▶ Problem
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from trimtab.coding.context_check import refusals
from trimtab.coding.extensions.shell_hooks import shell_hooks
from trimtab.coding.guard import permission_hooks, workspace_of
from trimtab.coding.project import Project, settings_of
from trimtab.coding.settings.layers import WHERE_TOLD, Layers, read_layers, settle
from trimtab.config.lines import line_of
from trimtab.config.load import Layer, load
from trimtab.config.mistakes import mistakes, show_path
from trimtab.config.settings import Settings
from trimtab.types.errors import ConfigError, TrimtabError

_WITH_LINE = 100
"""So many mistakes of a file are looked for in its text."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One mistake: in which file and line, where there is one; what is wrong; the next step. A `note` stops no run."""

    file: Path | None
    line: int | None
    problem: str
    hint: str = ""
    note: bool = False

    @property
    def text(self) -> str:
        """`FILE:LINE: what is wrong`."""
        place = "" if self.file is None else f"{self.file}: " if self.line is None else f"{self.file}:{self.line}: "
        return f"{place}{'note: ' if self.note else ''}{self.problem}"


def problems_of(project: Project, left_out: tuple[ConfigError, ...] = ()) -> tuple[Problem, ...]:
    """Look at every layer. `left_out` are the mistakes with which `open_anyway` opened the project."""
    asked = project.asked
    own = settings_of(project.cwd, project.home, project.trust)[0]
    layers, _ = read_layers(project.cwd, project.home, project.env, sets=asked.sets, overrides=asked.overrides, own=own)
    together = settle(layers).mistakes
    found = {e.message for e in together}
    other = [Problem(None, None, e.message, e.hint) for e in left_out if e.message not in found]  # unread, or of trust
    alone = [problem for layer in layers.every for problem in _in_layer(layer)]
    wrong = alone or [Problem(None, None, e.message, e.hint) for e in together]
    return (*other, *wrong, *_meanings(project), *_notes(project, layers))


def _in_layer(layer: Layer) -> Iterator[Problem]:
    for at, mistake in enumerate(mistakes(layer.values, Settings)):
        if layer.file is None:
            yield Problem(None, None, f"{layer.name}: {mistake.problem}", mistake.hint)
        else:
            line = line_of(layer.text, mistake.path) if at < _WITH_LINE else None
            yield Problem(layer.file, line, mistake.problem, mistake.hint)
    for raw in layer.raw:
        try:
            load([Layer(layer.name, raw=(raw,))])
        except ConfigError as e:
            yield Problem(None, None, e.message, e.hint)


def _meanings(project: Project) -> Iterator[Problem]:
    """Values of the right type that name what there is not."""
    for name, error in refusals(project, None):
        yield Problem(None, None, f"{name}: {error.message}", error.hint)
    for look in (lambda: permission_hooks(project, workspace_of(project)), lambda: shell_hooks(project)):
        try:
            look()
        except TrimtabError as e:
            yield Problem(None, None, e.message, e.hint)


def _notes(project: Project, layers: Layers) -> Iterator[Problem]:
    file, text = (layers.project.file, layers.project.text) if layers.project else (None, "")
    for one in project.withheld:
        last = one is project.withheld[-1]
        hint = (
            "A project can't decide that. You can, for this folder: trimtab config set --here KEY VALUE" if last else ""
        )
        yield Problem(file, line_of(text, one.key), f"{show_path(one.key)} is ignored: {one.why}", hint, note=True)
    for notice in project.notices:
        if not notice.endswith(WHERE_TOLD):
            yield Problem(None, None, notice, note=True)
