"""The learned policy: features of an observation, a small network over them, and what it does with their figures.

    Observation ──features──▶ rows ──network, weights──▶ scores ──▶ actions, each with its reason
                      └ a figure that training never saw: the rules decide

What runs here is plain Python, or numpy where the process has loaded it. What made the weights is in the lab.
"""
