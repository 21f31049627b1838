"""A cautious reading of a shell script: every simple command in it, wherever it hides, or a refusal to say.

    script → parse → (Command, Command, …)      commands of lists, pipelines, groups, loops, subshells, substitutions, in order
                   ↘ Unclear(reason)            whatever this reader doesn't know for certain

It is no shell: it keeps no structure, because whoever judges a script has to accept each command of it anyway. The one rule: a
script that bash and this module could read differently is unclear. Grammar: POSIX.1-2017 §2 and the bash manual §3.
"""

import re
from dataclasses import dataclass

MAX_CHARACTERS = 10_000
_MAX_DEPTH = 20
_CONTROL = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0\U000e0000-\U000e007f]"
)
_TRANSPARENT = frozenset({"if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "time"})
_OPAQUE = frozenset({"case", "esac", "select", "function", "coproc", "[[", "in"})
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=", re.ASCII)
_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_SIMPLE_EXPANSION = re.compile(r"\{[A-Za-z_]\w*\}", re.ASCII)
_REDIRECT = re.compile(r"(\d*)(&>>|&>|<<<|<<-|<<|<&|<>|<(?!\()|>>|>&|>\||>(?!\())")
_DUPLICATE = re.compile(r"[012]|-")
_ENDS_WORD = frozenset(" \t\n;&|()<>")


class Unclear(Exception):
    """The script can't be read for certain; the text says why."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word. `text` has its quotes removed; what only the shell can expand stands in it as written.

    `known`: nothing is expanded, so `text` is the value. `loose`: the value may begin with anything or fall into several
    words, so it might be an option.
    """

    text: str
    known: bool = True
    loose: bool = False
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Command:
    """A simple command. `writes` are the targets of output redirections (`2>&1` and the like aside), `reads` those of `<`."""

    words: tuple[Word, ...] = ()
    assigns: tuple[str, ...] = ()
    writes: tuple[Word, ...] = ()
    reads: tuple[Word, ...] = ()


def parse(script: str) -> tuple[Command, ...]:
    """Return every simple command of `script`. Raises `Unclear`."""
    if len(script) > MAX_CHARACTERS:
        raise Unclear(f"it is longer than {MAX_CHARACTERS:,} characters")
    if odd := _CONTROL.search(script):
        raise Unclear(f"it holds the invisible character U+{ord(odd[0]):04X}")
    return _Reader(script, 0).read()


@dataclass(slots=True)
class _Pieces:
    """A word while it is read."""

    text: str = ""
    known: bool = True
    loose: bool = False
    first_quote: int | None = None

    def literal(self, text: str, *, quoted: bool) -> None:
        if quoted and self.first_quote is None:
            self.first_quote = len(self.text)
        self.text += text

    def expansion(self, written: str, *, quoted: bool) -> None:
        self.loose = self.loose or not quoted or not self.text
        self.known = False
        self.literal(written, quoted=True)

    def pattern(self, character: str) -> None:
        self.loose = self.loose or not self.text
        self.known = False
        self.text += character


class _Reader:
    def __init__(self, text: str, depth: int) -> None:
        if depth > _MAX_DEPTH:
            raise Unclear("it is nested too deeply")
        self._text = text
        self._depth = depth
        self._at = 0
        self._commands: list[Command] = []
        self._documents: list[tuple[Word, bool]] = []

    def read(self) -> tuple[Command, ...]:
        self._list(closed_by="")
        if self._documents:
            raise Unclear("a here-document has no end")
        return tuple(self._commands)

    def _peek(self, size: int = 1) -> str:
        return self._text[self._at : self._at + size]

    def _skip_blanks(self) -> None:
        while True:
            if self._peek() in (" ", "\t"):
                self._at += 1
            elif self._peek(2) == "\\\n":
                self._at += 2
            elif self._peek() == "#":
                end = self._text.find("\n", self._at)
                self._at = len(self._text) if end < 0 else end
            else:
                return

    def _list(self, *, closed_by: str) -> None:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise Unclear("it is nested too deeply")
        if closed_by and self._documents:
            raise Unclear(
                "brackets follow a here-document's mark"
            )  # shells differ in which line end begins the document
        while True:
            self._skip_blanks()
            character = self._peek()
            if character == closed_by:
                self._at += len(closed_by)
                if closed_by and self._documents:
                    raise Unclear("a here-document has no end")
                break
            if not character or character == ")":
                raise Unclear("its brackets don't match")
            if character == "\n":
                self._at += 1
                self._read_documents()
            elif self._peek(2) in (";;", ";&", "(("):
                raise Unclear(f"it uses {self._peek(2)}")
            elif character in ";|" or (character == "&" and self._peek(2) != "&>"):
                self._at += 1
            elif character == "(":
                self._at += 1
                self._list(closed_by=")")
            else:
                self._simple_command()
        self._depth -= 1

    def _simple_command(self) -> None:
        words: list[Word] = []
        assigns: list[str] = []
        writes: list[Word] = []
        reads: list[Word] = []
        redirected = False
        while True:
            self._skip_blanks()
            if redirect := _REDIRECT.match(self._text, self._at):
                self._at, redirected = redirect.end(), True
                targets = self._redirect(redirect[1], redirect[2])
                reads += targets if redirect[2] == "<" else ()
                writes += () if redirect[2] == "<" else targets
                continue
            if self._peek() in ("", "\n", ";", "&", "|", ")"):
                break
            if self._peek() == "(":
                raise Unclear("it defines a function or an array")
            word, assigned = self._word()
            if assigned and not words:
                assigns.append(assigned)
            elif not (words or assigns or redirected or word.quoted) and self._keyword(word.text):
                break
            else:
                words.append(word)
        self._commands.append(Command(tuple(words), tuple(assigns), tuple(writes), tuple(reads)))

    def _keyword(self, text: str) -> bool:
        if text in _OPAQUE:
            raise Unclear(f"it uses {text!r}")
        if text != "for":
            return text in _TRANSPARENT
        self._skip_blanks()
        name = _NAME.match(self._text, self._at)
        if not name:
            raise Unclear("it uses a 'for' of an unknown form")
        self._at = name.end()
        self._commands.append(Command(assigns=(name[0],)))
        self._skip_blanks()
        if self._peek() not in ("\n", ";") and self._word()[0].text != "in":
            raise Unclear("it uses a 'for' of an unknown form")
        self._skip_blanks()
        while self._peek() not in ("", "\n", ";"):
            if self._peek() in _ENDS_WORD:
                raise Unclear("it uses a 'for' of an unknown form")
            self._word()
            self._skip_blanks()
        return True

    def _redirect(self, number: str, operator: str) -> list[Word]:
        if number not in ("", "0", "1", "2"):
            raise Unclear(f"it redirects file descriptor {number}")
        if operator == "<>":
            raise Unclear("it opens a file to read and write (<>)")
        self._skip_blanks()
        target, _ = self._word()
        if operator in ("<<", "<<-"):
            if not target.known:
                raise Unclear("a here-document has an odd end mark")
            self._documents.append((target, operator == "<<-"))
            return []
        if operator in (">&", "<&"):
            if not _DUPLICATE.fullmatch(target.text):
                raise Unclear(f"it redirects with {operator}{target.text}")
            return []
        if operator == "<<<":
            return []
        if not target.known or target.text.startswith(("/dev/tcp", "/dev/udp")):
            raise Unclear(f"it redirects to or from {target.text!r}")
        return [target]

    def _read_documents(self) -> None:
        documents, self._documents = self._documents, []
        for mark, strips in documents:
            while True:
                if self._at >= len(self._text):
                    raise Unclear("a here-document has no end")
                end = self._text.find("\n", self._at)
                end = len(self._text) if end < 0 else end
                line = self._text[self._at : end]
                self._at = end + 1
                if (line.lstrip("\t") if strips else line) == mark.text:
                    break
                if not mark.quoted and re.search(r"\$[({\[]|`|\\$", line):
                    raise Unclear("a here-document expands something")

    def _word(self) -> tuple[Word, str]:
        """Read a word; return it with the name that it assigns to, if it is an assignment."""
        pieces = _Pieces()
        began = self._at
        while self._at < len(self._text):
            character = self._peek()
            if self._peek(2) in ("<(", ">("):
                self._at += 2
                self._list(closed_by=")")
                pieces.expansion("<(…)", quoted=True)
            elif character in _ENDS_WORD:
                break
            else:
                self._piece(character, pieces)
        if self._at == began:
            raise Unclear("a word is missing")
        text = pieces.text
        if re.fullmatch(r"\{\w+\}", text) and self._peek() in ("<", ">"):
            raise Unclear("it redirects a file descriptor by name")
        word = Word(text, pieces.known, pieces.loose, quoted=pieces.first_quote is not None)
        assigned = _ASSIGNMENT.match(text)
        unquoted = len(text) if pieces.first_quote is None else pieces.first_quote
        if assigned is None or assigned.end() > unquoted:
            return word, ""
        # bash appends with `+=`; to other shells that is a letter of a name, and with a slash in it the name is a program's.
        appends = assigned[0].endswith("+=") and ("/" in text or not pieces.known)
        return word, "" if appends else assigned[1]

    def _piece(self, character: str, pieces: _Pieces) -> None:
        self._at += 1
        if character == "\\":
            following = self._peek()
            if following in ("", "\n"):
                raise Unclear("a backslash ends a line inside a word")
            self._at += 1
            pieces.literal(following, quoted=True)
        elif character == "'":
            pieces.literal(self._until("'"), quoted=True)
        elif character == '"':
            self._double_quoted(pieces)
        elif character == "$":
            self._dollar(pieces, quoted=False)
        elif character == "`":
            self._backticks(pieces, quoted=False)
        elif character == "[" and not pieces.text and self._peek() in ("", " ", "\t"):
            pieces.literal(character, quoted=False)
        elif character in "*?[" or (character == "~" and not pieces.text) or (character == "{" and self._peek() != "}"):
            pieces.pattern(character)
        else:
            pieces.literal(character, quoted=False)

    def _until(self, end: str) -> str:
        found = self._text.find(end, self._at)
        if found < 0:
            raise Unclear(f"a {end} is not closed")
        text = self._text[self._at : found]
        self._at = found + 1
        return text

    def _double_quoted(self, pieces: _Pieces) -> None:
        pieces.literal("", quoted=True)
        while True:
            character = self._peek()
            self._at += 1
            if not character:
                raise Unclear('a " is not closed')
            if character == '"':
                return
            if self._text[self._at - 1 : self._at + 1] == "\\\n":
                raise Unclear("a backslash ends a line inside a word")
            if character == "\\" and self._peek() in ("$", "`", '"', "\\"):
                pieces.literal(self._peek(), quoted=True)
                self._at += 1
            elif character == "$":
                self._dollar(pieces, quoted=True)
            elif character == "`":
                self._backticks(pieces, quoted=True)
            else:
                pieces.literal(character, quoted=True)

    def _dollar(self, pieces: _Pieces, *, quoted: bool) -> None:
        following = self._peek()
        if self._peek(2) == "((" or following == "[":
            raise Unclear("it calculates ($((…)))")
        if following == "(":
            self._at += 1
            self._list(closed_by=")")
            pieces.expansion("$(…)", quoted=quoted)
        elif following == "{":
            simple = _SIMPLE_EXPANSION.match(self._text, self._at)
            if not simple:
                raise Unclear("it uses ${…} with an operator")
            self._at = simple.end()
            pieces.expansion("$" + simple[0], quoted=quoted)
        elif name := _NAME.match(self._text, self._at):
            self._at = name.end()
            pieces.expansion("$" + name[0], quoted=quoted)
        elif following and following in "0123456789?$#@*!-":
            self._at += 1
            pieces.expansion("$" + following, quoted=quoted and following not in "@*")
        elif not quoted and following in ("'", '"'):
            raise Unclear(f"it uses ${following}…{following}")
        else:
            pieces.literal("$", quoted=quoted)

    def _backticks(self, pieces: _Pieces, *, quoted: bool) -> None:
        inside = self._until("`")
        if "\\" in inside:
            raise Unclear("it nests backticks")
        self._commands += _Reader(inside, self._depth + 1).read()
        pieces.expansion("`…`", quoted=quoted)
