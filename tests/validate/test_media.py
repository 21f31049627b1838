"""Pictures over a limit: reported, replaced by a note that names what was there, and never in the way of a later request."""

from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.conversations import MAKERS, picture
from support.pictures import jpeg, png
from trimtab.context.validate import after_refusal, rules_for, validate, without_pictures
from trimtab.context.validate.media import note_for, pictures
from trimtab.context.validate.mend import mend
from trimtab.types.messages import Assistant, Image, Message, Text, ToolCall, ToolResult, User, user
from trimtab.types.models import ModelInfo

CLAUDE = rules_for(MAKERS["anthropic"])
GEMINI = rules_for(MAKERS["google"])
SOUND = picture(png(), width=3, height=2)
WIDE = picture(png(), width=2100, height=900)


def limited(**media: int) -> Any:
    return rules_for(ModelInfo("local", "m", "openai-chat", input=("text", "image"), compat={"media": media}))


def look(n: int, image: Image) -> tuple[Message, ...]:
    """A call and a result that shows a picture."""
    made = Assistant((ToolCall(f"c{n}", "read", {}, "{}"),), "tool_use")
    return (made, ToolResult(f"c{n}", "read", (Text("see"), image), is_error=False, handle=f"r{n}"))


def session(*images: Image) -> tuple[Message, ...]:
    return (user("q"), *(m for n, i in enumerate(images) for m in look(n, i)))


