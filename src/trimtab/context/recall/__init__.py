"""Finding and reading again what has left the window: words, index, pages, and the answer that a model reads."""
