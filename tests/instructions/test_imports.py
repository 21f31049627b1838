"""What a `CLAUDE.md` imports, files beside it, files of the system prompt, and the places of other agents."""

import os

from hypothesis import given
from hypothesis import strategies as st

from support.instructed import Place, skill
from trimtab.coding.instructions.imports import imports_of


def remarks(place: Place, **more: object) -> list[str]:
    """What a person is told of the instructions of a fresh session, without the folder."""
    return [text.replace(f"{place.root}/", "") for text in place.look(**more)[1]]


def test_imports_are_sources_of_their_own_behind_the_file_that_names_them(place: Place) -> None:
    place.write("work/CLAUDE.md", "See @docs/style.md, and\n- git: @./docs/git.md.\nAsk @alice about @types/node.")
    place.write("work/docs/style.md", "Two blanks. @more/deep.md")
    place.write("work/docs/more/deep.md", "Deep. @../style.md @../../CLAUDE.md")
    place.write("work/docs/git.md", "Small commits.")
    assert place.names() == ["CLAUDE.md", "docs/style.md", "docs/more/deep.md", "docs/git.md"]
    assert remarks(place) == []
    system = place.system()
    assert '<instructions scope="of the project, imported by docs/style.md"' in system
    assert system.count("Two blanks.") == 1
    assert place.names(trust=None) == []


def test_what_stands_in_code_is_no_import_and_an_agents_file_has_none(place: Place) -> None:
    place.write("work/x.md", "imported")
    place.write("work/CLAUDE.md", "`@x.md` and ``a ` @x.md``\n```py\n@x.md\n```\n> ~~~\n@x.md\n~~~\nmail a@x.md\n")
    place.write("work/sub/AGENTS.md", "@x.md is text")
    place.write("work/sub/x.md", "not this")
    assert place.names() == ["CLAUDE.md"]
    assert place.names(cwd="work/sub") == ["AGENTS.md"]


def test_an_import_that_leads_out_of_the_project_is_left_out_and_told(place: Place) -> None:
    place.write("secret.txt", "the secret")
    place.write("work/node_modules/a/README.md", "others")
    (place.cwd / "link.md").symlink_to("../secret.txt")
    place.write(
        "work/CLAUDE.md",
        f"@../secret.txt @link.md @{place.root}/secret.txt @~/secret.txt @node_modules/a/README.md @gone.md",
    )
    assert place.names() == ["CLAUDE.md"]
    assert "the secret" not in place.system()
    told = remarks(place)
    assert [text.partition(" is left out: ")[2] for text in told] == [
        *["outside of the project"] * 4,
        "what others wrote",
        "which isn't there",
    ]
    assert all(text.startswith("work/CLAUDE.md: its import @") for text in told)


def test_the_persons_own_file_may_import_from_anywhere_but_no_keys(place: Place) -> None:
    place.write("home/CLAUDE.md", "@~/notes.md @auth.json")
    place.write("home/auth.json", '{"key": "hidden"}')
    place.write("notes.md", "my notes")
    assert place.names() == ["user:CLAUDE.md", f"user:{place.root}/notes.md"]
    assert "it holds the person's keys" in remarks(place)[0]
    assert "hidden" not in place.system()


def test_imports_end_after_five_hops_and_fifty_files(place: Place) -> None:
    place.write("work/CLAUDE.md", "@f0.md")
    for number in range(7):
        place.write(f"work/f{number}.md", f"@f{number + 1}.md")
    place.write("work/f7.md", "x")
    assert place.names() == ["CLAUDE.md", *(f"f{number}.md" for number in range(5))]
    assert remarks(place) == ["work/f4.md: its import @f5.md is left out: more than 5 imports deep"]
    place.write("work/CLAUDE.md", " ".join(f"@g{number}.md" for number in range(60)))
    for number in range(60):
        place.write(f"work/g{number}.md", "x")
    assert len(place.names()) == 51
    assert "more than 50 imports" in remarks(place)[0]


def test_pictures_pipes_and_folders_are_no_imports(place: Place) -> None:
    place.write("work/p.png", b"\x89PNG\0\0\0")
    place.write("work/docs/x.md", "x")
    os.mkfifo(place.cwd / "pipe.md")
    place.write("work/CLAUDE.md", "@p.png @docs @pipe.md")
    assert place.names() == ["CLAUDE.md"]
    assert len(remarks(place)) == 2


def test_imports_are_the_first_to_be_cut(place: Place) -> None:
    place.write("work/CLAUDE.md", "kept\n" * 100 + "@big.md")
    place.write("work/big.md", "big\n" * 1_000)
    system = place.system(instructions={"max_total_bytes": 600})
    assert system.count("kept\n") == 100
    assert "[cut: " in system


@given(st.text("a@x.md`~\n >\\\"'/", max_size=60))
def test_any_text_has_imports(text: str) -> None:
    assert all(mention.name for mention in imports_of(text))


