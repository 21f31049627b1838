"""A specification as a picture that belongs to the page: SVG with its names made unique, its colours taken from the page, and what each mark says as its tooltip.

`vl-convert` draws without a browser and without a network. Where it or altair is missing, the error names the extra.
"""

import html
import re
from collections.abc import Callable, Mapping
from importlib import import_module, metadata
from typing import Any

from trimtab.types.errors import UsageError

EXTRA = "pip install 'trimtab[report]'"
"""What makes plots possible."""
PACKAGES = ("altair", "vl-convert-python")
"""What draws them."""
_ID = re.compile(r'\b(id="|url\(#|href="#)')
_COLOR = re.compile(r'"(#0a00[0-9a-f]{2})"')
_SAID = re.compile(r'<path ([^>]*?)aria-label="([^"]*)"([^>]*?)/>')
_ROOT = re.compile(r'<svg [^>]*?width="([\d.]+)" height="([\d.]+)" viewBox="([^"]+)"[^>]*>')


def charts() -> Any:
    """Return the module that knows all plots. Raises `UsageError` where the extra isn't installed."""
    try:
        import_module("vl_convert")
        return import_module("trimtab.lab.report.charts")
    except ModuleNotFoundError as error:
        if error.name not in ("altair", "vl_convert"):
            raise
        raise UsageError(f"plots need {error.name}, which isn't installed", hint=f"{EXTRA}.") from error


def versions() -> dict[str, str]:
    """The versions of what draws."""
    return {name: metadata.version(name) for name in PACKAGES}


def drawn(spec: Mapping[str, Any], *, name: str, title: str, roles: Mapping[str, str]) -> str:
    """Return the picture of a specification as SVG. `name` makes its names unique on the page; `title` is what a reader who can't see it hears."""
    convert: Callable[[Mapping[str, Any]], str] = import_module("vl_convert").vegalite_to_svg
    return placed(convert(spec), name=name, title=title, roles=roles)


def placed(svg: str, *, name: str, title: str, roles: Mapping[str, str]) -> str:
    """Return a picture as it stands on the page: see the module."""
    colors = {value: role for role, value in roles.items()}
    svg = _COLOR.sub(lambda found: f'"var(--{colors[found[1]]})"', svg)
    svg = _ID.sub(lambda found: f"{found[1]}{name}-", svg)
    svg = _SAID.sub(r"<path \1\3><title>\2</title></path>", svg)
    svg = re.sub(r' aria-(hidden|roledescription|label)="[^"]*"| role="[^"]*"', "", svg)
    svg = re.sub(r' font-family="[^"]*"', "", svg)
    label = html.escape(title)
    return _ROOT.sub(
        lambda root: f'<svg role="img" aria-label="{label}" width="{root[1]}" height="{root[2]}" viewBox="{root[3]}">',
        svg,
        count=1,
    )
