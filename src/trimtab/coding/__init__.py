"""The coding agent: models, tools, permissions and a session on disk, wired to the loop; `session.py` knows all of them."""