def test_a_local_file_is_read_beside_and_a_folder_of_claude_instead(place: Place) -> None:
    place.write("work/AGENTS.md", "all")
    place.write("work/CLAUDE.local.md", "mine @x.md")
    place.write("work/x.md", "imported")
    place.write("work/sub/.claude/CLAUDE.md", "of sub")
    assert place.names(cwd="work") == ["AGENTS.md", "CLAUDE.local.md", "x.md"]
    instructions, _ = place.look()
    assert instructions.touched([str(place.cwd / "sub" / "y.py")])
    instructions.refresh()
    assert instructions.found.guidance[-1].name == "sub/.claude/CLAUDE.md"
    assert place.names(instructions={"local_files": []}) == ["AGENTS.md"]


def test_system_files_take_the_place_of_our_words_or_stand_behind_them(place: Place) -> None:
    place.write("home/SYSTEM.md", "You are mine.")
    place.write("home/APPEND_SYSTEM.md", "Always brief.")
    place.write("work/.trimtab/SYSTEM.md", "You are the project's.")
    place.write("work/.trimtab/APPEND_SYSTEM.md", "In French.")
    place.write("work/AGENTS.md", "of the project")

    def told(**more: object) -> list[tuple[str, str]]:
        return [(s.name, s.source) for s in place.look(**more)[0].sections((), window=100_000)]

    home, work = place.home, place.cwd / ".trimtab"
    mine = [("user:APPEND_SYSTEM.md", f"{home}/APPEND_SYSTEM.md")]
    theirs = [(".trimtab/APPEND_SYSTEM.md", f"{work}/APPEND_SYSTEM.md")]
    assert told()[:3] == [("base", f"{work}/SYSTEM.md"), *mine, *theirs]
    assert told(trust=None) == [("base", f"{home}/SYSTEM.md"), *mine]
    assert told(system_prompt="set", trust=None)[0] == ("base", "setting system_prompt (a flag)")
    assert told(instructions={"enabled": False})[0] == ("base", "Trimtab")
    assert place.system().startswith("You are the project's.\n\nAlways brief.\n\nIn French.\n\n")
    place.write("work/.trimtab/SYSTEM.md", b"\0\1\2")
    assert told()[0] == ("base", f"{home}/SYSTEM.md")
    (work / "SYSTEM.md").unlink()
    (work / "SYSTEM.md").symlink_to("../../secret")
    place.write("secret", "the secret")
    assert "the secret" not in place.system()
    instructions, _ = place.look()
    place.write("home/SYSTEM.md", "Other words.")
    assert instructions.refresh() == ("instructions: base changed",)


def _names(place: Place, **more: object) -> tuple[list[str], list[str]]:
    found = place.look(**more)[0].found
    return list(found.skills), list(found.templates)


def test_what_lies_where_other_agents_look_is_found_and_is_the_weakest(place: Place) -> None:
    for root in ("", "work/"):
        who = "project" if root else "user"
        place.write(f"{root}.claude/skills/{who}-skill/SKILL.md", skill(f"{who}-skill"))
        place.write(f"{root}.claude/commands/{who}-command.md", "Do it.")
        place.write(f"{root}.agents/prompts/{who}-prompt.md", "Say it.")
    place.write(".claude/skills/pdf/SKILL.md", skill(description="of claude"))
    place.write(".agents/skills/pdf/SKILL.md", skill(description="of agents"))
    place.write("work/.claude/commands/user-prompt.md", "of the project")
    place.write(".agents/AGENTS.md", "of all agents")
    place.write("home/AGENTS.md", "of Trimtab")
    commands = ["project-command", "project-prompt", "user-command", "user-prompt"]
    assert _names(place) == (["pdf", "project-skill", "user-skill"], commands)
    found = place.look()[0].found
    assert found.skills["pdf"].description == "of agents"
    assert found.templates["user-prompt"].text == "of the project"
    assert place.names() == ["user:~/.agents/AGENTS.md", "user:AGENTS.md"]
    assert _names(place, trust=None) == (["pdf", "user-skill"], ["user-command", "user-prompt"])
    off = {"other_agents": False}
    assert _names(place, instructions=off) == (["pdf"], ["project-prompt", "user-prompt"])


def test_what_the_person_wrote_for_another_agent_and_is_broken_is_listed_but_not_told_each_time(place: Place) -> None:
    place.write(".claude/skills/bad/SKILL.md", "no front matter")
    place.write(".claude/commands/empty.md", "")
    instructions, told = place.look()
    assert told == ()
    assert len(instructions.found.left_out("skills")) == len(instructions.found.left_out("prompts")) == 1
    place.write("work/.claude/skills/bad/SKILL.md", "no front matter")
    assert len(instructions.refresh()) == 1
