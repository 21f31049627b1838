"""The eight tools, a module each, and what they share: paths, caps, text files, processes, search."""
