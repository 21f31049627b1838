"""The tools with which a model manages its own context: a file and a prompt each, without an agent around them."""
