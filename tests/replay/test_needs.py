"""What a step needed of earlier results."""

from hypothesis import given
from hypothesis import strategies as st

from support.recordings import answered, call, recording, result, said
from trimtab.context.strings import Kept, Strings, arguments_text, distinctive_strings
from trimtab.sessions.replay.needs import Need, needs_of, used_results
from trimtab.sessions.replay.steps import steps_of


def needs(*events):
    return needs_of(steps_of(recording(*events).events))


def idle(n, *, start=0):
    """Steps that show and use nothing."""
    for number in range(start, start + n):
        yield answered(call("Bash", f"idle{number}", command="true"))
        yield result(f"idle{number}", "ok")


def test_a_distinctive_string_has_eight_characters_and_a_digit_a_separator_or_an_inner_capital():
    assert distinctive_strings("parseHeader parse_header abcdefg1 abcdefgh short_1 Abcdefghi") == (
        "parseHeader",
        "parse_header",
        "abcdefg1",
    )


def test_dots_slashes_colons_and_dashes_at_its_ends_are_no_part_of_it():
    assert distinctive_strings("(see ./src/lib.rs:, --dry-run.)") == ("src/lib.rs",)


def test_strings_are_kept_of_the_texts_that_were_asked_about_last_and_of_no_more_than_fits():
    kept = Kept(2_000)
    for number in range(5):
        kept.put(f"{number}" * 500, (f"string_{number}",))
        kept.get("0" * 500)
    assert [kept.get(f"{number}" * 500) is not None for number in range(5)] == [True, False, False, True, True]
    assert kept.size <= 2_000
    kept.put("x" * 3_000, ())
    assert (len(kept), kept.size) == (0, 0)


def test_a_step_that_writes_a_string_of_a_result_needs_that_result():
    found = needs(
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "src/parser.py"),
        answered(call("Read", "c2", path="src/parser.py")),
    )
    assert found == {2: (Need(2, 2, ("src/parser.py",)),)}


def test_a_string_that_the_user_said_first_has_no_origin():
    assert not needs(
        said("look at src/parser.py"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "src/parser.py"),
        answered(call("Read", "c2", path="src/parser.py")),
    )


def test_a_string_that_the_model_wrote_first_has_no_origin():
    assert not needs(
        said("go"),
        answered(call("Read", "c1", path="src/parser.py")),
        result("c1", "src/parser.py: 3 lines"),
        answered(call("Read", "c2", path="src/parser.py")),
    )


def test_the_result_that_shows_a_string_first_is_its_origin():
    found = needs(
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "src/parser.py"),
        *idle(20),
        answered(call("Grep", "c2", pattern="y")),
        result("c2", "src/parser.py"),
        *idle(20, start=20),
        answered(call("Read", "c3", path="src/parser.py")),
    )
    assert [need.result for step in found.values() for need in step] == [2]


def test_what_a_result_showed_again_within_ten_steps_is_taken_from_there():
    def events(steps_between):
        return (
            said("go"),
            answered(call("Grep", "c1", pattern="x")),
            result("c1", "src/parser.py"),
            *idle(20),
            answered(call("Grep", "c2", pattern="y")),
            result("c2", "src/parser.py"),
            *idle(steps_between, start=20),
            answered(call("Read", "c3", path="src/parser.py")),
        )

    assert not needs(*events(9))
    assert len(needs(*events(10))) == 1


def test_what_the_model_wrote_within_ten_steps_is_taken_from_there():
    start = (said("go"), answered(call("Grep", "c1", pattern="x")), result("c1", "src/parser.py"))
    first, again = (
        answered(call("Read", "c2", path="src/parser.py")),
        answered(call("Read", "c3", path="src/parser.py")),
    )
    assert list(needs(*start, first, result("c2", "text"), again)) == [2]
    assert list(needs(*start, first, result("c2", "text"), *idle(10), again)) == [2, 13]


def test_two_results_that_one_step_uses_are_two_needs_and_two_strings_of_one_are_one():
    found = needs(
        said("go"),
        answered(call("Grep", "c1", pattern="x"), call("Grep", "c2", pattern="y")),
        result("c1", "src/parser.py src/lexer.py"),
        result("c2", "docs/guide.md"),
        answered(call("Bash", "c3", command="cat src/lexer.py src/parser.py docs/guide.md")),
    )
    assert found == {2: (Need(2, 2, ("src/lexer.py", "src/parser.py")), Need(3, 2, ("docs/guide.md",)))}


def test_a_result_that_answers_no_call_is_no_origin():
    assert not needs(said("go"), result("nobody", "src/parser.py"), answered(call("Read", "c2", path="src/parser.py")))


def test_a_result_counts_as_used_however_recently_its_string_was_shown_again():
    events = (
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "src/parser.py"),
        answered(call("Grep", "c2", pattern="y")),
        result("c2", "src/parser.py"),
        answered(call("Read", "c3", path="src/parser.py")),
    )
    assert used_results(steps_of(recording(*events).events)) == {2}


def test_arguments_contain_a_string_also_within_a_longer_one():
    found = needs(
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "value_alpha_17"),
        answered(call("Bash", "c2", command="cat prefix/value_alpha_17/more")),
    )
    assert found == {2: (Need(2, 2, ("value_alpha_17",)),)}


def test_no_escape_of_json_sticks_to_a_word():
    written = call("Bash", "c1", command="cd /tmp\nvalue_alpha_17\tnext_one_2", edits=[{"path_of_it": "deep/file.py"}])
    assert set(distinctive_strings(arguments_text(written))) == {
        "value_alpha_17",
        "next_one_2",
        "path_of_it",
        "deep/file.py",
    }


def test_the_name_of_a_parameter_is_the_tools_word_and_needs_nothing():
    assert not needs(
        said("go"),
        answered(call("Grep", "c1", pattern="x")),
        result("c1", "def read(file_path):"),
        answered(call("Read", "c2", file_path="a")),
    )


_PIECES = st.lists(
    st.sampled_from(["src/", "lib_1", "parseHeader", "/", "é", " ", "x", "2026-01", "@", "."]), max_size=12
)


@given(known=st.lists(_PIECES.map("".join), max_size=4), text=_PIECES.map("".join))
def test_what_is_found_in_a_text_is_every_known_string_that_it_contains(known: list[str], text: str):
    strings, all_of_them = Strings(), set()
    for one in known:
        for string in distinctive_strings(one):
            strings.add(string)
            all_of_them.add(string)
    assert set(strings.found_in(text)) == {string for string in all_of_them if string in text}
