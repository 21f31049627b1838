"""Skills by the open specification: what is taken, what is refused, and what a model learns of them."""

import os

import pytest

from support.agent_fakes import tool
from support.instructed import Place, skill
from trimtab.coding.instructions.allowed_tools import grant_of
from trimtab.coding.instructions.skill_index import skill_text
from trimtab.coding.permissions.grants import Grant
from trimtab.coding.permissions.rules import Rule

READ = (tool("read"),)


def test_every_field_of_the_specification_is_read(place: Place) -> None:
    more = 'license: MIT\ncompatibility: needs git\nmetadata:\n  author: me\n  version: "1.0"\nallowed-tools: Bash(git:*) Read\ndisable-model-invocation: true\n'
    place.write("home/skills/pdf/SKILL.md", skill(description="|\n  Fills forms.\n  Use it for PDFs.", more=more))
    found = place.look()[0].found.skills["pdf"]
    assert (found.description, found.license, found.compatibility) == (
        "Fills forms. Use it for PDFs.",
        "MIT",
        "needs git",
    )
    assert (found.metadata, found.allowed_tools) == ((("author", "me"), ("version", "1.0")), "Bash(git:*) Read")
    assert (found.model_may_load, found.whose, found.text) == (False, "user", "Do it so.\n")


def test_the_nearest_place_holds_of_skills_with_one_name(place: Place) -> None:
    (place.cwd / "sub").mkdir(parents=True)
    (place.cwd / ".git").mkdir()
    order = [
        ".agents/skills",
        "home/skills",
        "work/.agents/skills",
        "work/.trimtab/skills",
        "work/sub/.agents/skills",
        "work/sub/.trimtab/skills",
    ]
    for where in order:
        path = place.write(f"{where}/pdf/SKILL.md", skill(description=where))
        assert place.look(cwd="work/sub")[0].found.skills["pdf"].description == where
        assert path.exists()
    assert place.look(cwd="work/sub", trust=None)[0].found.skills["pdf"].description == "home/skills"


@pytest.mark.parametrize(
    ("folder", "text", "why"),
    [
        ("pdf", "no fields", "it has no front matter with name and description"),
        ("pdf", skill("PDF"), "its name 'PDF' is not lower-case letters, digits and single hyphens"),
        ("a--b", skill("a--b"), "its name 'a--b' is not lower-case letters, digits and single hyphens"),
        ("other", skill("pdf"), "its name 'pdf' is not that of its folder, 'other'"),
        ("x" * 65, skill("x" * 65), "its name has 65 characters; 64 are allowed"),
        ("pdf", skill(description=""), "its description is missing"),
        ("pdf", skill(description="x" * 1025), "its description has 1,025 characters; 1,024 are allowed"),
        ("pdf", skill(description="[a, b]"), "its description is no text"),
        ("pdf", skill(more=f"compatibility: {'x' * 501}\n"), "its compatibility has 501 characters; 500 are allowed"),
        ("pdf", "---\nname: pdf\n", "its front matter has no end (a line of three dashes)"),
        ("pdf", "---\nname: pdf\ndescription:\n - a\n b\n---\n", "its front matter is no YAML: "),
    ],
)
def test_a_broken_skill_is_said_with_file_and_reason_and_left_out(
    place: Place, folder: str, text: str, why: str
) -> None:
    path = place.write(f"home/skills/{folder}/SKILL.md", text)
    place.write("home/skills/good/SKILL.md", skill("good"))
    instructions, told = place.look()
    assert list(instructions.found.skills) == ["good"]
    assert len(told) == 1
    assert told[0].startswith(f"{path} is left out: {why}")


def test_a_skill_that_links_out_of_the_project_is_left_out(place: Place) -> None:
    place.write("elsewhere/pdf/SKILL.md", skill())
    (place.cwd / ".agents" / "skills").mkdir(parents=True)
    os.symlink(place.root / "elsewhere" / "pdf", place.cwd / ".agents" / "skills" / "pdf")
    instructions, told = place.look()
    assert instructions.found.skills == {}
    assert "is a link to" in told[0]
    place.home.mkdir()
    os.symlink(place.root / "elsewhere", place.home / "skills")
    assert list(place.look()[0].found.skills) == ["pdf"]


def test_a_bom_and_crlf_are_no_reason_to_leave_a_skill_out(place: Place) -> None:
    place.write("home/skills/pdf/SKILL.md", ("\ufeff" + skill()).replace("\n", "\r\n"))
    assert place.look()[0].found.skills["pdf"].text == "Do it so.\n"


