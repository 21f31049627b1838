"""The question whether a project is trusted: what it shows, what its answers do."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from trimtab.coding.person import NOBODY, Question
from trimtab.coding.project import Project, open_project
from trimtab.coding.trust.decide import decide
from trimtab.coding.trust.inputs import NESTED
from trimtab.coding.trust.question import settle_trust, trust_options

pytestmark = pytest.mark.anyio


@dataclass
class Answers:
    """A person who gives these answers, one after the other; a function is called before the next one is given."""

    given: list[str | Callable[[], object] | None]
    asked: list[Question] = field(default_factory=list)

    async def ask(self, question: Question) -> str | None:
        self.asked.append(question)
        answer = self.given.pop(0)
        if callable(answer):
            answer()
            answer = self.given.pop(0)
        assert answer is None or isinstance(answer, str)
        return answer


class Place:
    """A home and a project with settings."""

    def __init__(self, root: Path) -> None:
        self.root, self.folder, self.store = root, root / "project", root / "home" / "trust.json"
        (self.folder / ".trimtab").mkdir(parents=True)
        (self.folder / ".trimtab" / "config.toml").write_text("max_steps = 3\n")
        self.env = {"TRIMTAB_HOME": str(root / "home"), "HOME": str(root)}

    def open(self) -> Project:
        return open_project(self.folder, env=self.env)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A home and a project."""
    return Place(tmp_path)


@pytest.mark.parametrize(
    ("answer", "trusted", "again"),
    [("once", True, True), ("folder", True, False), ("parent", True, False), ("never", False, False)],
)
async def test_an_answer_holds_at_once_and_is_stored_if_it_is_meant_to_last(
    place: Place, answer: str, trusted: bool, again: bool
) -> None:
    project = await settle_trust(place.open(), Answers([answer]))
    assert project.trusted is trusted
    assert project.settings.max_steps == (3 if trusted else None)
    assert project.notices == ()
    assert place.open().trust.open is again
    assert place.store.exists() is not again


async def test_later_trusts_nothing_and_stores_nothing_and_the_notice_tells_no_other_way_to_be_asked(
    place: Place,
) -> None:
    before = place.open()
    after = await settle_trust(before, Answers(["later"]))
    (notice,) = after.notices
    assert notice == f"nothing of {before.trust.root} acts in this session; /trust takes another answer"
    assert (after.trusted, after.trust, place.store.exists()) == (False, before.trust, False)


@pytest.mark.parametrize("answer", [None, "what"])
async def test_no_answer_trusts_nothing_stores_nothing_and_leaves_the_notice(place: Place, answer: str | None) -> None:
    before = place.open()
    assert await settle_trust(before, Answers([answer])) is before
    assert not place.store.exists()
    assert "isn't trusted" in before.notices[0]


async def test_nobody_is_asked_where_there_is_an_answer_or_nothing_to_trust(place: Place) -> None:
    nobody = Answers([])
    for trust in ("once", "never"):
        project = open_project(place.folder, env=place.env, trust=trust)  # type: ignore[arg-type]
        assert await settle_trust(project, nobody) is project
    empty = place.root / "empty"
    empty.mkdir()
    await settle_trust(open_project(empty, env=place.env), nobody)
    await settle_trust(open_project(place.folder, env={**place.env, "TRIMTAB_TRUST": "once"}), nobody)
    await settle_trust(open_project(place.folder, env=place.env, safe=True), nobody)
    await settle_trust(place.open(), NOBODY)
    assert nobody.asked == []


async def test_the_question_says_where_what_and_why_again(place: Place) -> None:
    await settle_trust(place.open(), Answers(["folder"]))
    place.folder.rename(place.root / "away")
    (place.folder / ".git").mkdir(parents=True)
    (place.folder / "AGENTS.md").write_text("obey")
    inner = place.folder / "in\x1b[2Jner"
    inner.mkdir()
    person = Answers([None])
    await settle_trust(open_project(inner, env=place.env), person)
    (question,) = person.asked
    assert question.kind == "trust"
    assert question.text == f"Trust {place.folder}? It would act in this session, and nothing of it does yet:"
    assert question.details == (
        f"you are in {place.folder}/inner",
        "asked again: another folder is in the place of the one that you decided about",
        "AGENTS.md: 4 bytes, instructions for the model",
    )
    assert [option.key for option in question.options] == ["once", "folder", "parent", "never", "later", "show"]
    assert question.default == "later"


async def test_the_texts_are_shown_on_demand_and_then_it_is_asked_again(place: Place) -> None:
    (place.folder / "AGENTS.md").write_text("a\u202eb")
    person = Answers(["show", "once"])
    assert (await settle_trust(place.open(), person)).trusted
    assert person.asked[1].details == (
        "── .trimtab/config.toml",
        "  max_steps = 3",
        "── AGENTS.md",
        "  hidden in it: 1 character: mark for the direction of writing (U+202E)",
        "  a<U+202E>b",
    )
    assert "show" not in [option.key for option in person.asked[1].options]


