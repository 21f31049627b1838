"""The script that tunes arms and says how they stand."""

from pathlib import Path

import pytest
from benchmarks import arms

from trimtab.lab.arms import tuning
from trimtab.lab.arms.tuning import Best, Ledger, Tuned, write_tuned


def test_tuned_arms_baselines_peers_and_bounds_stand_in_one_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tuning, "PARTS", {"validation": ("superseded",)})
    monkeypatch.setattr(arms, "BASELINES", ("keep-all", "lru"))
    monkeypatch.setattr(arms, "PEER_ARMS", ("codex",))
    monkeypatch.setattr(arms, "matched_to", lambda spec: "random(rate=0.1, items=2)" if spec == "lru(left=0.7)" else "")
    best = (Best("lru", "lru(left=0.7)", 0.2, 0.5, 0.7, 1, 2, 0.1), Best("dedupe", "dedupe", 0.1, 0.5, 0.7, 1, 2, 0.1))
    write_tuned(tmp_path / "tuned.json", Tuned("", "train", best))
    lines = arms.compare(tmp_path, 1, Ledger()).splitlines()
    rows = {line.split(" | ")[0].strip("| "): line.split(" | ") for line in lines[2:]}
    assert set(rows) == {
        "keep-all", "lru", "lru(left=0.7)", "dedupe", "random(rate=0.1, items=2)", "codex", "clairvoyant",
        "clairvoyant(drop=True)",
    }  # fmt: skip
    assert lines[2].startswith("| clairvoyant")
    assert rows["keep-all"][3] == "+0.000 [+0.000, +0.000]"
    assert {name: row[1] for name, row in rows.items()}["codex"] == "peer"
