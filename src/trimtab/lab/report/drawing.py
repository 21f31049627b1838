"""A specification as a picture that belongs to the page: SVG with its names made unique, its colours taken from the page, and what each mark says as its tooltip.

`vl-convert` draws without a browser and without a network. Where it or altair is missing, the error names the extra.
"""

import html
import re
from collections.abc import Callable, Mapping
from importlib import import_module, metadata
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from trimtab.types.errors import UsageError
from trimtab.types.extras import install_hint

PACKAGES = ("altair", "vl-convert-python")
"""What draws them."""
_ID = re.compile(r'\b(id="|url\(#|href="#)')
_COLOR = re.compile(r'"(#0a00[0-9a-f]{2})"')
_SAID = re.compile(r'<path ([^>]*?)aria-label="([^"]*)"([^>]*?)/>')
_EMPTY = re.compile(r'<path class="(?:back|fore)ground"(?:(?!stroke=)[^>])*?/>')
_NEEDLESS = re.compile(
    r' (?:aria-(?:hidden|roledescription|label)|role|class|font-family|pointer-events|opacity="1"|stroke-miterlimit)(?:(?<=1")|="[^"]*")'
)
_UNSPEAKABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
_LONG = re.compile(r"-?\d+\.\d{2,}(?!\d)(?=[^<>]*>)")
"""Digits that nobody sees, in attributes; those of texts stay."""
_ROOT = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]+)"[^>]*>')


def require() -> None:
    """Raise `UsageError` where something that a report is made with isn't installed."""
    for module in ("numpy", "altair", "vl_convert"):
        if find_spec(module) is None:
            raise UsageError(f"a report needs {module}, which isn't installed", hint=install_hint("report"))


def charts() -> ModuleType:
    """Return the module that knows all plots. Raises as `require` does."""
    require()
    return import_module("trimtab.lab.report.charts")


def versions() -> dict[str, str]:
    """The versions of what draws."""
    return {name: metadata.version(name) for name in PACKAGES}


def drawn(spec: Mapping[str, Any], *, name: str, title: str, roles: Mapping[str, str]) -> str:
    """Return the picture of a specification as SVG. `name` makes its names unique on the page; `title` is what a reader who can't see it hears."""
    convert: Callable[[Mapping[str, Any]], str] = import_module("vl_convert").vegalite_to_svg
    return placed(convert(_speakable(spec)), name=name, title=title, roles=roles)


def _speakable(part: Any) -> Any:
    """The same without characters that no SVG may hold: what draws ends the whole process at one."""
    match part:
        case str():
            return _UNSPEAKABLE.sub("\ufffd", part)
        case Mapping():
            return {_speakable(key): _speakable(value) for key, value in part.items()}
        case list() | tuple():
            return [_speakable(one) for one in part]
    return part


def placed(svg: str, *, name: str, title: str, roles: Mapping[str, str]) -> str:
    """Return a picture as it stands on the page: see the module."""
    colors = {value: role for role, value in roles.items()}
    svg = _COLOR.sub(lambda found: f'"var(--{colors[found[1]]})"', svg)
    svg = _ID.sub(lambda found: f"{found[1]}{name}-", svg)
    svg = _SAID.sub(r"<path \1\3><title>\2</title></path>", svg)
    svg = _EMPTY.sub("", svg)
    svg = _NEEDLESS.sub("", svg)
    svg = _LONG.sub(lambda found: f"{float(found[0]):.1f}".removesuffix(".0"), svg)
    label = html.escape(title)
    return _ROOT.sub(
        lambda root: f'<svg role="img" aria-label="{label}" width="{root[1]}" height="{root[2]}" viewBox="{root[3]}">',
        svg,
        count=1,
    )
