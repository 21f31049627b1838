"""Pieces: a rollout cut where its prompt changes otherwise than by growing.

    asked(request) ─▶ answered(message) ─▶ asked ─▶ … ─▶ cut ─▶ the next piece
         │                 │                  └ what came in between is context: results, notes
         └ the prompt      └ what the model wrote: trained

Within a piece each request begins with all of the one before it, so one forward pass gives the probabilities of everything that was written. Where a request doesn't (an
edit changed it, other tools are offered), a piece ends, whether or not somebody asked for that. Source of the cuts: ContextPilot, arXiv 2608.28476.
"""

from dataclasses import dataclass, field, replace
from typing import TypeVar

from trimtab.lab.credit.branching import Turn
from trimtab.lab.credit.growing import Move
from trimtab.types.messages import Assistant, Message
from trimtab.types.models import ModelRequest
from trimtab.types.tools import ToolSpec

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class Said:
    """A message of a completion. `trained`: the model wrote it, so it has a part in the loss."""

    message: Message
    trained: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """What a model saw, and what it wrote until the next cut.

    `tokens`: of the prompt; `tokens_after`: of the prompt behind the piece, 0 where nothing was asked any more. `forced`: whoever ran the model left it no choice. `forced_edits`: edits
    in front of the piece that weren't the model's. `log_prob`: of all that it wrote, where that is known; `entropy` likewise, in nats. `first`: the number of its first answer in the rollout, from 0.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    prompt: tuple[Message, ...]
    completion: tuple[Said, ...]
    tokens: int = 0
    tokens_after: int = 0
    first: int = 0
    forced: bool = False
    forced_edits: int = 0
    log_prob: float | None = None
    entropy: float | None = None

    @property
    def answers(self) -> tuple[Assistant, ...]:
        """What the model wrote, in order."""
        return tuple(said.message for said in self.completion if said.trained and isinstance(said.message, Assistant))


def move_of(piece: Piece, node: str, before: S, *, may_branch: bool) -> Move[Piece, S]:
    """Return a piece as the decision that leads to `node`."""
    turn = Turn(node, max(1, piece.tokens), piece.tokens_after or piece.tokens, piece.entropy or 0.0, may_branch)
    return Move(before, turn, piece, piece.log_prob, piece.forced)


@dataclass(slots=True)
class Cutter:
    """Cuts a rollout into pieces while it runs. Call `asked` in front of each request and `answered` behind each answer."""

    pieces: list[Piece] = field(default_factory=list)
    """Those that are complete."""
    _asked: ModelRequest | None = None
    """The first request of the open piece."""
    _shown: tuple[Message, ...] = ()
    """The messages of the last request, with its answer."""
    _said: list[Said] = field(default_factory=list)
    _tokens: int = 0
    _forced_edits: int = 0
    _free: bool = False
    """Whether the model had a choice anywhere in the open piece."""
    _answers: int = 0

    @property
    def open(self) -> bool:
        """Whether a piece has begun in which something was said."""
        return bool(self._said)

    def asked(self, request: ModelRequest, tokens: int, *, forced_edits: int = 0) -> None:
        """A request goes out. `tokens`: of its prompt. `forced_edits`: that weren't the model's, since the last request."""
        first, shown = self._asked, self._shown
        if not self._said and self.pieces and not self.pieces[-1].tokens_after:
            self.pieces[-1] = replace(self.pieces[-1], tokens_after=tokens)
        grows = (
            first is not None
            and (request.system, request.tools) == (first.system, first.tools)
            and request.messages[: len(shown)] == shown
        )
        if first is not None and self._said and not grows:
            self.cut(tokens)
        if self._asked is None or not self._said:
            self._asked, self._tokens, self._free = request, tokens, False
            self._forced_edits += forced_edits
        else:
            self._said += [Said(message, trained=False) for message in request.messages[len(shown) :]]
        self._shown = request.messages

    def answered(self, message: Assistant, *, free: bool = True) -> None:
        """The answer came. `free`: there was something to choose."""
        self._said.append(Said(message, trained=True))
        self._shown = (*self._shown, message)
        self._free = self._free or free
        self._answers += 1

    def cut(self, tokens_after: int = 0) -> None:
        """End the open piece; nothing happens where none is open. `tokens_after`: of the next prompt, where it is known."""
        first = self._asked
        if first is None or not self._said:
            return
        self.pieces.append(
            Piece(
                first.system,
                first.tools,
                first.messages,
                tuple(self._said),
                self._tokens,
                tokens_after,
                self._answers - sum(said.trained for said in self._said),
                not self._free,
                self._forced_edits,
            )
        )
        self._asked, self._shown, self._said, self._forced_edits = None, (), [], 0
