"""The lab: context policies measured on generated and recorded work, and trained on it.

    tasks      families of generated tasks with key points          T0
    corpora    recordings with labelled needs, and their splits      T1
    env        both played step by step through the real engine
    live       agents at work in real repositories                   T2, T3
    rewards    what an episode was worth, in parts
    credit     from rewards at the leaves of a tree to advantages
    bench      arms side by side on the same stories
    docqa      questions about long documents, for a language model that manages its own context
    export     rollouts as rows for trainers of language models

Nothing of it is loaded by the agent.
"""
