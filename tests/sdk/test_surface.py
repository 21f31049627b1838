"""The interface of the SDK, name by name: whoever changes it does so on purpose."""

import ast
import inspect
from pathlib import Path

import trimtab.coding
from trimtab.coding import Assistant, OpenOptions, Reply, Session, Stream, Text, ToolResult, User

EVENTS = """BudgetChanged ContextEdited Error Event JobEnded JobStarted MessageDelta MessageEnded MessageStarted Notice Result Retry SessionOpened StepEnded StepStarted
    ToolEnded ToolParked ToolStarted ToolUpdate TurnEnded TurnStarted VerifyEnded"""
ERRORS = "AgentBusy BudgetExceeded ConfigError ProviderError SessionError SessionLocked StoreError TrimtabError UnknownModel UnknownSession UsageError"
OTHERS = """NOBODY Access Action Answer Assistant Commanded Deferred FunctionTool Hooks Image ModelInfo NoHooks Observation OpenOptions Option Person Policy Proceed Provider Question Reply
    ScriptedProvider Session SimpleTool Stream Text Tool ToolOutput ToolResult ToolRun ToolSpec Usage User Watcher run tool"""
FOR_PROGRAMS = """accept_protected answer busy cancel command diff feed file follow_up go_to id messages model notices open permissions prompt redo result run_command set_mode set_model set_thinking
    skip_summary spent spent_by steer stream undo verify"""
FOR_FRONTENDS = "announce take_leave tell work_beside"
OPTIONS = """allow append_system_prompt ask builtin_tools deny env ephemeral file fork hooks max_cost_usd max_steps max_time_s max_tokens mode model output person policy provider
    resume safe settings system_prompt takeover tools trust"""
FIELDS = (
    "changed_files cost_usd error message output reason session_file session_id steps summaries tampered usage verify"
)


def public(kind: type) -> set[str]:
    return {name for name in dir(kind) if not name.startswith("_")}


def test_the_interface_is_this_list() -> None:
    assert set(trimtab.coding.__all__) == {*EVENTS.split(), *ERRORS.split(), *OTHERS.split()}


def test_a_session_has_these_names() -> None:
    assert public(Session) == {*FOR_PROGRAMS.split(), *FOR_FRONTENDS.split()}


def test_a_session_is_opened_with_these_options() -> None:
    assert set(OpenOptions.__annotations__) == set(OPTIONS.split())


def test_a_reply_has_these_names() -> None:
    assert public(Reply) == {*FIELDS.split(), "ok", "raise_for_error", "text"}
    assert public(Stream) == {"reply"}


def test_every_name_is_loaded_from_its_place_and_known_to_type_checkers() -> None:
    tree = ast.parse(Path(trimtab.coding.__file__).read_text("utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {alias.name: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert typed == trimtab.coding._MODULES
    assert set(typed) == set(trimtab.coding.__all__)
    assert all(getattr(trimtab.coding, name) is not None for name in typed)
    assert set(trimtab.coding.__all__) <= set(dir(trimtab.coding))


def test_every_kind_of_message_has_its_text() -> None:
    parts = (Text("a"), Text("b"))
    messages = (User(parts), Assistant(parts, "stop"), ToolResult("c1", "bash", parts, False))
    assert [message.text for message in messages] == ["ab", "ab", "ab"]


def test_an_unknown_name_is_no_attribute() -> None:
    assert not hasattr(trimtab.coding, "Sesion")


def test_every_name_says_what_it_is() -> None:
    kinds = [value for name in trimtab.coding.__all__ if inspect.isclass(value := getattr(trimtab.coding, name))]
    assert [kind.__name__ for kind in kinds if not (kind.__doc__ or "").strip()] == []
