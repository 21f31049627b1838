"""The eight tools that work on the project, a module each, and what they share: paths, caps, text files, processes, search."""
