"""Export: rollouts as rows that trainers of language models read, one row for each snapshot.

    a live or scripted reader (lab/docqa) ──Cutter──▶ pieces ─┐
    episodes under a policy (lab/env) ──decisions──▶ pieces ──┴▶ Tree[Piece] ──credit──▶ SnapshotRow ──▶ JSON Lines
                                                                                            └──▶ SFT · TRL · verl

A row is what a model saw at a snapshot and what it then wrote, with what came of it. The core imports no training library; those that the adapters write for
are named in docs/gpu-training.md.
"""
