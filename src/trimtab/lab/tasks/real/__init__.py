"""Tasks made of published benchmarks whose evidence is known. None of their data is here: a folder is given."""
