"""From played stories to advantages: rewards at the ends of a tree, credit for the decision that made the difference."""

from trimtab.lab.credit.advantage import credit
from trimtab.lab.credit.tree import Leaf, Row, Tree
from trimtab.lab.rewards.plays import keep as keeps
from trimtab.lab.rewards.plays import loop, play, spam, tidy, yardstick
from trimtab.lab.rewards.reward import reward


def test_a_batch_that_pays_gets_the_best_advantage_and_spam_the_worst():
    unit = yardstick()
    tree = Tree[str]("toy-0")
    for name, player in (("keep", keeps), ("tidy", tidy), ("loop", loop), ("spam", spam)):
        tree.grow(Row("root", name, name, name))
        tree.finish(Leaf(name, name, reward(play(player), unit).total))
    advantages = {name: row.advantage for name, row in credit(tree).rows.items()}
    assert sorted(advantages, key=advantages.__getitem__) == ["spam", "loop", "keep", "tidy"]
    assert advantages["spam"] < 0 < advantages["tidy"]
