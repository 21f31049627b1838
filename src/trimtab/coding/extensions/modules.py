"""Modules made of bytes that were judged: what was read once is what is compiled, submodules too; nobody opens the files again.

    {"__init__.py": bytes, "rules.py": bytes} ──Modules.load──▶ a package `_trimtab_extension_7_guard` with its submodule `.rules`

A package imports its own modules relatively (`from . import rules`). No bytecode is read or written. The one rule: a module of an extension that isn't among the
judged bytes isn't there.
"""

import importlib.abc
import importlib.machinery
import importlib.util
import itertools
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import CodeType, ModuleType

_numbers = itertools.count(1)


class Modules(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Finds and loads the modules of one extension. `files` are its sources by their paths from `folder` on; one alone is a module, else it has `__init__.py`."""

    def __init__(self, name: str, folder: Path, files: Mapping[str, bytes]) -> None:
        self.root = f"_trimtab_extension_{next(_numbers)}_{re.sub(r'[^A-Za-z0-9_]', '_', name)}"
        self._folder = folder
        self._sources = {self._module_of(path, alone=len(files) == 1): (path, data) for path, data in files.items()}

    def load(self) -> ModuleType:
        """Import the extension. Raises what its code raises."""
        sys.meta_path.insert(0, self)
        return importlib.import_module(self.root)

    def close(self) -> None:
        """Forget its modules; objects that are in use stay."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)
        for name in [name for name in sys.modules if name == self.root or name.startswith(f"{self.root}.")]:
            del sys.modules[name]

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec of one of its modules."""
        if fullname not in self._sources:
            return None
        file = str(self._folder / self._sources[fullname][0])
        spec = importlib.util.spec_from_file_location(
            fullname, file, loader=self, submodule_search_locations=[] if self.is_package(fullname) else None
        )
        if spec is not None:
            spec.cached = None
            if spec.submodule_search_locations is not None:
                spec.submodule_search_locations = []  # no other finder looks for its modules on the disk
        return spec

    def get_source(self, fullname: str) -> str:
        """The judged text, for tracebacks."""
        return importlib.util.decode_source(self._found(fullname)[1])

    def get_code(self, fullname: str) -> CodeType:
        """The judged bytes, compiled."""
        path, data = self._found(fullname)
        code: CodeType = compile(data, str(self._folder / path), "exec", dont_inherit=True)
        return code

    def is_package(self, fullname: str) -> bool:
        """Whether it may have submodules."""
        return self._found(fullname)[0].endswith("__init__.py")

    def exec_module(self, module: ModuleType) -> None:
        """Run it."""
        exec(self.get_code(module.__name__), module.__dict__)

    def _found(self, fullname: str) -> tuple[str, bytes]:
        try:
            return self._sources[fullname]
        except KeyError:
            raise ImportError(f"{fullname} is no module of this extension") from None

    def _module_of(self, path: str, *, alone: bool) -> str:
        parts = path.removesuffix(".py").split("/")
        if parts[-1] == "__init__":
            parts.pop()
        elif alone:
            return self.root
        return ".".join([self.root, *parts])
