"""The layers of a folder's settings: read one by one, and laid over each other within what each may decide.

user's config.toml < the project's (trusted) < the user's for this folder < environment < --set < flags
    └─ read_layers ──▶ Layers ──settle: sift, reach──▶ Loaded, what the project says in vain, mistakes
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from trimtab.config.home import Home
from trimtab.config.load import Layer, Loaded, environment_layer, file_layer, load, merged, set_layer, sift
from trimtab.config.mistakes import show_path
from trimtab.config.reach import Person, Withheld, within_reach
from trimtab.types.errors import ConfigError

PROJECT_FILE = Path(".trimtab") / "config.toml"
"""Where a project keeps its settings."""
_TOLD = 4
WHERE_TOLD = "(trimtab config check)"
"""How a notice ends that names what a project says in vain: there it is said in full."""
_BUILT_IN = ("scripted", "recorded", "bridge")


@dataclass(frozen=True, slots=True)
class Layers:
    """What was read, weakest first: the user's file, the project's, the user's for this folder, and what holds for this run. `notices` are about the environment."""

    user: Layer | None
    project: Layer | None
    here: Layer | None
    now: tuple[Layer, ...]
    notices: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[Layer, ...]:
        """All of them, weakest first."""
        files = (self.user, self.project, self.here)
        return (*(layer for layer in files if layer is not None), *self.now)


@dataclass(frozen=True, slots=True)
class Settled:
    """The settings in force, what the project's say in vain, and what is wrong and was left out."""

    loaded: Loaded
    withheld: tuple[Withheld, ...]
    mistakes: tuple[ConfigError, ...]


def read_layers(
    cwd: Path,
    home: Home,
    env: Mapping[str, str],
    *,
    sets: Sequence[str],
    overrides: Mapping[str, Any],
    own: Path | None,
) -> tuple[Layers, tuple[ConfigError, ...]]:
    """Read every layer for the folder `cwd` (a real path), the project's where its file `own` may act. What can't be read is left out, and said."""
    mistakes: list[ConfigError] = []

    def read(path: Path, name: str) -> Layer | None:
        try:
            return file_layer(path, name=name)
        except ConfigError as e:
            mistakes.append(e)
            return None

    user = read(home.config_file, "user config")
    mine = own is not None and Path(os.path.realpath(own)) == Path(
        os.path.realpath(home.config_file)
    )  # a home folder that is worked in
    project = read(own, "project config") if own is not None and not mine else None
    here = read(home.folder_file(cwd), "your config for this folder")
    variables, notices = environment_layer(env, known=_providers_of(project, user, here))
    given: list[Layer] = []
    for text in sets:
        try:
            given.append(set_layer([text]))
        except ConfigError as e:
            mistakes.append(e)
    flags = Layer("a flag", dict(overrides))
    return Layers(user, project, here, (variables, *given, flags), notices), tuple(mistakes)


def settle(layers: Layers) -> Settled:
    """Lay the layers over each other, a project's only as far as it reaches."""
    kept, mistakes = sift(layers.every)
    withheld: tuple[Withheld, ...] = ()
    notices = layers.notices
    if (project := layers.project) is not None:
        own = [piece for piece in kept if piece.name == project.name]
        user = layers.user.name if layers.user else ""
        beneath = merged(piece.values for piece in kept if piece.name == user)
        person = _person([piece for piece in kept if piece.name != project.name], beneath, own)
        acting, withheld = within_reach(merged(piece.values for piece in own), person)
        before = [piece for piece in kept if piece.name == user]
        after = [piece for piece in kept if piece.name not in (user, project.name)]
        kept = (*before, Layer(project.name, acting, text=project.text, file=project.file), *after)
        if withheld:
            names = ", ".join(show_path(one.key) for one in withheld[:_TOLD]) + (", …" if withheld[_TOLD:] else "")
            notices = (*notices, f"{names} in {project.file}: yours to decide, so ignored {WHERE_TOLD}")
    return Settled(load(kept, notices=notices), withheld, mistakes)


def _person(others: Sequence[Layer], beneath: Mapping[str, Any], own: Sequence[Layer]) -> Person:
    named = {"providers", "context", "models"} & {key for piece in own for key in piece.values}
    if not named:
        return Person(beneath)  # nothing that the rest matters to
    raw = [path for layer in others for path, _, _ in layer.raw]
    trees = [layer.values for layer in others]
    known = {name for tree in trees for name in _tables(tree.get("providers"))}
    known |= {path[1] for path in raw if path[0] == "providers" and len(path) > 1}
    if "providers" in named:
        from trimtab.providers.catalogue import Catalogue  # noqa: PLC0415 - few projects declare a provider

        known |= {*_BUILT_IN, *(p.name for p in Catalogue.load().providers())}
    keyed = any("remote_key_env" in path for path in raw) or any(_holds(tree, "remote_key_env") for tree in trees)
    return Person(beneath, known, keyed)


def _holds(tree: object, name: str) -> bool:
    return isinstance(tree, Mapping) and (name in tree or any(_holds(inner, name) for inner in tree.values()))


def _providers_of(*layers: Layer | None) -> list[str]:
    return [name for layer in layers if layer for name in _tables(layer.values.get("providers"))]


def _tables(value: object) -> Sequence[str]:
    return list(value) if isinstance(value, dict) else []