def shown(messages: Sequence[Message]) -> list[int]:
    """Which results still hold a picture, by number of the look."""
    return [(p.message - 2) // 2 for p in pictures(messages)]


def kinds(messages: Sequence[Message], rules: Any = CLAUDE) -> set[str]:
    return {p.kind for p in validate(messages, rules=rules)}


def test_a_wide_picture_as_the_twenty_first_is_reported_and_only_then() -> None:
    assert kinds(session(WIDE, *[SOUND] * 19)) == set()
    assert kinds(session(WIDE, *[SOUND] * 20)) == {"image_side"}


def test_an_old_wide_picture_gives_way_when_there_are_many() -> None:
    mended = mend(session(WIDE, *[SOUND] * 20), rules=CLAUDE)
    assert shown(mended.messages) == list(range(1, 21))
    assert kinds(mended.messages) == set()


def test_a_wide_picture_that_just_came_stays_and_the_oldest_make_room() -> None:
    mended = mend(session(*[SOUND] * 20, WIDE), rules=CLAUDE)
    assert shown(mended.messages) == list(range(1, 21))
    assert kinds(mended.messages) == set()


def test_a_note_says_what_stood_there_why_it_is_gone_and_its_handle() -> None:
    mended = mend(session(Image("image/bmp", "Qk0=", name="plot.bmp", width=9, height=8)), rules=CLAUDE)
    (note,) = mended.notes
    expected = (
        "\n[image not shown: plot.bmp, image/bmp, 9x8, 2 bytes; "
        "image/bmp is a kind that the provider doesn't take; handle r0]"
    )
    assert (note.kind, note.message, note.part, note.text) == ("image", 2, 1, expected)
    assert mended.messages[2].parts == (Text("see"), Text(expected))


def test_a_picture_of_the_user_is_named_by_the_handle_that_the_caller_gives() -> None:
    mended = mend((User((Image("image/bmp", "Qk0="),)),), rules=CLAUDE, handle=lambda i: f"e{i}")
    assert mended.messages[0].parts[0] == Text(
        "[image not shown: image/bmp, 2 bytes; image/bmp is a kind that the provider doesn't take; handle e0]"
    )


def test_a_very_long_name_does_not_make_a_very_long_note() -> None:
    assert len(note_for(Image("image/png", "AAAA", name="x" * 5000), "why")) < 200


@pytest.mark.parametrize(
    ("image", "kind"),
    [
        (picture(b"\x89PNG\r\n\x1a\n" + bytes(8) + (9000).to_bytes(4, "big") * 2), None),
        (picture(png()[:16] + (9000).to_bytes(4, "big") + png()[20:]), "image_side"),
        (picture(jpeg(), "image/png"), "image_type"),
        (Image("image/png", "A" * (6 << 20)), "image_bytes"),
        (Image("image/svg+xml", "AAAA"), "image_type"),
        (Image("image/png", "not base64 at all"), None),
    ],
    ids=["no header", "tall by its own header", "jpeg called png", "heavy", "svg", "unknown bytes"],
)
def test_each_bad_picture_is_found_and_gone_after_mending(image: Image, kind: str | None) -> None:
    history = session(image)
    assert kinds(history) == ({kind} if kind else set())
    mended = mend(history, rules=CLAUDE)
    assert kinds(mended.messages) == set()
    assert shown(mended.messages) == ([] if kind else [0])


def test_google_takes_no_gif() -> None:
    assert kinds(session(picture(b"GIF89a", "image/gif")), GEMINI) == {"image_type"}


def test_pictures_over_the_count_go_oldest_first_and_in_batches_so_that_the_next_one_changes_nothing_before() -> None:
    rules = limited(count=8)
    gone = {n: 0 for n in range(9, 16)}
    for n in gone:
        mended = mend(session(*[SOUND] * n), rules=rules)
        left = shown(mended.messages)
        assert left == list(range(n - len(left), n))
        assert kinds(mended.messages, rules) == set()
        gone[n] = n - len(left)
    assert gone == {9: 2, 10: 2, 11: 4, 12: 4, 13: 6, 14: 6, 15: 8}


def test_a_request_of_twelve_heavy_pictures_is_brought_under_the_bytes_of_its_provider() -> None:
    heavy = Image("image/png", "A" * 900_000)
    rules = limited(request_bytes=8_000_000)
    history = session(*[heavy] * 12)
    assert kinds(history, rules) == {"media_bytes"}
    mended = mend(history, rules=rules)
    assert shown(mended.messages) == list(range(6, 12))
    assert kinds(mended.messages, rules) == set()


def test_words_alone_over_the_bytes_are_a_problem_that_nothing_mends() -> None:
    rules = limited(request_bytes=1_000)
    history = (user("x" * 2_000),)
    (problem,) = validate(history, rules=rules)
    assert (problem.kind, problem.fixable) == ("request_bytes", False)
    assert mend(history, rules=rules).messages == history


def test_the_system_prompt_and_tools_count_too() -> None:
    rules = limited(request_bytes=1_000)
    assert [p.kind for p in validate((user("q"),), rules=rules, fixed_bytes=1_000)] == ["request_bytes"]


def test_old_pictures_age_out_when_that_is_asked_for() -> None:
    mended = mend(session(SOUND, SOUND, SOUND), rules=CLAUDE, max_image_age=1)
    assert shown(mended.messages) == [1, 2]


def test_a_model_without_eyes_has_no_limits_of_pictures() -> None:
    blind = rules_for(ModelInfo("anthropic", "m", "anthropic"))
    history = session(*[Image("image/bmp", "AAAA")] * 101)
    assert kinds(history, blind) == set()
    assert mend(history, rules=blind).messages == history


def test_pictures_of_answers_and_those_whose_bytes_lie_elsewhere_become_words_on_the_wire_anyway() -> None:
    far = Image("image/bmp", body="sha256-0")
    said = Assistant((Text("x"), Image("image/bmp", "AAAA")), "stop")
    assert kinds((User((Text("q"), far)), said)) == set()


def test_the_oldest_of_too_many_in_one_message_give_way() -> None:
    rules = limited(count=2)
    mended = mend((User((SOUND,) * 5),), rules=rules)
    assert [type(p) for p in mended.messages[0].parts] == [Text, Text, Text, Image, Image]


def test_after_a_refusal_what_came_since_the_last_answer_goes_and_the_rest_stays() -> None:
    history = (*session(SOUND, SOUND), User((Text("and this"), SOUND)))
    assert after_refusal(history) == {(4, 1): "the provider refused it", (5, 1): "the provider refused it"}
    assert shown(without_pictures(history, after_refusal(history))) == [0]


def test_after_a_refusal_of_nothing_new_every_picture_goes() -> None:
    history = (*session(SOUND, SOUND), Assistant((Text("x"),), "stop"), user("go on"))
    assert pictures(without_pictures(history, after_refusal(history))) == ()


_IMAGES = st.builds(
    Image,
    st.sampled_from(["image/png", "image/jpeg", "image/bmp"]),
    st.integers(0, 3000).map(lambda n: "A" * n),
    width=st.sampled_from([None, 10, 150, 999]),
    height=st.just(10),
)
_CONTENT = st.lists(_IMAGES | st.builds(Text, st.sampled_from(["a", "long " * 100])), min_size=1, max_size=5)
_LIMITS = st.fixed_dictionaries(
    {},
    optional={
        "count": st.integers(0, 6),
        "side": st.integers(100, 500),
        "many": st.integers(1, 5),
        "many_side": st.integers(50, 200),
        "image_bytes": st.integers(100, 2500),
        "request_bytes": st.integers(500, 9000),
    },
)


@given(st.lists(_CONTENT, min_size=1, max_size=6), _LIMITS, st.none() | st.integers(0, 2))
def test_whatever_the_limits_mending_leaves_no_picture_in_the_way_and_is_done_after_once(
    contents: list[list[Any]], limits: dict[str, int], age: int | None
) -> None:
    rules = limited(**limits)
    history = tuple(User(tuple(c)) for c in contents)
    mended = mend(history, rules=rules, max_image_age=age)
    assert {p.kind for p in validate(mended.messages, rules=rules)} <= {"request_bytes", "empty_request"}
    assert mend(mended.messages, rules=rules, max_image_age=age).messages == mended.messages
