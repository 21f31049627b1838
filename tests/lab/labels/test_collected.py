"""Where rows come from: tasks of the suite, and recordings that may be learned from."""

from pathlib import Path

import msgspec

from trimtab.lab.labels.collected import TaskItem, driver_named, recorded_places, rows_from_suite, rows_of_task
from trimtab.lab.labels.hindsight import keep
from trimtab.lab.suite import PARTS


def test_a_task_is_labelled_under_every_driver_always_the_same():
    item = TaskItem("train", "tool-chain", 3)
    rows = rows_of_task(item)
    assert rows == rows_of_task(item)
    assert {(row.tier, row.group) for row in rows} == {("T0", "tool-chain")}
    assert any(row.needed for row in rows)
    assert driver_named("keep", 0) is keep


def test_rows_come_in_the_order_of_families_wherever_they_are_made():
    asked = []

    class Elsewhere:
        """An executor that only notes what it is asked."""

        def map(self, function, items):
            """Note the items."""
            asked.extend(items)
            return iter([[]])

        def close(self):
            """Nothing."""

    assert rows_from_suite("validation", 2, executor=Elsewhere()) == []
    assert asked == [TaskItem("validation", family, n) for family in PARTS["validation"] for n in (0, 1)]


def test_of_a_corpus_only_its_split_for_training_is_learned_from_one_session_of_each_family(tmp_path: Path):
    lines = [
        {"file": f"{split}/{n}.jsonl", "source": "p", "split": split, "family": f"{split}{n // 2}"}
        for split in ("train", "eval")
        for n in range(40)
    ]
    (tmp_path / "index.jsonl").write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    fit, aside = recorded_places(tmp_path, "fit"), recorded_places(tmp_path, "validation")
    assert {place.split for place in (*fit, *aside)} == {"train"}
    assert len({place.family for place in (*fit, *aside)}) == len(fit) + len(aside) == 20
    assert recorded_places(tmp_path, "fit", 3) == fit[:3]
