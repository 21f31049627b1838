"""The written pages as tests see them: fenced blocks with the comments above them, links, headings, and the commands in a line of shell."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)[^\n]*\n(?P<text>.*?)^ *```$", re.M | re.S)
_COMMENT = re.compile(r"<!-- (?P<word>not run|file): (?P<rest>.+?) -->\n+\Z")
_LINK = re.compile(r"\[[^\]\n]*\]\((?P<target>[^()\s]+)\)")
_HEADING = re.compile(r"^#+ +(?P<text>.+)$", re.M)
_SPLIT = frozenset({"|", "||", "&&", ";", ">", ">>", "<", "&"})


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block. `not_run` is the reason given for not running it, `file` the name it is saved under before what follows is run."""

    page: Path
    line: int
    language: str
    text: str
    not_run: str = ""
    file: str = ""

    @property
    def where(self) -> str:
        """Page and line, for the names of tests."""
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def pages() -> tuple[Path, ...]:
    """Every page that a person reads."""
    return (*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md")))


def blocks(page: Path, *languages: str) -> tuple[Block, ...]:
    """The fenced blocks of a page, of these languages (all without any)."""
    text = page.read_text("utf-8")
    found = []
    for fence in _FENCE.finditer(text):
        if languages and fence["language"] not in languages:
            continue
        comment = _COMMENT.search(text, 0, fence.start())
        marks = {comment["word"]: comment["rest"]} if comment else {}
        line = text.count("\n", 0, fence.start()) + 1
        body = re.sub(rf"^{fence['indent']}", "", fence["text"], flags=re.M)
        not_run, file = marks.get("not run", ""), marks.get("file", "")
        found.append(Block(page, line, fence["language"], body, not_run=not_run, file=file))
    return tuple(found)


def all_blocks(*languages: str) -> tuple[Block, ...]:
    """The fenced blocks of all pages."""
    return tuple(block for page in pages() for block in blocks(page, *languages))


def prose(page: Path) -> str:
    """A page without its fenced blocks."""
    return _FENCE.sub("", page.read_text("utf-8"))


def links(page: Path) -> tuple[str, ...]:
    """The targets of a page's links."""
    return tuple(found["target"] for found in _LINK.finditer(prose(page)))


def anchors(page: Path) -> frozenset[str]:
    """What a link to a heading of this page may say after `#`, as GitHub makes it."""
    plain = (re.sub(r"[`*]|\]\([^)]*\)|\[", "", found["text"]) for found in _HEADING.finditer(prose(page)))
    return frozenset(re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-") for text in plain)


def commands(text: str) -> Iterator[tuple[str, ...]]:
    """The words of each simple command in one line of shell, comments and assignments in front left out, substitutions on their own."""
    inner = re.findall(r"\$\(([^()]*)\)", text)
    for part in [re.sub(r"\$\([^()]*\)", "SUBSTITUTED", text), *inner]:
        lexer = shlex.shlex(part, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        for word in [*lexer, ";"]:
            if word not in _SPLIT:
                if command or not re.fullmatch(r"\w+=.*", word):
                    command.append(word)
            elif command:
                yield tuple(command)
                command = []


def make_targets() -> frozenset[str]:
    """The targets of the Makefile."""
    return frozenset(re.findall(r"^([a-z][a-z-]*):", (ROOT / "Makefile").read_text("utf-8"), re.M))
