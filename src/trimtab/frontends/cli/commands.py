"""The words that are commands, each with what help says of it. A command's module has its name."""

from collections.abc import Mapping

COMMANDS: Mapping[str, str] = {
    "answer": "answer a parked call, and go on",
    "bench": "context policies side by side on the same stories",
    "chat": "talk line by line in this folder",
    "completion": "print shell completion",
    "config": "show, check and change settings",
    "context": "see and change what a model sees of a session",
    "demo": "watch the main job, offline",
    "doctor": "what is configured, what answers, what is missing",
    "extensions": "add extensions of others, and keep them up to date",
    "jobs": "background commands that sessions left running",
    "login": "keep a key, or log in, and see what lets you in",
    "logout": "forget a key or a login",
    "mcp": "servers with tools for the model: list, add, try, log in",
    "models": "list models",
    "permissions": "what may run unasked, and why",
    "replay": "recorded sessions under another context policy",
    "report": "what benches and training found, as one page",
    "sessions": "find, show, export, import, name, check and remove sessions",
    "train": "train a context policy on generated tasks, offline",
    "trust": "which projects are trusted, and what they bring",
}
