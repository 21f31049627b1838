"""The demo: a small project with a failing test, and a script that plays the model which repairs it.

The loop, the tools, the permissions, the context engine and the session on disk are the real ones; only the model's words are written here
beforehand. The window is far too small for what the tools bring, so the engine has to work; one line of what leaves the window, an order number in
a log, is what the answer needs in the end.

What is edited hangs on a few tokens. So nothing that the model sees tells in which folder, by which interpreter, or how fast it all ran, and ids are drawn from a seed: every run
shows the same.
"""

import itertools
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROMPT = "The tests fail. Find out why, repair the code, show that they pass, and name the first order in sales.log that was charged nothing."
WINDOW = 5_300
"""Tokens of the model's window, of which the answer and a margin take some: the three files alone have more."""
MAX_OUTPUT = 800
NEEDLE = "order 20417"
"""What the answer needs, and what has left the window by then."""
PRICES = {"price_input": 3.0, "price_output": 15.0, "price_cache_read": 0.3, "price_cache_write": 3.75}
"""USD per million tokens, so that there is a bill; of the order of a large model's."""


def sales_log(first: int, orders: int) -> str:
    """A log of `orders` orders from number `first` on. One of those of the first log was charged nothing."""
    lines = []
    for number in range(first, first + orders):
        cents = 900 + number * 37 % 4100
        charged = 0 if number == 20417 else cents
        lines.append(
            f"2026-03-{1 + number % 28:02} order {number} items {1 + number % 5} sum {cents} charged {charged}\n"
        )
    return "".join(lines)


FILES = {
    "receipt.py": '''"""Adds up a receipt."""


def total(items, discount_percent=0):
    """Sum of price × quantity, less a discount in percent, in cents."""
    cents = sum(price * quantity for _, price, quantity in items)
    return cents - cents * discount_percent // 10
''',
    "test_receipt.py": """import time
import unittest

from receipt import total

__unittest = True  # a failure is shown without the lines that led to it
time.perf_counter = lambda: 0.0  # a run says the same each time
ITEMS = [("tea", 450, 2), ("scone", 320, 1)]


class Receipt(unittest.TestCase):
    def test_sums_price_times_quantity(self):
        self.assertEqual(total(ITEMS), 1220)

    def test_takes_the_discount_off(self):
        self.assertEqual(total(ITEMS, discount_percent=10), 1098)


if __name__ == "__main__":
    unittest.main()
""",
    "README.md": "# Receipt\n\nPrices are in cents. A discount is in percent.\n",
    "sales.log": sales_log(20_390, 90),
    "returns.log": sales_log(31_000, 90),
    "stock.log": sales_log(47_500, 90),
}


def write_project(folder: Path) -> None:
    """Write the broken project into `folder`."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")


TESTS = '"$PYTHON" -m unittest 2>&1'
"""The command that runs the project's tests."""


def demo_env(env: Mapping[str, str], home: Path) -> dict[str, str]:
    """The environment of the demo: nothing of the person's is changed, and the tests run with this very interpreter."""
    return {**env, "TRIMTAB_HOME": str(home), "PYTHON": sys.executable, "PYTHONDONTWRITEBYTECODE": "1"}


FINDINGS = (
    "receipt.py adds price times quantity in cents and then takes the discount off; test_receipt.py has two tests, one without and one with a"
    " discount of 10 percent. The second fails: it gets 0 and wants 1098. The sum without a discount is right, so the fault is in the line with"
    " discount_percent. Prices are whole cents everywhere, so the division has to stay a whole one (//). Nothing else imports receipt.py. The logs"
    " hold an order a line: date, number, items, sum and what was charged, both in cents. Plan: change the divisor from 10 to 100 in that line and"
    " nothing else, since both tests call total() with the same items and only the discount differs; run the tests again; look through the other"
    " two logs, whether anything in them was charged nothing as well; then answer with the number of the first such order in sales.log, which is"
    " archived by now and can be asked for by its words. Not to do: change the tests, round to other units, or touch the logs."
)
"""What the model works out and keeps as a memo."""


def script_lines() -> tuple[Mapping[str, Any], ...]:
    """What the scripted model says, a request a line."""
    numbers = itertools.count(1)

    def calls(text: str, *wanted: tuple[str, Mapping[str, Any]]) -> Mapping[str, Any]:
        made = [{"id": f"call_{next(numbers)}", "name": name, "arguments": arguments} for name, arguments in wanted]
        return {"text": text, "tool_calls": made}

    edit = {"old": "discount_percent // 10\n", "new": "discount_percent // 100\n"}
    memo = {
        "action": "write",
        "key": "findings",
        "summary": "where the fault is, and what the logs hold",
        "content": FINDINGS,
    }
    archive = {"action": "archive", "ids": ["r1"], "summary": "orders from 20390 on, an order a line; one is charged 0"}
    # What edits comes before what only reads beside it: their records then always stand in one order.
    return (
        calls("I'll run the tests and read the sales.", ("bash", {"command": TESTS}), ("read", {"path": "sales.log"})),
        calls("The discount test fails: 0 instead of 1098.", ("archive", archive), ("read", {"path": "receipt.py"})),
        calls("A percentage is divided by 10 instead of 100.", ("memo", memo)),
        calls("", ("edit", {"path": "receipt.py", "edits": [edit]})),
        calls("Is it the same elsewhere?", ("read", {"path": "returns.log"})),
        calls("", ("read", {"path": "stock.log"})),
        calls("", ("bash", {"command": TESTS})),
        calls("Both pass. Which order was it?", ("recall", {"query": "charged 0"})),
        {
            "text": f"Repaired. `total` divided the discount percentage by 10 instead of 100, so a 10 % discount took everything off. "
            f"I changed that one number in receipt.py and ran the tests again: both pass. The first order that was charged nothing is {NEEDLE}.",
            "expect": {"contains": [NEEDLE]},
        },
    )


def tests_pass(folder: Path) -> bool:
    """Run the project's tests outside the agent: the demo's own check of what the answer claims."""

    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0
