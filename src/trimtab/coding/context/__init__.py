"""The context engine inside the coding agent: built, driven, and given to the model as tools."""
