"""Training: a policy that chooses about a context, cloned from what decides well, then improved by fine-grained reinforcement learning in the environment.

    train.py, read from top to bottom:
    config ─▶ tasks of the part train ─▶ teachers' decisions ─▶ clone ─▶ rollouts, branches, credit, clipped steps ─▶ the best on validation ─▶ weights

seeing      an observation as numbers and valid choices        network    the scorer and the gate, in torch
teachers    decisions of other policies as choices             losses     what is descended on
rollouts    a group: rollouts, branches, credit                judging    candidates and arms on validation
curriculum  what is open when                                  runs       the folder of a run: state, curves, weights
ablation    runs side by side                                  supervised   what is needed again, from labels in hindsight: before all this

Nothing here is needed to run what comes of it: that is plain Python, in `context/policies/learned`. The only part of the lab that needs the extra `train`.
"""
