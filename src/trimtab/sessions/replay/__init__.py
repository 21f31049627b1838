"""Replay: a recorded session under another context policy, offline, with the same bytes out each time.

Recording ──steps──▶ one API message each ──needs──▶ what each step used of earlier results
    └──engine + policy over a log in memory, step by step──▶ requests, bills, what was visible ──report──▶ one object of JSON
"""
