"""What a person changes about a saved session: restore, pin, unpin, revert."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.cli import Cli
from support.saved_session import CONFIG, write_session
from support.sessions import now
from trimtab.coding.telling.printable import set_in
from trimtab.context.stores.log import SessionLog
from trimtab.types.codec import encode_entry
from trimtab.types.edits import Compact
from trimtab.types.entries import EditEntry


def done(cli: Cli, *args: str) -> Any:
    outcome = cli.inside("context", *args, "--json")
    assert (outcome.code, outcome.err) == (0, "")
    return json.loads(outcome.out)


def states(cli: Cli, session: str) -> dict[str, str]:
    items = json.loads(cli.inside("context", "show", session, "--json").out)["active_context"]
    return {item.get("handle") or item["id"]: item["state"] for item in items}


def text(cli: Cli, session: str) -> str:
    return cli.inside("context", "show", session, "--text").out


def entries(session: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in Path(session).read_bytes().splitlines()]


def test_restore_brings_the_recorded_text_back_and_says_what_it_takes(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "restore", fixed, "r1")
    assert (outcome.code, outcome.err) == (0, "")
    first, second = outcome.out.splitlines()
    edit = entries(fixed)[-1]
    assert first == f"restore r1: edit {edit['id']}"
    assert second.startswith("the next request has ")
    assert second.endswith(" of 13,505 tokens")
    assert (edit.get("author", "user"), edit["edit"]["kind"], edit["edit"]["targets"]) == (
        "user",
        "restore",
        ["res00001"],
    )
    assert f"── read · r1\n{set_in('[r1]')}{set_in(CONFIG)}" in text(cli, fixed)


def shown(cli: Cli, session: str) -> tuple[int, int, int]:
    """What `show` says of the next request: tokens, at most, of which pinned."""
    budget = json.loads(cli.inside("context", "show", session, "--json").out)["budget"]
    return budget["used"], budget["at_most"], budget["pinned"]


@pytest.mark.parametrize(
    "wishes",
    [["restore r1"], ["restore r1", "revert last"], ["pin r3", "unpin r3"], ["restore r3"], ["pin r1", "pin r1"]],
    ids=lambda wishes: ", ".join(wishes),
)
@pytest.mark.parametrize("kind", ["fixed", "grown"])
def test_every_command_counts_as_show_does(
    cli: Cli, kind: str, wishes: list[str], request: pytest.FixtureRequest
) -> None:
    session = request.getfixturevalue(kind)
    in_view = {"fixed": {}, "grown": {"r1": "r8", "r3": "r9"}}[kind]  # of the grown one a summary has the rest
    for wish in wishes:
        before = shown(cli, session)
        verb, name = wish.split()
        name = in_view.get(name, name) if "pin" in verb else name
        came = done(cli, verb, session, name)
        assert came["used_before"] == before[0]
        assert (came["used"], came["at_most"], came["pinned"]) == shown(cli, session)
    told = json.loads(cli.inside("context", "explain", session, "last", "--json").out)["edit"]
    assert told["used"] == shown(cli, session)[0]


def test_the_only_page_of_an_item_is_all_of_it(cli: Cli, fixed: str) -> None:
    came = done(cli, "restore", fixed, "r1", "--page", "1")
    assert [one["kind"] for one in came["done"]] == ["restore"]
    assert states(cli, fixed)["r1"] == "full"


def test_what_is_shown_whole_is_not_restored_again(cli: Cli, fixed: str) -> None:
    before = Path(fixed).read_bytes()
    assert done(cli, "restore", fixed, "r3")["unchanged"] == "r3 is shown whole already"
    assert Path(fixed).read_bytes() == before


def test_a_restore_that_would_not_fit_is_refused_with_the_numbers(cli: Cli, grown: str) -> None:
    before = Path(grown).read_bytes()
    outcome = cli.inside("context", "restore", grown, "r1", "--window", "6000")
    assert outcome.code == 1
    assert "tokens, and 4,364 may be sent" in " ".join(outcome.err.split())
    assert "restore --page 1" in " ".join(outcome.err.split())
    assert Path(grown).read_bytes() == before


def test_a_page_or_a_revert_that_would_not_fit_is_not_told_to_bring_back_a_page(
    cli: Cli, fixed: str, grown: str
) -> None:
    page = cli.inside("context", "restore", grown, "r1", "--page", "1", "--window", "3000")
    revert = cli.inside("context", "revert", fixed, "edit0001", "--window", "3000")
    assert (page.code, revert.code) == (1, 1)
    assert "--page" not in page.err
    assert "Bring back one of the items that it hides" in " ".join(revert.err.split())


def test_a_pin_names_the_tokens_of_all_pins_and_holds_until_it_is_taken_away(cli: Cli, fixed: str) -> None:
    came = done(cli, "pin", fixed, "r3", "--reason", "the ports")
    assert (came["names"], came["pinned"] > 500, came["used"]) == (["r3"], True, came["used_before"])
    assert entries(fixed)[-1]["reason"] == "the ports"
    assert "full, pinned" in cli.inside("context", "show", fixed).out
    assert done(cli, "pin", fixed, "r3")["unchanged"] == "r3 is pinned already"
    assert done(cli, "unpin", fixed, "r3")["pinned"] == 0
    assert done(cli, "unpin", fixed, "r3")["unchanged"] == "r3 is not pinned"


def test_a_pin_of_a_stub_says_that_it_keeps_the_line_alone(cli: Cli, fixed: str) -> None:
    note = "r1 is pinned as it stands, a line in place of its text; to keep the text itself, bring it back as well"
    assert done(cli, "pin", fixed, "r1")["notes"] == [note]
    assert done(cli, "pin", fixed, "r3")["notes"] == []
    assert done(cli, "unpin", fixed, "r1")["notes"] == []
    assert note in " ".join(cli.inside("context", "pin", fixed, "r1").out.split())


def test_a_pin_that_nothing_could_make_fit_is_refused(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "pin", fixed, "r3", "--window", "3800")
    assert outcome.code == 1
    assert "what must stay has" in outcome.err
    assert "Unpin something first" in outcome.err


def test_a_revert_under_a_later_edit_says_that_nothing_shown_changes(cli: Cli, fixed: str) -> None:
    (over,) = (one["entry_id"] for one in done(cli, "restore", fixed, "r1")["done"])
    before = text(cli, fixed)
    told = " ".join(cli.inside("context", "revert", fixed, "edit0001").out.split())
    assert told.startswith(
        f"took back edit0001; nothing that is shown changes: {over} holds over it the next request has"
    )
    assert text(cli, fixed) == before
    assert done(cli, "revert", fixed, over)["unseen"] == "nothing that is shown changes"


def test_a_revert_under_a_compaction_names_the_compaction(cli: Cli, fixed: str) -> None:
    edit = Compact(targets=("ask00001",), summary="It read a file; recall id=r1 has it.", mode="digest")
    entry = EditEntry(id="sum00001", parent=entries(fixed)[-1]["id"], time=entries(fixed)[-1]["time"], edit=edit)
    with Path(fixed).open("ab") as file:
        file.write(encode_entry(entry) + b"\n")
    before = text(cli, fixed)
    told = done(cli, "revert", fixed, "edit0001")
    assert (told["reverted"], told["unseen"]) == ("edit0001", "nothing that is shown changes: sum00001 holds over it")
    assert text(cli, fixed) == before


def test_a_pin_that_is_taken_back_is_not_called_without_effect(cli: Cli, fixed: str) -> None:
    done(cli, "pin", fixed, "r3")
    assert done(cli, "revert", fixed, "last")["unseen"] is None


def test_a_revert_takes_one_edit_back_and_keeps_what_came_later(cli: Cli, fixed: str) -> None:
    came = done(cli, "revert", fixed, "edit0001")
    assert (came["reverted"], came["used"] > came["used_before"] + 500) == ("edit0001", True)
    assert entries(fixed)[-1] | {"id": "", "time": ""} == {
        "type": "revert",
        "id": "",
        "parent": "ask00004",
        "time": "",
        "target": "edit0001",
    }
    assert states(cli, fixed)["r1"] == "full"
    assert "It opens 4711." in text(cli, fixed)


def test_a_revert_can_be_taken_back_too(cli: Cli, fixed: str) -> None:
    assert done(cli, "revert", fixed, "back0001")["reverted"] == "back0001"
    assert "r2" not in states(cli, fixed)
    done(cli, "revert", fixed, entries(fixed)[-1]["id"])
    assert states(cli, fixed)["r2"] == "full"


def test_last_is_the_newest_edit_that_holds(cli: Cli, fixed: str) -> None:
    assert done(cli, "revert", fixed, "last")["reverted"] == "edit0001"
    outcome = cli.inside("context", "revert", fixed, "last")
    assert (outcome.code, "no edit of this session holds" in outcome.err) == (2, True)


def test_the_start_of_an_id_is_enough_where_it_fits_one(cli: Cli, fixed: str) -> None:
    assert cli.inside("context", "revert", fixed, "edit").code == 2
    assert done(cli, "revert", fixed, "edit0001"[:-1] + "1")["reverted"] == "edit0001"


def test_an_edit_that_was_taken_back_is_refused(cli: Cli, fixed: str) -> None:
    outcome = cli.inside("context", "revert", fixed, "edit0002")
    assert (outcome.code, "'edit0002' is reverted already" in outcome.err) == (1, True)
    assert "trimtab context revert SESSION back0001 takes that back, so that it holds again." in outcome.err


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("restore", "r33"), "there is no item 'r33'"),
        (("restore", "edit0001"), "edit0001 is an edit, not an item"),
        (("revert", "edit0009"), "there is no edit 'edit0009'"),
        (("revert", "r1"), "r1 is an item, not an edit"),
        (("pin", "note0001"), "note0001 is a note of the log, not an item"),
    ],
)
def test_a_wrong_name_is_exit_code_two_and_writes_nothing(
    cli: Cli, fixed: str, args: tuple[str, str], said: str
) -> None:
    before = Path(fixed).read_bytes()
    outcome = cli.inside("context", args[0], fixed, args[1])
    assert outcome.code == 2
    assert said in " ".join(outcome.err.split())
    assert Path(fixed).read_bytes() == before


@pytest.mark.parametrize("args", [("restore", "r1"), ("pin", "r1"), ("revert", "edit0001")])
def test_a_session_that_somebody_writes_is_exit_code_two(cli: Cli, fixed: str, args: tuple[str, str]) -> None:
    log = SessionLog.open(Path(fixed), now=now)
    try:
        outcome = cli.inside("context", args[0], fixed, args[1])
        assert cli.inside("context", "show", fixed).code == 0
    finally:
        log.close()
    assert (outcome.code, "in use" in outcome.err or "lock" in outcome.err) == (2, True)


def test_what_a_person_brought_back_is_left_alone_in_the_next_run(cli: Cli, grown: str) -> None:
    """Immunity comes from the log, not from the memory of the process that wrote it."""
    done(cli, "restore", grown, "r2")
    items = json.loads(cli.inside("context", "show", grown, "--json").out)["active_context"]
    (item,) = [item for item in items if item.get("handle") == "r2"]
    assert (item["state"], item["restored"]) == ("full", 0)


def test_restore_then_revert_leaves_the_request_as_it_was(cli: Cli, grown: str) -> None:
    before = text(cli, grown)
    done(cli, "restore", grown, "r2")
    assert text(cli, grown) != before
    done(cli, "revert", grown, "last")
    assert text(cli, grown) == before


def test_a_page_that_there_is_not_is_refused_with_how_many_there_are(cli: Cli, grown: str) -> None:
    before = Path(grown).read_bytes()
    outcome = cli.inside("context", "restore", grown, "r1", "--page", "99")
    assert outcome.code == 2
    assert re.search(r"r1 has (one page|\d+ pages), so there is no page 99\n  Name one from 1 to \d+\.", outcome.err)
    assert Path(grown).read_bytes() == before


def test_a_page_that_is_shown_already_is_not_brought_back_again(cli: Cli, fixed: str) -> None:
    done(cli, "restore", fixed, "r1", "--page", "1")
    before = Path(fixed).read_bytes()
    assert done(cli, "restore", fixed, "r1", "--page", "1")["unchanged"] == "page 1 of r1 is shown already"
    assert Path(fixed).read_bytes() == before


def test_a_pin_of_what_a_summary_stands_for_says_to_restore_it_first(cli: Cli, fixed: str) -> None:
    done(cli, "revert", fixed, "back0001")
    before = Path(fixed).read_bytes()
    outcome = cli.inside("context", "pin", fixed, "r2")
    assert outcome.code == 1
    assert "a pin would keep nothing" in " ".join(outcome.err.split())
    assert "trimtab context restore SESSION r2" in " ".join(outcome.err.split())
    assert Path(fixed).read_bytes() == before
    done(cli, "restore", fixed, "r2")
    assert done(cli, "pin", fixed, "r2")["names"] == ["r2"]


def test_a_summary_that_show_lists_is_refused_as_an_item_and_the_refusal_says_what_it_is(cli: Cli) -> None:
    file = str(write_session(cli.root / "upto.jsonl", cwd=str(cli.project), upto="edit0002"))
    for command in ("pin", "restore"):
        outcome = cli.inside("context", command, file, "edit0002")
        assert outcome.code == 2
        assert "edit0002 is a summary that an edit put there, not an item" in outcome.err
