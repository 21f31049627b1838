"""Servers of the Model Context Protocol, as a client: their tools, prompts and resources in a session, and nothing of their failures."""
