"""The environment: stories played step by step through the engine that runs live, with the decisions left to whoever plays."""
