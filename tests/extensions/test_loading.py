"""What extensions there are, what of them is loaded, and what is left out in words."""

import sys
from pathlib import Path

import pytest

from support.agent_fakes import ends, says
from support.extended import Answers, talk
from support.instructed import Place
from trimtab.coding.extensions import load as load_module

pytestmark = pytest.mark.anyio

TOOL = 'def extend(api):\n    api.tool("{name}", "d", lambda arguments, here: "out")\n'


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home and a project."""
    return Place(tmp_path)


def loaded(talking) -> list[str]:
    """The names of what was loaded."""
    return [one.name for one in talking.session.extensions.loaded]


async def test_files_and_packages_of_the_person_are_loaded_with_their_own_modules(place: Place) -> None:
    place.write("home/extensions/one.py", "API = 1\n" + TOOL.format(name="one"))
    place.write("home/extensions/two/__init__.py", "from .sub import name\nfrom .deep.er import extend\nAPI = 1\n")
    place.write("home/extensions/two/sub.py", "name = 'two'\n")
    place.write("home/extensions/two/deep/er.py", "from ..sub import name\n" + TOOL.format(name="two"))
    place.write("home/extensions/two/deep/__init__.py")
    place.write("home/extensions/notes/README.md", "no extension")
    async with talk(place, person=Answers()) as talking:
        assert loaded(talking) == ["one", "two"]
        assert [name for name in sys.modules if "_trimtab_extension_" in name and name.endswith(".deep.er")]
        assert {"one__one", "two__two"} <= {tool.spec.name for tool in talking.session.agent.tools}
        assert talking.notices == []
    assert not [name for name in sys.modules if "_trimtab_extension_" in name]


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("import sys; sys.exit(3)", "SystemExit: 3"),
        ("def extend(api:", "SyntaxError: '(' was never closed"),
        ("API = 1\ndef extend(api):\n    raise ValueError('x\\n\\x1b[31my')", "ValueError: x"),
        ("API = 1\ndef extend(api):\n    api.tool('a b', 'd', print)", "'a b' can't be a name among tools"),
        ("API = 1\ndef extend(api):\n    api.tool('a', 'd', print)\n    api.tool('a', 'd', print)", "'a' is taken"),
        ("API = 1\ndef extend(api):\n    api.tool('a' * 62, 'd', print)", "is longer than 64 signs"),
        ("API = 1\ndef extend(api):\n    api.command('undo', print)", "'undo' is taken among commands"),
        ("API = 1\ndef extend(api):\n    api.command('Bad name', print)", "'Bad name' can't be a name among commands"),
        ("API = 1\ndef extend(api):\n    api.policy('rules', print)", "'rules' is taken among policies"),
        (
            "API = 1\ndef extend(api):\n    api.provider('openai', print, models=[])",
            "'openai' is taken among providers",
        ),
        ("API = 1\ndef extend(api):\n    api.on_tool_call(print, match='a(')", "'a(' is not a permission rule"),
        ("API = 1\ndef extend(api):\n    api.on_event('no')", "the hook at event is no function"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt"),
        ("API = 1\ndef extend(api):\n    api.tool('a', 5, print)", "the tool 'a' has a int where a text belongs"),
        ("API = 1\ndef extend(api):\n    api.tool('a', 'd', 'no')", "the tool 'a' has no function"),
        ("API = 1\ndef extend(api):\n    api.tool('a', 'd', print, parameters={'x': object()})", "are no JSON"),
        ("API = 1\ndef extend(api):\n    api.tool('a', 'd', print, parameters={'type': 'string'})", "are no object"),
        ("API = 1\ndef extend(api):\n    api.command('a', 7)", "the command 'a' has no function"),
        ("API = 1\ndef extend(api):\n    api.command('a', print, help=7)", "the command 'a' has a int where a text"),
        ("API = 1\ndef extend(api):\n    api.policy('a', 7)", "the policy 'a' has no function"),
        ("API = 1\ndef extend(api):\n    api.provider('a', print, models=[1])", "the provider 'a' has no model"),
        ("API = 1\ndef extend(api):\n    api.section('a', 7)", "the section 'a' has a int where a text belongs"),
        (
            "from trimtab.extend import Renderer\nAPI = 1\ndef extend(api):\n    api.renderer(Renderer('a', 'b', 'c'))",
            "no body is 'c'. Bodies: text, markdown, diff, json, none.",
        ),
        ("def extend(api): pass", "it has no API"),
        ("API = 1", "it has no extend(api)"),
        ("API = 2\ndef extend(api): pass", "it was written for API 2, and this Trimtab has 1: update Trimtab"),
        (
            "API = 0\ndef extend(api): pass",
            "it was written for API 0, and this Trimtab has 1: look for a newer version",
        ),
        ("API = 'x'\ndef extend(api): pass", "it was written for API 'x'"),
    ],
)
async def test_what_cannot_be_loaded_is_left_out_in_words_and_the_session_opens(
    place: Place, code: str, why: str
) -> None:
    place.write("home/extensions/bad.py", code)
    place.write("home/extensions/good.py", "API = 1\n" + TOOL.format(name="good"))
    async with talk(place, says("hello") + ends()) as talking:
        assert loaded(talking) == ["good"]
        (notice,) = talking.notices
        assert notice.startswith("extension bad (")
        assert why in notice
        assert (await talking.session.prompt("hi")).text == "hello"


async def test_of_one_that_fails_half_way_nothing_is_registered(place: Place) -> None:
    command = "API = 1\ndef extend(api):\n    api.command('same', print)\n"
    place.write("home/extensions/half.py", f"{command}    1 / 0\n")
    place.write("home/extensions/other.py", command)
    async with talk(place) as talking:
        assert loaded(talking) == ["other"]


async def test_one_that_hangs_as_it_is_imported_is_left_out(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_module, "LIMIT_S", 0.2)
    place.write("home/extensions/hangs.py", "import threading\nthreading.Event().wait()\n")
    async with talk(place) as talking:
        assert "no answer within 0.2 s" in talking.notices[0]


async def test_the_first_of_two_with_one_name_holds_and_names_off_are_not_loaded(place: Place) -> None:
    place.write("home/extensions/a.py", "API = 1\n" + TOOL.format(name="a"))
    place.write("home/extensions/b.py", "raise SystemError\n")
    place.write("more/a.py", "raise SystemError\n")
    place.write("home/config.toml", f'[extensions]\npaths = ["{place.root}/more", "nowhere.py"]\noff = ["b"]\n')
    async with talk(place) as talking:
        assert loaded(talking) == ["a"]
        said = "\n".join(talking.notices)
        assert "another one has the name a" in said
        assert "extension nowhere" in said
        assert "turned off" not in said
        assert [one.name for one in talking.session.extensions.left_out] == ["b", "a", "nowhere"]


async def test_turned_off_as_a_whole_nothing_is_loaded(place: Place) -> None:
    place.write("home/extensions/a.py", "raise SystemError\n")
    async with talk(place, extensions={"enabled": False}) as talking:
        assert loaded(talking) == []
        assert talking.notices == []


def package(folder: Path, module: str, code: str) -> None:
    """A package as an installer leaves it."""
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / f"{module}.py").write_text(code)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[trimtab.extensions]\nnoted = {module}\n")


async def test_an_installed_package_is_loaded_by_its_entry_point(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    package(place.root / "site", "ext_noted", "API = 1\n" + TOOL.format(name="noted"))
    monkeypatch.syspath_prepend(str(place.root / "site"))
    async with talk(place) as talking:
        (one,) = talking.session.extensions.loaded
        assert (one.name, one.found.whose, one.found.where) == ("noted", "package", "ext_noted 1.0 (ext_noted)")


@pytest.mark.parametrize(
    ("points", "metadata", "why"),
    [
        (b"[trimtab.extensions]\nno entry\n", b"Name: bad\nVersion: 1\n", "its entry points can't be read: TypeError"),
        (b"[trimtab.extensions]\nbad = os\n\xff\x00", b"", "its entry points can't be read: UnicodeDecodeError"),
        (b"[trimtab.extensions]\nbad = :::\n", b"", "extension bad (ext_bad-1.0 (:::)) is left out: its entry point names no"),
        (b"[trimtab.extensions]\nbad = os\n", b"\xff\xfe", "extension bad (ext_bad-1.0 (os)) is left out: it has no API"),
        (b"[trimtab.extensions]\n\x1b[31mbad = os\n", b"", "is left out: its name has other signs"),
        (b"[trimtab.extensions]\nbad = ext_bad\n", b"", "is left out: SystemExit: 7"),
    ],
)  # fmt: skip
async def test_a_damaged_package_is_left_out_in_words_and_the_others_are_loaded(
    place: Place, monkeypatch: pytest.MonkeyPatch, points: bytes, metadata: bytes, why: str
) -> None:
    site = place.root / "site"
    package(site, "ext_bad", "raise SystemExit(7)")
    (site / "ext_bad-1.0.dist-info" / "entry_points.txt").write_bytes(points)
    (site / "ext_bad-1.0.dist-info" / "METADATA").write_bytes(metadata)
    package(site, "ext_noted", "API = 1\n" + TOOL.format(name="noted"))
    monkeypatch.syspath_prepend(str(site))
    async with talk(place) as talking:
        assert loaded(talking) == ["noted"]
        (notice,) = talking.notices
        assert why in notice
        assert "\x1b" not in notice


async def test_what_looks_installed_but_lies_in_the_project_is_not_loaded(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.write("work/.git/HEAD")
    package(place.root / "work" / "lib", "ext_evil", "raise SystemError\n")
    monkeypatch.syspath_prepend(str(place.root / "work" / "lib"))
    for trust in ("never", "once"):
        async with talk(place, trust=trust) as talking:
            assert loaded(talking) == []
            assert "it lies in the project" in talking.notices[-1]


async def test_an_extension_gets_its_settings_and_its_folder(place: Place) -> None:
    place.write(
        "home/extensions/set.py",
        "API = 1\ndef extend(api):\n    api.section('s', f'{api.settings[\"x\"]} {api.folder.name} {api.version}')\n",
    )
    async with talk(place, extensions={"settings": {"set": {"x": [1, 2]}}}) as talking:
        await talking.session.choices.begin_turn()
        assert "[1, 2] extensions 1" in talking.session.agent.system
