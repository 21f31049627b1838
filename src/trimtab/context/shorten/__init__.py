"""Shorter texts: each module makes one kind of them from the recorded one, without a model, and the same on every replay.

fold        head, tail and the lines that matter            truncate   the span between two sentences
compress    a share of the tokens                           cap        head and tail, at record time
arguments   pointers in place of what a call wrote          kinds      what kind of text something is
"""
