"""Credit: from rewards at the leaves of a tree of rollouts to an advantage for each row that is trained on."""
