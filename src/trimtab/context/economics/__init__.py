"""Cache economics: what a request costs after another one, and when changing the context pays."""

from trimtab.context.economics.bill import Bill, bill
from trimtab.context.economics.break_even import break_even_calls, pays
from trimtab.context.economics.breakpoints import message_marks, place
from trimtab.context.economics.cache_state import CacheState
from trimtab.context.economics.cold import Warmth, is_break
from trimtab.context.economics.gate import Decision, MarkedEdit, Situation, decide
from trimtab.context.economics.savings import Savings
from trimtab.context.economics.shapes import RequestShape, Segment, key_of, shape_of
from trimtab.context.economics.survival import Remaining, expected_remaining, remaining

__all__ = [
    "Bill",
    "CacheState",
    "Decision",
    "MarkedEdit",
    "Remaining",
    "RequestShape",
    "Savings",
    "Segment",
    "Situation",
    "Warmth",
    "bill",
    "break_even_calls",
    "decide",
    "expected_remaining",
    "is_break",
    "key_of",
    "message_marks",
    "pays",
    "place",
    "remaining",
    "shape_of",
]
