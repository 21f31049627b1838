"""What a server's prompt becomes when a person says it."""

import base64
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from support.pictures import png
from trimtab.coding.mcp.results import Reader
from trimtab.coding.tools.capture import PrivateFolder
from trimtab.types.messages import Image, Text

PICTURE = {"type": "image", "data": base64.b64encode(png()).decode(), "mimeType": "image/png"}
SOUND = {"type": "audio", "data": base64.b64encode(b"la").decode(), "mimeType": "audio/wav"}


def said(*messages: object, folder: Path, images: bool = True) -> tuple[Text | Image, ...]:
    """The parts of a prompt with these messages."""
    return Reader(PrivateFolder(folder), images=images).prompt({"messages": list(messages)})  # type: ignore[return-value]


def user(content: object, role: str = "user") -> dict[str, object]:
    """A message."""
    return {"role": role, "content": content}


def test_a_picture_goes_along_and_a_sound_is_kept_and_named(tmp_path: Path) -> None:
    text, picture = said(user({"type": "text", "text": "what is it?"}), user([PICTURE, SOUND]), folder=tmp_path)
    assert isinstance(picture, Image)
    assert (picture.media_type, picture.width, picture.height) == ("image/png", 3, 2)
    assert isinstance(text, Text)
    assert text.text.startswith("what is it?\n\n[a sound (audio/wav, 2 bytes): kept in ")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [b"la"]


def test_for_a_model_that_sees_nothing_a_picture_is_kept_and_named(tmp_path: Path) -> None:
    (text,) = said(user(PICTURE), folder=tmp_path, images=False)
    assert isinstance(text, Text)
    assert text.text.startswith("[a picture (image/png, 3 × 2, ")
    assert [file.read_bytes() for file in tmp_path.iterdir()] == [png()]


def test_what_the_assistant_is_to_have_said_is_marked(tmp_path: Path) -> None:
    file = {"type": "resource", "resource": {"uri": "note://1", "text": "milk"}}
    parts = said(user(file), user({"type": "text", "text": "I see"}, "assistant"), folder=tmp_path)
    assert parts == (Text("[resource note://1]\nmilk\n\n(assistant) I see"),)


def test_a_prompt_that_holds_nothing_is_none(tmp_path: Path) -> None:
    assert said(user({"type": "text", "text": " \n"}), "x", user(None), {}, folder=tmp_path) == ()


@given(
    st.recursive(
        st.none() | st.text(max_size=9) | st.integers(),
        lambda v: (
            st.lists(v)
            | st.dictionaries(st.sampled_from(["role", "content", "type", "text", "resource", "messages", "data"]), v)
        ),
    )
)
def test_whatever_a_server_gives_nothing_raises(value: object) -> None:
    for result in ({"messages": value}, {"messages": [value]}, {"messages": [{"content": value}]}):
        Reader(PrivateFolder(None)).prompt(result)
