"""Pictures between formats: data URLs, and the words that stand where a picture can't."""

import re

from trimtab.types.messages import Image

_DATA_URL = re.compile(r"data:(image/[\w.+-]+);base64,([A-Za-z0-9+/=]+)", re.A)


def from_data_url(url: str) -> tuple[str, str] | None:
    """Return media type and base64 of an image's data URL, or None for any other URL. Source: RFC 2397."""
    found = _DATA_URL.fullmatch(url)
    return (found[1], found[2]) if found else None


def to_data_url(image: Image) -> str:
    """Return the URL that `from_data_url` reads."""
    return f"data:{image.media_type};base64,{image.data}"


def in_words(image: Image) -> str:
    """Say that there was a picture."""
    return f"[image not shown: {', '.join(w for w in (image.name, image.media_type) if w)}]"
