"""Assignments in a bench: what is worked on, and under which arms."""

from dataclasses import replace

from trimtab.lab.bench import live_jobs as module
from trimtab.lab.bench.live_jobs import LiveJob, live_jobs
from trimtab.lab.bench.playing import asked_for, key_of, lacking, played
from trimtab.lab.live.noise import Size
from trimtab.lab.live.play import play_live
from trimtab.lab.live.registry import FAMILIES
from trimtab.lab.rewards.prices import REGIMES

JOB = LiveJob("totals", 0, 0, 16_000, REGIMES[2], ("none", "rules"))


def test_every_family_is_worked_on_so_many_times_and_an_arm_that_knows_the_future_is_left_out():
    jobs = live_jobs(2, 3, ("rules", "clairvoyant"), prices=REGIMES[:1])
    assert len(jobs) == 2 * 3 * len(FAMILIES)
    assert {job.arms for job in jobs} == {("rules",)}
    assert len({job.key for job in jobs}) == len(jobs)


def test_a_job_gives_a_row_of_tier_t2_for_each_arm_and_is_not_played_again(monkeypatch):
    small = Size(steps=(6, 6), tokens=(200, 400))
    monkeypatch.setattr(module, "play_live", lambda *given, live: play_live(*given, live=live, size=small))
    done = played(JOB)
    assert [(row.arm, row.tier, row.part) for row in done.rows] == [("none", "T2", "live"), ("rules", "T2", "live")]
    assert {key_of(row) for row in done.rows} == {JOB.key}
    assert lacking([JOB], done.rows) == []
    assert asked_for([JOB], done.rows) == list(done.rows)
    elsewhere = replace(JOB, window=32_000)
    assert lacking([elsewhere], done.rows) == [elsewhere]
