"""Corpora: recorded sessions with labelled needs, how they are split, and the decisions at which a ranking of their results is judged.

splits       index ──▶ places, in parts that share no family
trajectory   recording ──▶ requests, results, needs          cache keeps what was read
facts        what was known of a result at a decision        and the audit that nothing else was
points       decisions, what was needed after them, and the share of it that is kept
rankers      baselines and their table                       logistic fits, intervals say how sure it is
"""
