"""Sums up what the kills met, whatever else runs beside them."""

from collections import Counter

import pytest

KEYS = ("instants", "sessions", "acknowledged", "torn")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print one line."""
    total: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        total.update({key: value for key, value in report.user_properties if key in KEYS})
    if total["instants"]:
        terminalreporter.write_line(
            f"kills: {total['instants']} instants, {total['sessions']} sessions reopened and continued, "
            f"{total['acknowledged']} acknowledged entries, none lost, {total['torn']} torn tails"
        )
