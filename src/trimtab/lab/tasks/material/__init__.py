"""What generated stories are made of: names, prose, logs, code, tables, documents, talk. All of it is drawn from a `random.Random` that is given."""
