"""Which memories belong together, by what they name.

    score = 3 × shared entities + 3 × relations that join them + 2 × shared times + 1 × a shared word of the keys

Weights are those of the published design that this follows (entity 3, relation 3, time 2, facet 1; arXiv 2608.28476); its fifth part, the likeness of
embeddings, is left out, so no model is needed. A time is shared when both have an episode of the same words or the same date.
"""

import re
from collections.abc import Iterable

from trimtab.context.recall.words import query_words
from trimtab.context.stores.memory_log import Memory

ENTITY, RELATION, TIME, FACET = 3, 3, 2, 1
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")


def related(memory: Memory, others: Iterable[Memory], limit: int = 5) -> tuple[Memory, ...]:
    """Return those of `others` that have something to do with `memory`: the closest first, of equals the one updated last."""
    rated = [(score(memory, other), other.updated, other.key, other) for other in others if other.key != memory.key]
    rated.sort(key=lambda row: row[:3], reverse=True)
    return tuple(row[3] for row in rated[:limit] if row[0] > 0)


def score(one: Memory, other: Memory) -> int:
    """Return how much two memories have to do with each other; the same both ways, 0 for nothing."""
    entities = _folded(one.entities) & _folded(other.entities)
    joined = _joining(one, other) + _joining(other, one)
    times = _times(one) & _times(other)
    facet = set(query_words(one.key)) & set(query_words(other.key))
    return ENTITY * len(entities) + RELATION * joined + TIME * len(times) + FACET * bool(facet)


def _joining(one: Memory, other: Memory) -> int:
    """Count the relations of `one` that name the other's key, or an entity that only the other lists."""
    names = _folded([other.key]) | (_folded(other.entities) - _folded(one.entities))
    return sum(any(_names(relation.casefold(), name) for name in names) for relation in one.relations)


def _names(relation: str, name: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(name)}(?!\w)", relation) is not None


def _times(memory: Memory) -> set[str]:
    dates = {date for episode in memory.episodes for date in _DATE.findall(episode)}
    return dates | {episode for episode in _folded(memory.episodes) if not _DATE.search(episode)}


def _folded(names: Iterable[str]) -> set[str]:
    return {folded for name in names if (folded := " ".join(name.casefold().split()))}
