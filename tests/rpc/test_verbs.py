"""The table of verbs: each has somebody who does it, and the page says all of them."""

from support.pages import ROOT
from trimtab.frontends.rpc.handlers import HANDLERS
from trimtab.frontends.rpc.table import VERBS

PI = [
    *("prompt", "steer", "follow_up", "abort", "clear_queue", "new_session", "get_state", "set_model", "cycle_model"),
    *("get_available_models", "set_thinking_level", "cycle_thinking_level", "get_available_thinking_levels"),
    *("set_steering_mode", "set_follow_up_mode", "compact", "set_auto_compaction", "set_auto_retry", "abort_retry"),
    *("bash", "abort_bash", "get_session_stats", "export_html", "switch_session", "fork", "clone", "get_fork_messages"),
    *("get_entries", "get_tree", "get_last_assistant_text", "set_session_name", "get_messages", "get_commands"),
]
"""Every command of the protocol, as version 1.6 publishes it."""


def test_every_verb_of_pi_and_every_one_of_ours_is_done_by_somebody() -> None:
    assert {verb.request for verb in VERBS.values()} == set(HANDLERS)
    assert sorted(verb.name for verb in VERBS.values() if not verb.ours) == sorted(PI)


def test_the_page_has_a_row_for_every_verb() -> None:
    page = (ROOT / "docs" / "rpc.md").read_text("utf-8")
    assert [name for name in VERBS if f"| `{name}` |" not in page] == []
