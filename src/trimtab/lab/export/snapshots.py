"""From a tree of pieces to rows: each piece with its place in the tree and the credit that it gets."""

from collections.abc import Iterator
from dataclasses import dataclass

from trimtab.lab.credit.advantage import FIXED, CreditRule, RowCredit, credit
from trimtab.lab.credit.tree import Row, Tree
from trimtab.lab.env.facts import Tier
from trimtab.lab.export.chat import chat_message, chat_messages, chat_tools
from trimtab.lab.export.piece import Piece
from trimtab.lab.export.row import RowPrice, SnapshotRow, Terminal
from trimtab.types.models import Price


@dataclass(frozen=True, slots=True)
class Origin:
    """What all rows of a tree share. `sampler`: who wrote, such as `provider/model`; `price`: what the group was charged."""

    source: str
    tier: Tier
    sampler: str
    seed: int = 0
    price: Price | None = None


def snapshot_rows(tree: Tree[Piece], origin: Origin, rule: CreditRule = FIXED) -> Iterator[SnapshotRow]:
    """Yield the rows of a tree, in the order in which it grew. Rows that get no credit (no end is known below them) are left out.

    A row that is forced, and a query whose ends are all worth the same, is there with weight 0 and advantage 0 where `rule` doesn't train on it: its prompt may still be wanted.
    """
    found = credit(tree, rule).rows
    for row in tree.rows:
        value = tree.value(row.after)
        leaf = tree.leaf_of(row.rollout)
        if value is None or (rule.variant == "traj" and leaf is None):
            continue
        own = leaf.reward if rule.variant == "traj" and leaf is not None else value
        given = found.get(row.after) or RowCredit(own, tree.votes(row.after), 0.0, 0.0)
        yield _row(tree, row, given, origin, rule)


def _row(tree: Tree[Piece], row: Row[Piece], given: RowCredit, origin: Origin, rule: CreditRule) -> SnapshotRow:
    piece = row.action
    return SnapshotRow(
        source=origin.source,
        tier=origin.tier,
        query=tree.query,
        rollout=row.rollout,
        node=row.after,
        parent=row.before,
        prefix=tree.prefix(row.after),
        terminals=tuple(Terminal(leaf.rollout, leaf.node, leaf.reward) for leaf in tree.ends(row.after)),
        value=given.value,
        votes=given.votes,
        advantage=given.advantage,
        weight=given.weight,
        credit=rule.variant,
        forced=row.forced,
        forced_edits=piece.forced_edits,
        seed=origin.seed,
        price=_price(origin.price),
        sampler=origin.sampler,
        log_prob=row.log_prob,
        prompt_tokens=piece.tokens,
        messages=chat_messages(piece.prompt, piece.system),
        tools=chat_tools(piece.tools),
        completion=tuple(chat_message(said.message) for said in piece.completion),
        mask=tuple(int(said.trained) for said in piece.completion),
    )


def _price(price: Price | None) -> RowPrice | None:
    return None if price is None else RowPrice(price.input, price.output, price.cache_read, price.cache_write)
