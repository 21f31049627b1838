"""What may be said to a session.

The one rule: a prompt without a word or a picture is refused before anything of it is kept: no server takes it, and the session could not go on.
"""

from trimtab.types.errors import UsageError
from trimtab.types.messages import Text, User


def require_words(prompt: str | User) -> None:
    """Raise `UsageError` when nothing is said."""
    parts = (Text(prompt),) if isinstance(prompt, str) else prompt.parts
    if all(isinstance(part, Text) and not part.text.strip() for part in parts):
        raise UsageError("the prompt is empty", hint="Say what should be done.")
