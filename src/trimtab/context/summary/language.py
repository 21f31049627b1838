"""Which language a text is in, as far as it takes to see that a summary is in another one.

By script where a script tells (Japanese, Chinese, Korean, Cyrillic, Arabic, …), else by frequent short words of a few languages that share
Latin letters. Code, paths and identifiers are left out first: they are English in every language. When in doubt it says nothing.
"""

import re
from collections import Counter

_CODE = re.compile(
    r"```.*?(?:```|\Z)|`[^`\n]*`|(?<!\S)\S*[/\\_=<>{}\[\]]\S*|\b\w+\.\w+\S*|^[ \t]*[>$][^\n]*$", re.S | re.M
)
_SCRIPTS: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("kana", re.compile("[\u3041-\u3096\u30a1-\u30fa\u31f0-\u31ff\uff66-\uff9d]")),
    ("han", re.compile("[\u3400-\u4dbf\u4e00-\u9fff\U00020000-\U0002fa1f]")),
    ("ko", re.compile("[\uac00-\ud7a3\u1100-\u11ff]")),
    ("cyrillic", re.compile("[\u0400-\u052f]")),
    ("el", re.compile("[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile("[\u0590-\u05ff]")),
    ("arabic", re.compile("[\u0600-\u06ff\u0750-\u077f]")),
    ("hi", re.compile("[\u0900-\u097f]")),
    ("th", re.compile("[\u0e00-\u0e7f]")),
    ("latin", re.compile("[A-Za-z\u00c0-\u024f]")),
)
_FREQUENT = {
    "en": "the and that is was with for this from not have are it which when should be of to",
    "de": "der die das und ist nicht mit von den auf ein eine wird im dem zu für sich auch wurde bitte",
    "fr": "le les des est pas une dans pour que qui sur avec du et la au sont vous ce il",
    "es": "el los las que es por con para una del no se en lo como más al y está hay",
    "it": "il di che è per non una con del della sono si le nel gli come più anche da ha",
    "pt": "o os que não uma com para do da em é por se dos mais no na as foi ao",
    "nl": "de het een en van niet is dat met op voor zijn wordt te die aan er ook bij naar",
}
_WORD = re.compile(r"[^\W\d_]+")
_SHARE = 0.2
_LEAST_LETTERS = 4
_LEAST_WORDS = 6
_LATIN_ALONE = 30
"""Latin letters of prose that show, with none of the wanted script among them, that a text is in another one."""

NAMES = {
    "ja": "Japanese",
    "zh": "Chinese",
    "ko": "Korean",
    "cyrillic": "the user's language, in Cyrillic script",
    "arabic": "the user's language, in Arabic script",
    "el": "Greek",
    "he": "Hebrew",
    "hi": "Hindi",
    "th": "Thai",
    "latin": "a language in Latin script",
    "en": "English",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "it": "Italian",
    "pt": "Portuguese",
    "nl": "Dutch",
}
"""What a model is told that `language_of` found."""


def language_of(text: str) -> str:
    """Return a key of `NAMES`, or an empty string when the text doesn't tell.

    A script other than Latin wins with a fifth of the letters: its users mix in English terms, the reverse is rare.
    """
    prose = _CODE.sub(" ", text)
    letters = _letters(prose)
    total = sum(letters.values())
    best = max(letters, key=lambda name: letters[name] if name != "latin" else 0)
    if best != "latin" and letters[best] >= max(_LEAST_LETTERS, total * _SHARE):
        return best
    return _by_words(prose)


def other_language(text: str, wanted: str) -> str:
    """Return the language of `text` when it is surely not `wanted` (a key of `NAMES`, or empty: anything goes), else nothing."""
    found = language_of(text)
    if not wanted or found == wanted:
        return ""
    letters = _letters(_CODE.sub(" ", text))
    if not found and wanted in letters and letters["latin"] >= _LATIN_ALONE and not letters[wanted]:
        return "latin"
    return found


def _letters(prose: str) -> dict[str, int]:
    """Letters of each script; kana make the Chinese characters beside them Japanese."""
    found = {name: len(pattern.findall(prose)) for name, pattern in _SCRIPTS}
    kana, han = found.pop("kana"), found.pop("han")
    japanese = kana * 10 >= kana + han
    return found | {"ja": kana + han if japanese else 0, "zh": 0 if japanese else han}


def _by_words(prose: str) -> str:
    words = Counter(_WORD.findall(prose.lower()))
    hits = sorted(((sum(words[w] for w in known.split()), name) for name, known in _FREQUENT.items()), reverse=True)
    (most, name), (next_most, _) = hits[0], hits[1]
    return name if most >= _LEAST_WORDS and most >= 1.5 * next_most else ""