def test_the_model_learns_name_description_and_path_and_only_of_those_that_it_may_load(place: Place) -> None:
    pdf = place.write("home/skills/pdf/SKILL.md", skill())
    place.write("home/skills/own/SKILL.md", skill("own", more="disable-model-invocation: yes\n"))
    instructions, _ = place.look()
    section = next(s for s in instructions.sections(READ, window=200_000) if s.name == "skills")
    assert section.text.splitlines()[1:] == [f"- pdf: Fills forms. ({pdf})"]
    assert all(s.name != "skills" for s in instructions.sections((), window=200_000)), "no tool reads them"


@pytest.mark.parametrize("hidden", ["\U000e0041\U000e0042", "\u202e", "\x1b[8m"], ids=["tags", "direction", "terminal"])
def test_a_skill_that_hides_text_is_loaded_by_a_person_alone(place: Place, hidden: str) -> None:
    path = place.write("home/skills/pdf/SKILL.md", skill(body=f"Fine.{hidden}"))
    instructions, told = place.look()
    (found,) = instructions.found.skills.values()
    assert (found.text, found.model_may_load, len(found.hidden)) == ("Fine.\n", False, 1)
    assert all(s.name != "skills" for s in instructions.sections(READ, window=200_000))
    assert told[0].startswith(f"{path} holds hidden text, which is left out: ")
    assert told[1].startswith(f"{path}: only you can load it (/skill:pdf)")


def test_a_long_list_gets_shorter_descriptions_and_then_says_what_is_left_out(place: Place) -> None:
    for number in range(40):
        place.write(f"home/skills/skill-{number}/SKILL.md", skill(f"skill-{number}", "word " * 200))
    sizes = {}
    for most in (60_000, 16_000, 5_000, 2_000):
        instructions, _ = place.look(instructions={"max_skills_bytes": most})
        section = next(s for s in instructions.sections(READ, window=200_000) if s.name == "skills")
        rows = section.text.splitlines()[1:]
        sizes[most] = (len(rows), len(section.text.encode()) <= most + 300)
        assert "word" in section.text or most <= 5_000
    assert sizes[60_000] == sizes[16_000] == (40, True)
    assert sizes[2_000][0] < 40
    assert rows[-1] == f"- and {41 - len(rows)} more in {place.home}/skills"


def test_a_skill_that_a_person_calls_for_names_its_folder(place: Place) -> None:
    place.write("home/skills/pdf/SKILL.md", skill(body="See references/a.md."))
    said = skill_text(place.look()[0].found.skills["pdf"])
    assert f'folder="{place.home}/skills/pdf"' in said
    assert "See references/a.md.\n</skill>" in said


@pytest.mark.parametrize(
    ("field", "user", "project"),
    [
        ("Bash(git:*) Bash(jq *) Read", ["bash(git)", "bash(jq)", "read"], ["bash(git)", "bash(jq)", "read"]),
        ("[Bash(npm run test:*), Grep]", ["bash(npm run test)", "grep"], ["bash(npm run test)", "grep"]),
        ("Bash", ["bash"], []),
        ("Bash(*) bash(:*) Bash(* *)", ["bash"], []),
        ("Bash(a; rm -rf x) Bash(X=1 y) WebFetch NotebookRead", [], []),
        ("WebFetch(domain:A.org) WebFetch(*) WebFetch(http://b.org/)", ["fetch(a.org)"], ["fetch(a.org)"]),
        ("mcp__files__read Glob", ["mcp__files__read", "find"], ["mcp__files__read", "find"]),
        ("Write(/etc/**) Edit(~/.ssh/**)", [], []),
    ],
)
def test_allowed_tools_become_rules(place: Place, field: str, user: list[str], project: list[str]) -> None:
    place.write("home/skills/a/SKILL.md", skill("a", more=f"allowed-tools: {field}\n"))
    place.write("work/.agents/skills/b/SKILL.md", skill("b", more=f"allowed-tools: {field}\n"))
    skills = place.look()[0].found.skills
    mine, theirs = grant_of(skills["a"]), grant_of(skills["b"])
    assert (_written(mine.rules), mine.project_rules, mine.edits) == (user, (), False)
    assert (theirs.rules, _written(theirs.project_rules), theirs.edits) == ((), project, False)


def test_edits_are_granted_as_such_and_no_path_with_them(place: Place) -> None:
    place.write("work/.agents/skills/b/SKILL.md", skill("b", more="allowed-tools: Edit, Write\n"))
    assert grant_of(place.look()[0].found.skills["b"]) == Grant(edits=True)


def _written(rules: tuple[Rule, ...]) -> list[str]:
    return [f"{rule.tool}({rule.argument})" if rule.argument else rule.tool for rule in rules]
