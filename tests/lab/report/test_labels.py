"""Names beside points lie neither on points nor on each other."""

from itertools import combinations

import pytest

from trimtab.lab.report.labels import GAP, Frame, meets, placed

CROWD = [(0.50, 0.70), (0.52, 0.70), (0.60, 0.71), (0.61, 0.70), (0.95, 0.72), (1.0, 0.30)]
NAMES = ["rules", "learned(rl-3)", "", "break-even", "clairvoyant", "keep-all"]


def boxes():
    frame = Frame.around(CROWD, 640, 340)
    by_name = {one.name: one for one in placed(CROWD, NAMES, frame)}
    for point, name in zip(CROWD, NAMES, strict=True):
        if name:
            one, (x, y) = by_name[name], frame.at(point)
            wide = 6 * len(name)
            left = x + GAP if one.side == "right" else x - GAP - wide
            yield name, (left, y - one.above - 6, left + wide, y - one.above + 6)


def test_no_name_lies_on_a_point_on_another_name_or_over_the_edge() -> None:
    frame, found = Frame.around(CROWD, 640, 340), dict(boxes())
    assert len(found) == 5
    for one, other in combinations(found, 2):
        assert not meets(found[one], found[other]), (one, other)
    for name, box in found.items():
        assert box[0] >= 0, name
        assert box[2] <= 640, name
        for x, y in map(frame.at, CROWD):
            assert not meets(box, (x - 5, y - 5, x + 5, y + 5)), (name, x, y)


def test_a_name_with_room_stands_at_the_right_of_its_point() -> None:
    (one,) = placed([(0.2, 0.2), (1.0, 1.0)], ["rules", ""], Frame.around([(0.2, 0.2), (1.0, 1.0)], 640, 340))
    assert (one.side, one.above) == ("right", 0.0)


def test_points_of_one_place_have_a_frame_too() -> None:
    frame = Frame.around([(1.0, 0.5), (1.0, 0.5)], 640, 340)
    assert frame.at((1.0, 0.5)) == pytest.approx((320.0, 170.0))
    assert len(placed([(1.0, 0.5)] * 2, ["a", "b"], frame)) == 2
