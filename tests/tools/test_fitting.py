"""Pictures that are too large, or of a kind that models don't take, are made to fit; what can't be is said."""

import base64
import io
import struct
import sys
import warnings
import zlib
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from trimtab.coding.tools.caps import Caps
from trimtab.coding.tools.failures import ToolFailure
from trimtab.coding.tools.fitting import MOST_BYTES, NoFit, fitted
from trimtab.coding.tools.images import BadImage, examine
from trimtab.coding.tools.read import read_file
from trimtab.types.messages import Image, Text

Pillow = pytest.importorskip("PIL.Image", reason="the extra `images` isn't installed")
SMALL = Caps(image_bytes=40_000, image_pixels_a_side=300)


def picture(width: int = 400, height: int = 100, kind: str = "PNG", mode: str = "RGB", **more: Any) -> bytes:
    noise = Pillow.effect_noise((width, height), 80).convert(mode)
    out = io.BytesIO()
    noise.save(out, kind, **more)
    return out.getvalue()


def bomb(side: int) -> bytes:
    """A PNG of a few kilobytes that says it has `side` × `side` pixels."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 1_000)) + chunk(b"IEND", b"")
    )


def test_a_picture_that_fits_is_sent_byte_for_byte() -> None:
    data = picture(200, 60)
    found = fitted(data, SMALL)
    assert found.data is data
    assert (found.info.width, found.note) == (200, "")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_one_that_is_too_large_is_made_smaller_in_its_proportions(kind: str) -> None:
    found = fitted(picture(kind=kind), SMALL)
    assert examine(found.data) == found.info
    assert (found.info.width, found.info.height) == (300, 75)
    assert len(found.data) <= SMALL.image_bytes
    assert found.note.startswith(f"sent as {found.info.media_type}, 300x75, ")


def test_what_is_exact_stays_a_png_where_that_is_small_enough_and_a_photograph_becomes_a_jpeg() -> None:
    plain = Pillow.new("RGB", (4_000, 10), "navy")
    out = io.BytesIO()
    plain.save(out, "PNG")
    assert fitted(out.getvalue(), SMALL).info.media_type == "image/png"
    assert fitted(picture(kind="JPEG"), SMALL).info.media_type == "image/jpeg"
    assert fitted(picture(400, 400), Caps(image_bytes=20_000)).info.media_type == "image/jpeg"


def test_what_the_library_thinks_of_odd_bytes_is_said_to_nobody() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fitted(picture(), SMALL)
        warnings.warn_explicit("Corrupt EXIF data", UserWarning, "PIL/x.py", 1, module="PIL.TiffImagePlugin")
    assert told == []


def test_a_picture_stands_as_its_camera_was_held() -> None:
    exif = Pillow.Exif()
    exif[0x0112] = 6
    found = fitted(picture(kind="JPEG", exif=exif), SMALL)
    assert (found.info.width, found.info.height) == (75, 300)


def test_what_was_clear_stays_clear_or_turns_white() -> None:
    for caps, media_type in ((SMALL, "image/png"), (Caps(image_bytes=1_500, image_pixels_a_side=300), "image/jpeg")):
        clear = Pillow.effect_noise((400, 100), 80).convert("RGBA")
        clear.putalpha(0 if media_type == "image/png" else 128)
        out = io.BytesIO()
        clear.save(out, "PNG")
        found = fitted(out.getvalue(), caps)
        assert found.info.media_type == media_type


def test_of_a_moving_picture_the_first_frame_is_sent_and_that_is_said() -> None:
    frames = [Pillow.effect_noise((400, 100), 10 * n) for n in range(1, 4)]
    out = io.BytesIO()
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    assert "the first of 3 frames" in fitted(out.getvalue(), SMALL).note


@pytest.mark.parametrize(
    ("data", "problem", "words"),
    [
        (bomb(30_000), NoFit, "more than 40,000,000 pixels"),
        (b"BM" + bytes(60), BadImage, "can't be decoded"),
        (b"II*\0" + bytes(60), BadImage, "can't be decoded"),
        (picture(kind="BMP")[:5_000], BadImage, "can't be decoded"),
        (b"\xff\xd8\xff\xd9", BadImage, "too early"),
        (b"no picture at all", BadImage, "no picture of a known kind"),
        (b"", BadImage, "no picture of a known kind"),
        (b"BM" + bytes(MOST_BYTES), NoFit, "isn't made smaller here"),
    ],
)
def test_what_cannot_be_made_to_fit_is_refused_before_it_is_unpacked(
    data: bytes, problem: type[Exception], words: str
) -> None:
    with pytest.raises(problem, match=words):
        fitted(data, SMALL)


def test_without_the_extra_the_refusal_says_how_it_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    large, foreign, small = picture(), picture(kind="BMP"), picture(100, 100)
    monkeypatch.setitem(sys.modules, "PIL", None)
    for data in (large, foreign):
        with pytest.raises(NoFit, match=r"pip install .*images"):
            fitted(data, SMALL)
    assert fitted(small, SMALL).note == ""


def test_a_tool_and_an_attachment_show_the_smaller_one_and_say_so(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(400, 100))
    output = read_file(tmp_path / "a.png", "a.png", caps=SMALL, images=True)
    text, image = output.parts
    assert isinstance(text, Text)
    assert isinstance(image, Image)
    assert text.text.startswith("a.png: sent as image/")
    assert "it was 400x100" in text.text
    assert examine(base64.b64decode(image.data)).width == image.width == 300
    with pytest.raises(ToolFailure, match="can't see images"):
        read_file(tmp_path / "a.png", "a.png", caps=SMALL, images=False)


def test_a_picture_of_a_kind_that_models_do_not_take_is_attached_as_one_that_they_do(tmp_path: Path) -> None:
    cli = Cli.at(tmp_path)
    (cli.project / "a.bmp").write_bytes(picture(40, 10, kind="BMP"))
    model = cli.script({"text": "seen"})
    assert cli.inside("-p", "look @a.bmp", "--model", model).code == 0
    line = next(line for line in cli.sessions[0].read_text().splitlines() if '"image"' in line)
    assert '"media_type":"image/png"' in line
