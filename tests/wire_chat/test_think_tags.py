"""Inline thinking."""

from hypothesis import given
from hypothesis import strategies as st

from trimtab.providers.think_tags import ThinkTags


def split(pieces: list[str]) -> tuple[str, str]:
    tags = ThinkTags()
    out = [p for text in pieces for p in tags.feed(text)] + tags.close()
    assert all(text for _, text in out)
    kinds = [kind for kind, _ in out]
    assert kinds == sorted(kinds, reverse=True)  # thinking, then text
    return "".join(t for k, t in out if k == "thinking"), "".join(t for k, t in out if k == "text")


def test_plain_text_is_left_alone():
    assert split(["<b>", " hi <think>x</think>"]) == ("", "<b> hi <think>x</think>")
    assert split(["  <thin", "k"]) == ("", "  <think")
    assert split(["  "]) == ("", "  ")
    assert split([]) == ("", "")


def test_an_open_tag_without_its_end_is_all_thinking():
    assert split(["<think>a", "b</thi"]) == ("ab</thi", "")


@given(
    body=st.text(alphabet="<>/think ab\n", max_size=30).filter(lambda t: "</think>" not in t),
    answer=st.text(alphabet="<>/think ab\n", max_size=30),
    lead=st.sampled_from(["", " ", "\n\n"]),
    data=st.data(),
)
def test_any_cut_gives_the_same_thinking_and_answer(body, answer, lead, data):
    whole = f"{lead}<think>{body}</think>{answer}"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    pieces = [whole[a:b] for a, b in zip([0, *cuts], [*cuts, len(whole)], strict=True)]
    assert split(pieces) == (body, answer.lstrip())
    assert split(list(whole)) == (body, answer.lstrip())


@given(st.lists(st.text(alphabet="<>/think ab", max_size=5), max_size=8))
def test_nothing_is_lost_or_doubled(pieces):
    thinking, text = split(pieces)
    whole = "".join(pieces)
    if whole.lstrip().startswith("<think>"):
        rest = whole.lstrip().removeprefix("<think>")
        thought, found, after = rest.partition("</think>")
        assert (thinking, text) == (thought, after.lstrip() if found else "")
    else:
        assert (thinking, text) == ("", whole)
