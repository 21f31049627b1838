"""The extensions that a source holds, by their text alone: nothing of it is imported.

    __init__.py at the top ──▶ one package, called as the source │ extensions/, .trimtab/extensions/, the top ──▶ each NAME.py and NAME/ with API and extend
    their text ──▶ what it registers, what it imports that isn't installed ──▶ Offer

The one rule: what an offer holds are bytes; what was shown is what is kept.
"""

import ast
import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec

from trimtab.coding.extensions.adding.tree import Entry, Tree
from trimtab.coding.extensions.find import NAME
from trimtab.coding.telling.printable import one_path
from trimtab.types.errors import UsageError

_PLACES = ("extensions/", ".trimtab/extensions/", "")
_MOST_FILES = 200
_MOST_LOOKED_AT = 300
_LONGEST_NAME = 120
_NAMED = {
    "tool": "tool {}",
    "command": "command /{}",
    "section": "section {}",
    "policy": "policy {}",
    "provider": "provider {}",
}
_HOOKS = ("on_", "before_", "after_")


@dataclass(frozen=True, slots=True)
class Offer:
    """One extension. `files` are its bytes by their paths in it; `package`: it is a folder. `missing` are modules that it imports and that aren't there."""

    name: str
    package: bool
    files: Mapping[str, bytes]
    registers: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()


def offers(tree: Tree, called: str) -> tuple[Offer, ...]:
    """The extensions in `tree`, a source called so. Raises `UsageError` where there is none, or one that can't be taken."""
    for place in ("__init__.py", *_PLACES):
        candidates = (
            {called: ""}
            if place == "__init__.py" and place in tree.entries
            else {}
            if place == "__init__.py"
            else _candidates(tree, place)
        )
        heads = tree.read([_head(at) for at in candidates.values()])
        names = [name for name, at in candidates.items() if _is_extension(heads[_head(at)])]
        if names:
            return tuple(_offer(tree, name, candidates[name]) for name in sorted(names))
    raise UsageError(
        "there is no extension in it",
        hint="An extension is NAME.py, or a folder NAME with __init__.py, that has API = 1 and extend(api): at the top, or in extensions/.",
    )


def _candidates(tree: Tree, place: str) -> dict[str, str]:
    """Names of what may be one directly below `place`, with the path of the file, or of the folder with a / behind it."""
    found: dict[str, str] = {}
    for path, entry in tree.entries.items():
        name = path.removeprefix(place)
        if (
            not path.startswith(place)
            or entry.kind != "file"
            or name.startswith((".", "_"))
            or len(found) >= _MOST_LOOKED_AT
        ):
            continue
        if name.endswith("/__init__.py") and name.count("/") == 1:
            found[name.removesuffix("/__init__.py")] = path.removesuffix("__init__.py")
        elif name.endswith(".py") and "/" not in name:
            found.setdefault(name.removesuffix(".py"), path)
    return found


def _head(at: str) -> str:
    """The file that makes it one."""
    return f"{at}__init__.py" if not at or at.endswith("/") else at


def _is_extension(data: bytes) -> bool:
    """Whether its text binds `API` and `extend`."""
    tree = _parsed(data)
    return tree is not None and {"API", "extend"} <= set(_bound(tree))


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        match node:
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield name
            case ast.ImportFrom(names=names):
                yield from (one.asname or one.name for one in names)


def _offer(tree: Tree, name: str, at: str) -> Offer:
    if not NAME.fullmatch(name) or name == "mcp":
        raise UsageError(
            f"an extension can't be called {one_path(name)}",
            hint="A name has letters, digits, - and _, and begins with a letter; mcp is taken.",
        )
    package = not at or at.endswith("/")
    paths = {path.removeprefix(at): path for path in _inside(tree, at)} if package else {f"{name}.py": at}
    _require_sound(name, {own: tree.entries[path] for own, path in paths.items()})
    files = tree.read(list(paths.values()))
    held = {own: files[path] for own, path in sorted(paths.items())}
    texts = [parsed for own, data in held.items() if own.endswith(".py") and (parsed := _parsed(data)) is not None]
    own_modules = {own.removesuffix(".py").partition("/")[0] for own in held} if package else set[str]()
    return Offer(
        name, package, held, tuple(dict.fromkeys(_registers(texts))), tuple(_missing(texts, own_modules | {name}))
    )


def _inside(tree: Tree, at: str) -> Iterator[str]:
    """What lies in the package `at`, without what is hidden, or made by Python."""
    for path in tree.entries:
        if (
            path.startswith(at)
            and not path.endswith(".pyc")
            and not any(_is_hidden(part) for part in path[len(at) :].split("/"))
        ):
            yield path


def _is_hidden(part: str) -> bool:
    """Whether a part of a path hides what is below it; one that leads elsewhere hides nothing, and is refused."""
    return part == "__pycache__" or (part.startswith(".") and part not in (".", ".."))


def _require_sound(name: str, entries: Mapping[str, Entry]) -> None:
    """Raise `UsageError` for names and kinds that aren't put on a disk."""
    for path, entry in entries.items():
        kind = {"file": "", "link": "a link", "repository": "a repository of its own", "other": "no regular file"}[
            entry.kind
        ]
        if kind:
            raise UsageError(
                f"{name} isn't added: {one_path(path)} in it is {kind}",
                hint="Only plain files are taken; ask its author, or add it from a folder without that.",
            )
        parts = path.split("/")
        if any(
            part in ("", ".", "..")
            or len(part.encode("utf-8", "replace")) > _LONGEST_NAME
            or "\\" in part
            or not part.isprintable()
            for part in parts
        ):
            raise UsageError(
                f"{name} isn't added: it has a file with the name {one_path(path)}",
                hint="Ask its author for another name.",
            )
    folded = {path.casefold() for path in entries}
    if len(folded) != len(entries) or any(f"{path}/".casefold() in folded for path in entries):
        raise UsageError(
            f"{name} isn't added: names in it differ only in upper and lower case",
            hint="Ask its author for other names.",
        )
    if len(entries) > _MOST_FILES:
        raise UsageError(
            f"{name} isn't added: it has more than {_MOST_FILES} files", hint="Name the extension's own folder or file."
        )


def _parsed(data: bytes) -> ast.Module | None:
    with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.parse(data)
    return None


def _registers(texts: Collection[ast.Module]) -> Iterator[str]:
    """What calls of `api` in the text name."""
    for node in (node for tree in texts for node in ast.walk(tree)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="api"), attr=attr), args=args):
                first = (
                    args[0].value
                    if args and isinstance(args[0], ast.Constant) and isinstance(args[0].value, str)
                    else "…"
                )
                if attr in _NAMED:
                    yield _NAMED[attr].format(first)
                elif attr == "add_tool":
                    yield "a tool"
                elif attr.startswith(_HOOKS):
                    yield f"hook {attr.removeprefix('on_')}"


def _missing(texts: Collection[ast.Module], own: Collection[str]) -> Iterator[str]:
    """Modules that are imported as it is loaded and aren't there, without importing any."""
    wanted: set[str] = set()
    for node in (node for tree in texts for node in tree.body):
        match node:
            case ast.Import(names=names):
                wanted |= {one.name.partition(".")[0] for one in names}
            case ast.ImportFrom(module=str(module), level=0):
                wanted.add(module.partition(".")[0])
    for name in sorted(wanted - set(own) - sys.stdlib_module_names):
        found = None
        with suppress(ImportError, ValueError, AttributeError):
            found = find_spec(name)
        if found is None:
            yield name
