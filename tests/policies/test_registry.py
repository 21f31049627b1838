"""Policies by name, with parameters, wrappers and plug-ins."""

from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from support.observations import Fixed
from trimtab.context.policies.mask import Mask
from trimtab.context.policies.peer_table import PEERS
from trimtab.context.policies.registry import GROUP, files_named, find_policy
from trimtab.context.policies.rules import Rules
from trimtab.context.policies.wrappers import CostGate, DryRun
from trimtab.types.errors import UsageError


def test_a_name_may_carry_parameters_and_wrappers():
    assert find_policy("rules") == Rules()
    assert find_policy(" mask( keep = 3 ,batch=1)") == Mask(keep=3, batch=1)
    assert find_policy("dry-run:cost-gate(remaining=40):mask", keep=7) == DryRun(CostGate(Mask(keep=7), remaining=40.0))


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("nope", "there is no policy 'nope'"),
        ("mask(kept=3)", "no parameter kept"),
        ("mask(keep='many')", "bad parameter of policy 'mask'"),
        ("mask(3)", "bad parameters"),
        ("mask(keep=open('x'))", "bad parameters"),
        ("mask(", "names no policy"),
        ("", "names no policy"),
        ("rules:mask", "'rules' is no wrapper"),
        ("codex(keep=1)", "no parameter keep"),
        ("rules(name='x')", "no parameter name"),
    ],
)
def test_a_bad_name_is_told_in_words(spec: str, said: str):
    with pytest.raises(UsageError, match=said.replace("(", r"\(")) as raised:
        find_policy(spec)
    assert "\n" not in raised.value.message


@pytest.mark.parametrize("wrong", ["nope", "nope:rules"])
def test_every_policy_and_wrapper_that_a_hint_names_can_be_made_by_its_name(wrong: str):
    with pytest.raises(UsageError) as raised:
        find_policy(wrong)
    names = str(raised.value.hint).partition(": ")[2].rstrip(".").split(", ")
    assert len(set(names)) == len(names) > 4
    for name in names:
        assert find_policy(name + wrong.removeprefix("nope")).name


def test_every_peer_says_where_its_figures_come_from():
    for row in PEERS:
        assert row.source
        assert row.date
        assert find_policy(row.name) == row.peer


def _point(monkeypatch: pytest.MonkeyPatch, load: Any) -> None:
    class Point:
        name, value = "theirs", "their.module:make"

        def load(self) -> Any:
            return load()

    def entry_points(*, group: str) -> list[Point]:
        assert group == GROUP
        return [Point()]

    monkeypatch.setattr(metadata, "entry_points", entry_points)


def test_a_policy_of_an_installed_package_is_found(monkeypatch: pytest.MonkeyPatch):
    _point(monkeypatch, lambda: lambda size=1: Fixed((), name=f"theirs-{size}"))
    assert find_policy("theirs(size=4)").name == "theirs-4"
    with pytest.raises(UsageError, match="no policy 'other'") as raised:
        find_policy("other")
    assert "theirs" in raised.value.hint


def _broken_import() -> Any:
    raise ImportError("no module named 'gone'")


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (_broken_import, "ImportError: no module named 'gone'"),
        (lambda: 7, "TypeError"),
        (lambda: lambda: 1 / 0, "ZeroDivisionError"),
        (lambda: lambda: "no policy", "has no name and decide"),
    ],
)
def test_a_broken_plug_in_is_told_in_words(monkeypatch: pytest.MonkeyPatch, load: Any, said: str):
    _point(monkeypatch, load)
    with pytest.raises(UsageError, match=said):
        find_policy("theirs")


def test_installed_packages_are_not_searched_for_names_of_ours(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(metadata, "entry_points", lambda **_: pytest.fail("searched"))
    assert find_policy("codex").name == "codex"


def test_the_files_that_a_policy_names_are_found_as_they_are_read_however_they_are_written(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    for name in ("w.json", "it's.json"):
        (tmp_path / name).write_text("{}")
    plain, quoted = Path("w.json"), Path("it's.json")
    for spec, files in {
        'learned(weights="w.json")': (plain,),
        "learned(weights='w.json')": (plain,),
        'cost-gate(remaining=4):learned(weights="w.json", margin=0.1)': (plain,),
        'learned(weights="it\'s.json")': (quoted,),
        "learned(weights='it\\'s.json')": (quoted,),
        'learned(weights="\\x77.json")': (plain,),
        'learned(weights="w" ".json")': (plain,),
        'learned(weights="~/w.json")': (tmp_path / "w.json",),
        """shadow(policy='learned(weights="w.json")'):learned(weights="it's.json")""": (plain, quoted),
        "learned(weights='no.json')": (),
        f"learned(weights='{'a' * 5_000}')": (),
        'learned(weights="\\0")': (),
        "learned": (),
        "mask(keep=10, batch=1)": (),
    }.items():
        assert files_named(spec) == files, spec


def test_more_wrappers_than_anybody_means_are_refused():
    with pytest.raises(UsageError, match="3,000 wrappers stand in front of a policy"):
        find_policy("cost-gate:" * 3_000 + "mask")
