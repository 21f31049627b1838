"""Where a check runs when it can't run in the project."""

from pathlib import Path

import pytest

from trimtab.coding.verify.place import Place


def copy_of(place: Place, tmp_path: Path) -> Place:
    (tmp_path / "copy").mkdir()
    return place.copied_to(tmp_path / "copy", left_out=lambda path: path.endswith("left-out"))


@pytest.fixture
def place(tmp_path: Path) -> Place:
    root = tmp_path / "my repo"
    (root / "pkg").mkdir(parents=True)
    (root / "lib").mkdir()
    (root / "lib/data").write_text("data")
    (root / "pkg/left-out").write_text("x")
    return Place(root, root / "pkg", (str(tmp_path / "linked/pkg"),))


def test_the_whole_repository_is_there_and_one_stands_where_one_stood(place: Place, tmp_path: Path) -> None:
    copy = copy_of(place, tmp_path)
    assert (copy.cwd / "../lib/data").read_text() == "data"
    assert copy.cwd == copy.root / "pkg"
    assert not (copy.cwd / "left-out").exists()


def test_links_lead_into_the_copy_or_out_of_the_project_never_back(place: Place, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside")
    (place.cwd / "absolute").symlink_to(place.root / "lib/data")
    (place.cwd / "relative").symlink_to("../lib/data")
    (place.cwd / "out").symlink_to("../../outside")
    (place.cwd / "folder").symlink_to(place.root / "lib")
    copy = copy_of(place, tmp_path)
    (copy.root / "lib/data").write_text("of the copy")
    read = {name: (copy.cwd / name).read_text() for name in ("absolute", "relative", "folder/data", "out")}
    assert read == {
        "absolute": "of the copy",
        "relative": "of the copy",
        "folder/data": "of the copy",
        "out": "outside",
    }


def test_a_copy_that_lies_in_the_project_does_not_hold_itself(place: Place) -> None:
    inside = place.root / "tmp"
    inside.mkdir()
    copy = place.copied_to(inside, left_out=lambda _path: False)
    assert not list((copy.root / "tmp").iterdir()) if (copy.root / "tmp").exists() else True


@pytest.mark.parametrize(
    ("command", "moved"),
    [
        ("python3 '{root}/pkg/t.py'", "python3 '{copy}/pkg/t.py'"),
        ("cd '{root}' && make", "cd '{copy}' && make"),
        ("X={linked}/t.py sh t", "X={copy_pkg}/t.py sh t"),
        ("cat '{root}-other/x' /mnt'{root}'", None),
        ("make", "make"),
    ],
)
def test_a_command_that_names_the_project_means_the_copy(
    place: Place, tmp_path: Path, command: str, moved: str | None
) -> None:
    copy = copy_of(place, tmp_path)
    names = {"root": place.root, "linked": place.names[0], "copy": copy.root, "copy_pkg": copy.cwd}
    given = command.format(**names)
    assert place.command_in(copy, given) == (given if moved is None else moved.format(**names)).replace(
        f"/mnt'{place.root}'", f"/mnt'{copy.root}'"
    )


def test_a_path_with_escapes_is_read_too_and_one_that_is_glued_to_a_word_is_told(place: Place, tmp_path: Path) -> None:
    copy = copy_of(place, tmp_path)
    escaped = str(place.root).replace(" ", "\\ ")
    assert place.command_in(copy, f"cat {escaped}/lib/data") == f"cat {copy.root}/lib/data".replace(
        "my repo", "my\\ repo"
    )
    glued = place.command_in(copy, f"cc -I'{place.root}/lib' -L{escaped}/lib")
    assert place.still_names(copy, glued)
    assert not place.still_names(copy, place.command_in(copy, f"cat '{place.root}/lib/data'"))
