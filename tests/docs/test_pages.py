"""Links lead somewhere, decisions name what they govern, and the short pages stay short."""

import re
from pathlib import Path

import pytest

from support.pages import ROOT, anchors, links, pages

PAGES = pages()
WHY = [p for p in PAGES if p.parent.name in ("adr", "dev")]
DECISIONS = sorted((ROOT / "docs" / "adr").glob("*.md"))


def named(items):
    return [str(item.relative_to(ROOT)) for item in items]


@pytest.mark.parametrize("page", PAGES, ids=named(PAGES))
def test_links_between_files_lead_somewhere(page):
    for link in links(page):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), link
        if anchor:
            assert anchor in anchors(target), link


def test_every_page_can_be_reached_from_the_readme():
    seen, todo = set(), [ROOT / "README.md"]
    while todo:
        here = todo.pop()
        if here in seen or not here.is_file():
            continue
        seen.add(here)
        if here.suffix == ".md":
            todo += [(here.parent / link.partition("#")[0]).resolve() for link in links(here) if ":" not in link]
    assert named([page for page in PAGES if page not in seen]) == []


@pytest.mark.parametrize("page", WHY, ids=named(WHY))
def test_a_page_of_reasons_names_existing_files_that_it_governs(page):
    line = re.search(r"^Governs: (.+)$", page.read_text("utf-8"), re.M)
    assert line is not None
    paths = re.findall(r"`([^`]+)`", line[1])
    assert paths
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.mark.parametrize("page", DECISIONS, ids=named(DECISIONS))
def test_a_decision_has_context_decision_consequences_and_a_way_to_be_wrong(page):
    text = page.read_text("utf-8")
    number = page.name.split("-")[0]
    assert text.startswith(f"# {number} ")
    for part in ("**Context.**", "**Decision.**", "**Consequences.**", "**We would be wrong if**"):
        assert text.count(part) == 1, part
    assert len(text.splitlines()) <= 60


def test_the_doors_to_foreign_code_are_the_files_that_their_decision_names():
    page = next((ROOT / "docs" / "adr").glob("0006-*.md")).read_text("utf-8")
    named_files = set(re.findall(r"`([^`]+\.py)`", page.split("**Context.**")[0]))
    sources = (ROOT / "src").rglob("*.py")
    assert {str(p.relative_to(ROOT)) for p in sources if "noqa: BLE001" in p.read_text("utf-8")} == named_files


def test_decisions_are_numbered_without_gaps():
    numbers = [int(page.name.split("-")[0]) for page in DECISIONS]
    assert numbers == list(range(1, len(numbers) + 1))


def test_the_page_for_agents_fits_on_a_screen_and_a_half():
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 80


def test_what_is_not_released_yet_has_its_heading():
    text = (ROOT / "CHANGELOG.md").read_text()
    assert re.search(r"^## Unreleased$", text, re.M)


def test_how_pages_and_why_pages_stay_apart():
    how = [p for p in PAGES if p not in WHY and p.parent == ROOT / "docs"]
    assert [p.name for p in how if re.search(r"^\*\*(Context|Decision)\.\*\*", p.read_text("utf-8"), re.M)] == []


def test_the_readme_says_what_for_whom_and_two_commands_on_its_first_screen():
    screen = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:24])
    assert "coding agent for the terminal" in screen
    assert "It is for " in screen
    assert re.findall(r"^\$ (make [a-z]+)", screen, re.M)[:2] == ["make demo", "make check"]


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "AGENTS.md"], ids=lambda page: page.name)
def test_no_page_speaks_of_what_is_not_there(page):
    words = re.compile(
        r"\b(TODO|TBD|[Cc]oming soon|[Rr]oadmap|[Pp]lanned|[Nn]ot (yet )?implemented|in a later version)\b"
    )
    assert [line for line in lines(page) if words.search(line)] == []


def test_pages_have_no_line_with_a_tab_or_trailing_blank():
    bad = [
        f"{p.name}:{n}" for p in PAGES for n, line in enumerate(lines(p), 1) if "\t" in line or line != line.rstrip()
    ]
    assert bad == []


def lines(page: Path) -> list[str]:
    return page.read_text("utf-8").splitlines()


def test_a_name_that_the_walk_gives_stands_in_the_file_it_links():
    """`[file](path): `name`, `name`` in reading.md."""
    page = ROOT / "docs" / "reading.md"
    found = 0
    for target, rest in re.findall(r"\]\(([^()]+\.py)\)([^\[\n]*)", page.read_text("utf-8")):
        source = (page.parent / target).read_text("utf-8")
        for name in re.findall(r"`([A-Za-z_.]+)`", rest):
            found += 1
            assert all(re.search(rf"\b{part}\b", source) for part in name.split(".")), (target, name)
    assert found > 30
