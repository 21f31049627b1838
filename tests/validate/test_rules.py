"""The rows, and how a model fits them."""

from typing import get_args

import pytest

from trimtab.context.validate import plain, rules_for
from trimtab.context.validate.rules import MEDIA, ROWS
from trimtab.types.models import Api, ModelInfo


def model(provider: str, api: Api, **more: object) -> ModelInfo:
    return ModelInfo(provider, "m", api, input=("text", "image"), **more)  # type: ignore[arg-type]


def test_every_api_has_a_row_of_its_own_name() -> None:
    assert {api: row.api for api, row in ROWS.items()} == {api: api for api in get_args(Api)}


@pytest.mark.parametrize(
    ("provider", "api", "facts"),
    [
        ("anthropic", "anthropic", (100, 8000, 20, 2000, 5 << 20, 32_000_000)),
        ("openai", "openai-responses", (500, None, None, None, 25_000_000, 50_000_000)),
        ("openai", "openai-chat", (500, None, None, None, 25_000_000, 50_000_000)),
        ("google", "google", (900, None, None, None, None, 20_000_000)),
        ("groq", "openai-chat", (5, 5760, None, None, None, 4_000_000)),
        ("mistral", "openai-chat", (8, 8000, None, None, 10_000_000, None)),
        ("llamacpp", "openai-chat", (None, None, None, None, None, None)),
        ("anything", "scripted", (None, None, None, None, None, None)),
    ],
)
def test_limits_of_media_are_those_of_the_server_behind_the_api(
    provider: str, api: Api, facts: tuple[int | None, ...]
) -> None:
    m = rules_for(model(provider, api)).media
    assert (m.count, m.side, m.many, m.many_side, m.image_bytes, m.request_bytes) == facts


def test_every_row_of_media_belongs_to_an_api_with_a_row() -> None:
    assert {api for api, _ in MEDIA} <= ROWS.keys()


def test_a_person_may_say_other_limits_and_nonsense_is_passed_over() -> None:
    media = {"count": 3, "side": "wide", "types": 4, "unknown": 5}
    said = rules_for(model("anthropic", "anthropic", compat={"media": media})).media
    assert (said.count, said.side, said.types) == (3, 8000, ROWS["anthropic"].media.types)
    assert rules_for(model("anthropic", "anthropic", compat={"media": "no"})).media == ROWS["anthropic"].media


@pytest.mark.parametrize(
    ("api", "legal", "illegal"),
    [
        ("openai-chat", "c" * 40, "c" * 41),
        ("openai-responses", "c" * 64, "c" * 65),
        ("anthropic", "toolu_1-a", "toolu.1"),
        ("google", "any thing|at all", ""),
    ],
)
def test_an_id_is_legal_by_the_rule_of_its_api(api: Api, legal: str, illegal: str) -> None:
    pattern = rules_for(model("p", api)).legal_id
    assert pattern.fullmatch(legal)
    assert not pattern.fullmatch(illegal)


def test_a_server_with_ids_of_one_length_has_its_own_rule() -> None:
    pattern = rules_for(model("mistral", "openai-chat", compat={"call_id_length": 9})).legal_id
    assert pattern.fullmatch("abcDEF123")
    assert not pattern.fullmatch("abcDEF1234")


@pytest.mark.parametrize(
    ("api", "style", "compat", "counted", "unsigned"),
    [
        ("anthropic", "budget", {}, "loop", False),
        ("anthropic", "adaptive", {}, "all", False),
        ("openai-responses", "effort", {}, "loop", False),
        ("google", "level", {}, "loop", False),
        ("openai-chat", "", {}, "none", False),
        ("openai-chat", "toggle", {"reasoning_content": True}, "loop", True),
        ("scripted", "", {}, "none", False),
    ],
)
def test_which_thinking_is_counted_depends_on_the_family_and_the_model(
    api: Api, style: str, compat: dict[str, object], counted: str, unsigned: bool
) -> None:
    thinking = rules_for(model("p", api, thinking_style=style, compat=compat)).thinking
    assert (thinking.counted, thinking.unsigned) == (counted, unsigned)
    assert not (thinking.unsigned and thinking.frozen != "none")


def test_plain_rules_differ_only_in_what_stands_behind_them() -> None:
    rules = rules_for(model("anthropic", "anthropic"))
    assert rules.wired
    assert not plain(rules).wired
    assert plain(rules).media == rules.media
