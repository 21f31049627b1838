"""Errors as text: whoever prints or logs one sees what happened and the next step."""

import ast
from pathlib import Path

import pytest

import trimtab.context
from trimtab.context import ContextManager
from trimtab.types.errors import StoreError, TrimtabError, UsageError

TYPED = frozenset({"UsageError", "ContextBusy", "ContextFloor", "TrimtabError", "StoreError", "SessionError"})


def test_an_error_as_text_says_its_next_step_too() -> None:
    assert str(UsageError("max_tokens is 0", hint="Give more.")) == "max_tokens is 0. Give more."
    assert str(UsageError("No such call.", hint="Waiting: none.")) == "No such call. Waiting: none."
    assert str(StoreError("it is locked", hint="end the other one")) == "it is locked; end the other one"
    assert str(TrimtabError("the disk is full")) == "the disk is full"


def test_the_message_alone_stays_what_it_was() -> None:
    error = UsageError("max_tokens is 0", hint="Give more.")
    assert (error.message, error.hint, error.args) == ("max_tokens is 0", "Give more.", ("max_tokens is 0",))


def test_an_embedder_who_prints_the_error_reads_what_where_and_the_next_step() -> None:
    with pytest.raises(UsageError) as settings:
        ContextManager(max_tokens=0)
    assert str(settings.value) == (
        "max_tokens must be a whole number above 0, not 0. Give the window of the model, in tokens."
    )
    with pytest.raises(UsageError) as given:
        ContextManager(max_tokens=8_000).run({"role": "user"})
    assert str(given.value).startswith("message 0, content: ")
    assert str(given.value).endswith(f". {given.value.hint}")


def hintless(path: Path) -> list[str]:
    calls = (node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Call))
    named = ((call, call.func.id) for call in calls if isinstance(call.func, ast.Name))
    bare = (call for call, name in named if name in TYPED and all(key.arg != "hint" for key in call.keywords))
    return [f"{path.name}:{call.lineno}" for call in bare]


def test_every_error_that_the_engine_raises_has_a_next_step() -> None:
    folder = Path(trimtab.context.__file__).parent
    assert [place for path in sorted(folder.rglob("*.py")) for place in hintless(path)] == []
