"""Peers: parameters of other agents, run over our edits."""

from msgspec.structs import replace

from support.observations import answer, prompt, result, seen, targets, work
from trimtab.context.cycle.deciding import Decider
from trimtab.context.policies.peer import Level
from trimtab.context.policies.registry import find_policy
from trimtab.context.settings import EngineSettings

WIDE = {"window": 200_000, "room": 164_000, "soft": 114_000, "target": 82_000, "hard": 150_000}


def test_a_level_is_a_count_a_distance_from_the_window_or_a_share():
    observation = seen(work(2), **WIDE)
    assert Level(tokens=100_000).of(observation) == 100_000
    assert Level(tokens=100_000).of(observation, 0.5) == 50_000
    assert Level(share=0.9).of(observation) == 180_000
    # The answer's reserve is 200,000 - 164,000 - 4,000 of safety.
    assert Level(below=13_000, reserve=20_000).of(observation) == 167_000
    assert Level(below=0, reserve=50_000).of(observation) == 168_000


def test_claude_code_compacts_at_167k_of_200k_and_keeps_nothing():
    peer = find_policy("claude-code")
    wide = {**WIDE, "hard": 170_000}
    assert peer.decide(seen(work(3), used=167_000, **wide)) == ()
    (action,) = peer.decide(seen(work(3), used=167_001, **wide))
    assert (action.action, action.params) == ("compact", {"keep_tokens": 0})


def test_claude_code_clears_all_but_five_results_when_the_cache_is_cold():
    peer = find_policy("claude-code")
    assert targets(peer.decide(seen(work(7), cold=True, **WIDE))) == ["t0", "t1"]
    assert peer.decide(seen(work(7), **WIDE)) == ()


def test_claude_codes_microcompact_waits_for_twenty_thousand_tokens():
    peer = find_policy("claude-code-micro")
    wide = {**WIDE, "hard": 170_000}
    assert targets(peer.decide(seen(work(8, 5_000), used=150_000, **wide))) == ["t0", "t1", "t2", "t3", "t4"]
    assert peer.decide(seen(work(6, 5_000), used=150_000, **wide)) == ()
    assert peer.decide(seen(work(8, 5_000), used=140_000, **wide)) == ()


def test_codex_keeps_the_newest_words_of_the_user_and_nothing_else():
    items = [
        prompt(0, 15_000, turn=1),
        answer(0),
        result(0),
        prompt(1, 12_000, turn=2),
        answer(1),
        prompt(2, 3_000, turn=3),
    ]
    (action,) = find_policy("codex").decide(seen(items, used=180_001, **{**WIDE, "hard": 190_000}))
    assert (action.action, action.targets) == ("compact", ("u0", "a0", "t0", "a1"))


def test_opencode_prunes_at_the_start_of_a_turn_what_lies_behind_forty_thousand_tokens_of_results():
    items = [prompt(0, turn=1)]
    for number in range(9):
        items += [answer(number, turn=1), result(number, 10_000, turn=1)]
    later = [prompt(1, turn=2), answer(20, turn=2), prompt(2, turn=3)]
    peer = find_policy("opencode")
    assert targets(peer.decide(seen([*items, *later], **WIDE))) == ["t0", "t1", "t2", "t3", "t4"]
    assert peer.decide(seen([*items, *later, answer(21, turn=3)], **WIDE)) == ()
    assert peer.decide(seen([*items[:13], *later], **WIDE)) == ()


def test_opencodes_plug_in_drops_repeated_calls_and_arguments_of_failed_ones_at_every_request():
    items = work(3, resource="call:bash({})", tool="bash")
    items.append(answer(9, 900, arguments=800, failed_input=True, turn=0))
    items.append(prompt(9, turn=4))
    actions = find_policy("opencode-dcp").decide(seen(items, **WIDE))
    assert targets(actions, "elide") == ["t0", "t1"]
    assert targets(actions, "offload") == ["a9"]


def test_tau_checks_between_runs_and_when_a_request_doesnt_fit():
    peer = find_policy("tau")
    wide = {**WIDE, "hard": 190_000}
    running, waiting = work(3), [*work(3), prompt(7, turn=2)]
    assert peer.decide(seen(running, used=185_000, **wide)) == ()
    (action,) = peer.decide(seen(waiting, used=185_000, **wide))
    assert action.params == {"keep_tokens": 20_000}
    assert targets(peer.decide(seen(running, used=190_001, **wide)), "elide") == []
    assert len(peer.decide(seen(running, used=190_001, **wide))) == 1


def test_only_a_peer_that_checks_before_every_request_has_a_summary_prepared():
    full = [prompt(0), *work(150)]
    below = [prompt(0), *work(20)]
    for name, prepares in (("codex", True), ("claude-code", True), ("pi", False), ("tau", False)):
        decider = Decider(find_policy(name), EngineSettings())
        within = seen(full, window=200_000, used=184_500, hard=199_000)
        assert (decider.summary_wanted(within) is not None) == prepares, name
        assert decider.summary_wanted(seen(below, window=200_000, hard=199_000)) is None
        asked_now = seen([*full, prompt(9)], window=200_000, used=184_500, hard=199_000)
        assert decider.summary_wanted(asked_now) is not None, (
            "at the begin of a turn nobody prepares: then all of them compact"
        )


def test_swe_agent_masks_from_the_first_request_on():
    assert targets(find_policy("swe-agent").decide(seen(work(7)))) == ["t0", "t1"]


def test_anthropics_clearing_starts_at_its_trigger_whatever_the_window():
    peer = find_policy("clear-tool-uses")
    assert peer.decide(seen(work(6), used=100_000, **WIDE)) == ()
    assert targets(peer.decide(seen(work(6), used=100_001, **WIDE))) == ["t0", "t1", "t2"]
    example = find_policy("clear-tool-uses-example")
    items = work(9, 2_000)
    items[2] = replace(items[2], tool="web_search")
    assert targets(example.decide(seen(items, used=31_000, **WIDE))) == ["t1", "t2", "t3", "t4", "t5"]


def test_a_scaled_peer_counts_by_the_window():
    peer = find_policy("clear-tool-uses(scaled=True)")
    assert targets(peer.decide(seen(work(6), used=10_001))) == ["t0", "t1", "t2"]
