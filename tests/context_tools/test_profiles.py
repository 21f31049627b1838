"""What a model is told about the context tools, and what it costs."""

import msgspec
import pytest

from support.context_host import FakeHost
from trimtab.context.settings import Profile
from trimtab.context.tools.archive import ArchiveArguments
from trimtab.context.tools.edit_context import EditContextArguments
from trimtab.context.tools.memo import MemoArguments
from trimtab.context.tools.memory import MemoryArguments
from trimtab.context.tools.plan import PlanArguments
from trimtab.context.tools.profiles import context_tools
from trimtab.context.tools.recall import RecallArguments
from trimtab.types.tools import ToolSpec

ARCHIVE = ("archive", "memo", "recall")
PILOT = (*ARCHIVE, "plan", "edit_context", "memory", "context_status")
STRUCTS = {
    "archive": ArchiveArguments,
    "memo": MemoArguments,
    "recall": RecallArguments,
    "plan": PlanArguments,
    "edit_context": EditContextArguments,
    "memory": MemoryArguments,
}


def specs(profile: Profile) -> dict[str, ToolSpec]:
    """The tools of a profile by name."""
    return {t.spec.name: t.spec for t in context_tools(profile, FakeHost(), refuse=lambda value: None)}


def size(profile: Profile) -> int:
    """Bytes of a Chat Completions body that the tools add."""
    tools = [
        {"type": "function", "function": {"name": s.name, "description": s.description, "parameters": s.parameters}}
        for s in specs(profile).values()
    ]
    return len(msgspec.json.encode(tools))


@pytest.mark.parametrize(("profile", "names"), [("off", ()), ("archive", ARCHIVE), ("pilot", PILOT)])
def test_a_profile_has_its_tools(profile, names):
    assert tuple(specs(profile)) == names


@pytest.mark.parametrize(("profile", "limit"), [("archive", 3_000), ("pilot", 6_000)])
def test_a_profile_keeps_to_its_size(profile, limit):
    assert size(profile) <= limit


@pytest.mark.parametrize("name", STRUCTS)
def test_a_schema_has_the_fields_that_a_handler_reads_and_no_others(name):
    schema = specs("pilot")[name].parameters
    fields = msgspec.structs.fields(STRUCTS[name])
    assert list(schema["properties"]) == [f.name for f in fields]
    assert schema["required"] == [f.name for f in fields if f.required]
    assert schema["additionalProperties"] is False


@pytest.mark.parametrize("name", ["archive", "memo", "edit_context", "memory"])
def test_a_schema_offers_the_actions_that_a_handler_knows(name):
    (field,) = (f for f in msgspec.structs.fields(STRUCTS[name]) if f.name == "action")
    assert specs("pilot")[name].parameters["properties"]["action"]["enum"] == list(field.type.__args__)


@pytest.mark.parametrize("name", PILOT)
def test_a_prompt_is_plain_lines_that_no_wire_has_to_escape(name):
    text = specs("pilot")[name].description
    assert text.isascii()
    assert "  " not in text
    assert text == text.strip() != ""


@pytest.mark.parametrize("word", ["responsibilities", "relations", "data flow", "key findings"])
def test_the_memo_prompt_says_what_content_must_hold(word):
    assert word in specs("archive")["memo"].description
