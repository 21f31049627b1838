"""The loss, against figures worked out by hand."""

import math

import pytest

torch = pytest.importorskip("torch")

from trimtab.lab.train.losses import clipped_loss, entropies  # noqa: E402 - torch is an extra


def tensor(*values: float):
    return torch.tensor(values, dtype=torch.float64)


def test_the_surrogate_is_clipped_only_where_that_makes_it_less() -> None:
    # Ratios 1.5 and 0.5, each with a good and a bad advantage.
    new, old = torch.log(tensor(0.3, 0.1, 0.3, 0.1)), torch.log(tensor(0.2, 0.2, 0.2, 0.2))
    advantage = tensor(1.0, 1.0, -1.0, -1.0)
    found = clipped_loss(
        new,
        old,
        new,
        advantage,
        torch.ones(4).double(),
        torch.zeros(4).double(),
        clip=0.2,
        entropy_weight=0.0,
        anchor=0.0,
    )
    by_hand = [1.2, 0.5, -1.5, -0.8]
    assert float(found.surrogate) == pytest.approx(sum(by_hand) / 4)
    assert float(found.loss) == pytest.approx(-sum(by_hand) / 4)
    assert float(found.clipped) == 1.0


def test_the_terms_are_weighed_and_added() -> None:
    new, clone = torch.log(tensor(0.5, 0.25)), torch.log(tensor(0.5, 0.5))
    found = clipped_loss(
        new, new, clone, tensor(2.0, -1.0), tensor(1.0, 0.5), tensor(0.6, 0.3), clip=0.2, entropy_weight=0.1, anchor=0.4
    )
    surrogate, entropy = (2.0 - 0.5) / 1.5, (0.6 + 0.15) / 1.5
    divergence = 0.5 * (2.0 - math.log(2.0) - 1.0) / 1.5
    assert float(found.divergence) == pytest.approx(divergence)
    assert float(found.loss) == pytest.approx(-surrogate - 0.1 * entropy + 0.4 * divergence)


def test_the_gradient_pushes_a_good_choice_up_and_stops_at_the_clip() -> None:
    for start, moves in ((0.2, True), (0.3, False)):
        new = torch.log(tensor(start)).requires_grad_()
        one = tensor(1.0)
        clipped_loss(
            new, torch.log(tensor(0.2)), new.detach(), one, one, tensor(0.0), clip=0.2, entropy_weight=0.0, anchor=0.0
        ).loss.backward()
        assert (float(new.grad) < 0) is moves


def test_the_entropy_leaves_out_what_is_masked() -> None:
    lines = torch.tensor([[math.log(0.5), math.log(0.5), -math.inf], [0.0, -math.inf, -math.inf]], dtype=torch.float64)
    assert entropies(lines).tolist() == pytest.approx([math.log(2.0), 0.0])
