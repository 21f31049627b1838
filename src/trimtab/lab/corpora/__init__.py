"""Recordings as a corpus: labelled, split by family and project, cached."""
