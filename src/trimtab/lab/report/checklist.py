"""What a context manager must do before anyone relies on it, each line with its proofs: tests of this repository, and what they show.

A proof is a test's node id, `FILE::test`. A test of ours checks that each of them exists, so a line can't outlive its proof.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """`what` is asked for, `how` it is done here, `proofs`: node ids, and `commands` that show it."""

    what: str
    how: str
    proofs: tuple[str, ...]
    commands: tuple[str, ...] = ()


CHECKLIST = (
    Line(
        "Three layers",
        "The log on disk keeps everything; the index says which summary stands for what; the active context is computed from both.",
        (
            "tests/context_cli/test_reading.py::test_show_as_json_holds_three_layers_and_the_budget",
            "tests/facade/test_contract.py::test_an_observation_has_the_pinned_fields_and_is_json",
            "tests/facade/test_contract.py::test_every_archive_value_is_a_handle_that_recall_accepts",
        ),
        ("trimtab context show SESSION --json",),
    ),
    Line(
        "Unique ids",
        "Each entry and each call has an id of its own, even where a program or a file uses one twice.",
        (
            "tests/session/test_archive.py::test_the_first_entry_of_an_id_wins_and_the_second_is_renamed_not_lost",
            "tests/facade/test_call_ids.py::test_calls_of_one_id_go_out_with_one_each",
        ),
    ),
    Line(
        "Reason, target, before and after on every action",
        "An edit is an entry of the log: who, why, what it touches, tokens without and with it, what it cost. It can be taken back alone.",
        (
            "tests/context_cli/test_reading.py::test_the_log_tells_when_by_whom_what_for_how_much_and_why",
            "tests/context_cli/test_reading.py::test_the_difference_shows_before_after_and_the_facts_that_left",
        ),
        ("trimtab context log SESSION --diff",),
    ),
    Line(
        "Reload after a summary",
        "What an action took out of view comes back word for word, by the model, by a person or by a need.",
        (
            "tests/facade/test_contract.py::test_what_an_action_takes_out_of_view_can_be_recalled_and_reloaded",
            "tests/facade/test_contract.py::test_a_reload_keeps_to_the_budget",
        ),
    ),
    Line(
        "Output reserve",
        "Room for the answer and a margin are kept free of every request.",
        (
            "tests/engine/test_thresholds.py::test_what_is_kept_free",
            "tests/facade/test_contract.py::test_a_reserve_is_kept_free",
        ),
    ),
    Line(
        "Rule fallback",
        "A policy that fails, answers nonsense or isn't reached gives way to rules, and the log says why.",
        (
            "tests/engine/test_what_fails.py::test_a_policy_that_fails_gives_way_to_the_rules_and_the_log_says_why",
            "tests/facade/test_guests.py::test_rules_decide_for_a_policy_that_fails_once_the_window_fills",
        ),
    ),
    Line(
        "Real tokenizers",
        "Vocabularies of the models count, not characters divided by four; what a provider reports corrects the count.",
        (
            "tests/counting/test_tokenizers.py::test_a_known_vocabulary_counts_exactly",
            "tests/facade/test_contract.py::test_usage_moves_the_count_to_what_was_reported",
        ),
    ),
    Line(
        "Offline data set",
        "Recorded sessions become trajectories with needs labelled, always the same, split by family and project.",
        (
            "tests/lab/test_trajectories.py::test_a_session_becomes_requests_results_and_needs",
            "tests/lab/test_trajectories.py::test_the_same_recording_always_gives_the_same_trajectory",
            "tests/lab/test_splits.py::test_an_index_whose_families_cross_its_splits_is_refused",
        ),
    ),
    Line(
        "Summary cache",
        "The same content under the same prompt and model is summarised, and paid, once.",
        (
            "tests/summary/test_cache.py::test_the_same_content_prompt_and_model_find_the_summary_and_others_dont",
            "tests/summary/test_cache.py::test_another_session_finds_what_was_kept_and_only_the_owner_may_read_it",
        ),
    ),
    Line(
        "Efficiency in the final metric",
        "The reward is success less cost with the prompt cache, reloads, overflows and each action; its parts sum to it.",
        (
            "tests/lab/test_reward.py::test_the_total_is_the_formula",
            "tests/lab/test_reward.py::test_the_parts_sum_to_the_total_whoever_adds_them_up",
            "tests/lab/test_pareto.py::test_who_pays_more_for_cost_prefers_the_thrifty_arm",
        ),
    ),
)
"""The whole checklist."""