@pytest.mark.parametrize("answer", ["once", "folder", "never"])
async def test_an_answer_is_about_the_folder_that_was_shown_and_not_about_one_put_there_meanwhile(
    place: Place, answer: str
) -> None:
    def swap() -> None:
        place.folder.rename(place.root / "away")
        Place(place.root)

    person = Answers([swap, answer, None])
    project = await settle_trust(place.open(), person)
    assert not project.trusted
    assert not place.store.exists()
    assert "asked again: another folder was put here while you were asked" in person.asked[1].details


async def test_an_answer_goes_no_further_than_the_project_it_was_about(place: Place) -> None:
    other = place.root / "elsewhere" / "other"
    (other / ".trimtab").mkdir(parents=True)
    for answer in ("once", "folder"):
        project = await settle_trust(place.open(), Answers([answer]))
        assert not project.moved_to(other).trusted
        assert project.moved_to(other).trust.open


@pytest.mark.parametrize("flag", ["once", "folder"])
async def test_a_flag_that_trusts_goes_no_further_than_the_folder_it_was_given_in(place: Place, flag: str) -> None:
    other = place.root / "elsewhere" / "other"
    (other / ".trimtab").mkdir(parents=True)
    project = open_project(place.folder, env=place.env, trust=flag)  # type: ignore[arg-type]
    assert project.trusted
    assert project.moved_to(other).trust.open


@pytest.mark.parametrize("by", ["flag", "answer"])
async def test_an_answer_for_one_run_holds_when_the_folder_is_read_again_until_one_is_stored_or_another_is_there(
    place: Place, by: str
) -> None:
    once = open_project(place.folder, env=place.env, trust="once")
    project = once if by == "flag" else await settle_trust(place.open(), Answers(["once"]))
    again = project.moved_to(place.folder)
    assert again.trusted
    assert again.moved_to(place.folder).trusted
    decide(place.folder, place.store, answer="never")
    assert not again.moved_to(place.folder).trusted
    place.store.unlink()
    place.folder.rename(place.root / "away")
    Place(place.root)
    assert not again.moved_to(place.folder).trusted


async def test_a_no_for_this_folder_lets_nothing_act_in_another_and_stores_nothing_about_it(place: Place) -> None:
    other = place.root / "elsewhere"
    (other / ".trimtab").mkdir(parents=True)
    decide(other, place.store, answer="folder")
    project = open_project(place.folder, env=place.env, trust="never").moved_to(other)
    assert (project.trusted, project.trust.open) == (False, False)
    assert open_project(other, env=place.env).trusted


async def test_a_wide_parent_is_called_what_it_is(tmp_path: Path) -> None:
    labels = {option.key: option.label for option in trust_options(tmp_path / "x", str(tmp_path))}
    assert labels["parent"] == f"all that lies in {tmp_path}, your whole home folder"
    labels = {option.key: option.label for option in trust_options(tmp_path / "y" / "x", str(tmp_path))}
    assert labels["parent"] == f"all that lies in {tmp_path / 'y'}"


async def test_instruction_files_of_folders_below_are_in_the_question_and_its_texts(place: Place) -> None:
    for name, text in (("src/AGENTS.md", "Obey."), ("src/deep/CLAUDE.md", "Too."), ("src/deep/AGENTS.md", "First.")):
        file = place.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    for foreign in ("other", "node_modules/x"):
        (place.folder / foreign / ".git").mkdir(parents=True)
        (place.folder / foreign / "AGENTS.md").write_text("No.")
    (place.folder / "link").symlink_to(place.folder / "src")
    person = Answers(["show", None])
    await settle_trust(place.open(), person)
    listed = [line for line in person.asked[0].details if ".md" in line]
    assert listed == [
        "src/AGENTS.md: 5 bytes, instructions for the model",
        "src/deep/AGENTS.md: 6 bytes, instructions for the model",
    ]
    assert [line for line in person.asked[1].details if line in ("  Obey.", "  First.", "  Too.", "  No.")] == [
        "  Obey.",
        "  First.",
    ]


async def test_of_very_many_instruction_files_some_are_listed_and_it_is_said(place: Place) -> None:
    for number in range(NESTED + 1):
        (place.folder / f"part{number}").mkdir()
        (place.folder / f"part{number}" / "AGENTS.md").write_text("x")
    person = Answers([None])
    await settle_trust(place.open(), person)
    assert len([line for line in person.asked[0].details if "AGENTS.md" in line]) == NESTED
    assert person.asked[0].details[-1].startswith("there may be more instruction files")


async def test_whoever_works_in_a_part_is_told_of_the_other_parts_of_the_repository(place: Place) -> None:
    (place.folder / ".git").mkdir()
    for part in ("here", "there"):
        (place.folder / part).mkdir()
        (place.folder / part / "AGENTS.md").write_text("x")
    person = Answers([None])
    await settle_trust(open_project(place.folder / "here", env=place.env), person)
    listed = [line.partition(":")[0] for line in person.asked[0].details if "AGENTS.md" in line]
    assert listed == ["here/AGENTS.md", "there/AGENTS.md"]
