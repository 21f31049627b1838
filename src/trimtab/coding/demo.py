"""The demo: a small project with a failing test, and a script that plays the model which repairs it.

The loop, the tools, the permissions and the session on disk are the real ones; only the model's words are written here beforehand.
"""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PROMPT = "The tests fail. Find out why, repair the code, and show that they pass."

FILES = {
    "receipt.py": '''"""Adds up a receipt."""


def total(items, discount_percent=0):
    """Sum of price × quantity, less a discount in percent, in cents."""
    cents = sum(price * quantity for _, price, quantity in items)
    return cents - cents * discount_percent // 10
''',
    "test_receipt.py": """import unittest

from receipt import total

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
}


def write_project(folder: Path) -> None:
    """Write the broken project into `folder`."""
    for name, text in FILES.items():
        (folder / name).write_text(text, "utf-8")


def run_tests_command() -> str:
    """The command that runs the project's tests, with this very interpreter."""
    return f"{json.dumps(sys.executable)} -m unittest 2>&1"


def script_lines() -> tuple[Mapping[str, Any], ...]:
    """What the scripted model says, a request a line."""
    tests = run_tests_command()
    return (
        {
            "thinking": "First see the failure for myself.",
            "text": "I'll run the tests and look around.",
            "tool_calls": [
                {"name": "bash", "arguments": {"command": tests}},
                {"name": "ls", "arguments": {}},
                {"name": "grep", "arguments": {"pattern": "discount"}},
            ],
        },
        {
            "text": "The discount test fails: 0 instead of 1098. Reading the code.",
            "tool_calls": [{"name": "read", "arguments": {"path": "receipt.py"}}],
        },
        {
            "text": "A percentage is divided by 10 instead of 100.",
            "tool_calls": [
                {
                    "name": "edit",
                    "arguments": {
                        "path": "receipt.py",
                        "edits": [{"old": "discount_percent // 10\n", "new": "discount_percent // 100\n"}],
                    },
                }
            ],
        },
        {"tool_calls": [{"name": "bash", "arguments": {"command": tests}}]},
        {
            "text": "Repaired. `total` divided the discount percentage by 10 instead of 100, so a 10 % discount took everything off. "
            "I changed that one number in receipt.py and ran the tests again: both pass.",
        },
    )


def tests_pass(folder: Path) -> bool:
    """Run the project's tests outside the agent: the demo's own check of what the answer claims."""

    done = subprocess.run(
        [sys.executable, "-m", "unittest", "-q"], cwd=folder, capture_output=True, timeout=60, check=False
    )
    return done.returncode == 0
