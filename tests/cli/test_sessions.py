"""Which session a run continues, and what the commands about sessions show."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.cli import Cli, local, said
from support.servers import FakeServer

TIME = "2026-01-01T00:00:00.000Z"


def ask(cli: Cli, prompt: str, answer: str, *flags: str) -> str:
    """One turn; the prompts and answers of the request that it sent, joined."""
    with FakeServer(said(answer)) as server:
        outcome = cli.inside("-p", prompt, *flags, *local(server))
    assert (outcome.code, outcome.out) == (0, f"{answer}\n"), outcome.err
    return " / ".join(m["content"] for m in server.requests[0].json["messages"][1:])


def test_continue_goes_on_with_the_last_session_of_this_folder(cli: Cli) -> None:
    ask(cli, "one", "1")
    ask(cli, "two", "2")
    (cli.project / "sub").mkdir()
    ask(cli, "elsewhere", "3", "--cwd", "sub")
    assert ask(cli, "three", "4", "--continue") == "two / 2 / three"
    assert len(cli.sessions) == 3


@pytest.mark.parametrize("form", ["id", "prefix", "path", "relative path", "last"])
def test_resume_takes_an_id_the_start_of_one_a_path_and_last(cli: Cli, form: str) -> None:
    ask(cli, "one", "1")
    (session,) = cli.sessions
    session_id = session.stem.split("_")[-1]
    relative = Path(*[".."] * 1) / session.relative_to(cli.root)
    names = {"id": session_id, "prefix": session_id[:8], "path": str(session), "relative path": str(relative)}
    assert ask(cli, "two", "2", "--resume", names.get(form, "last")) == "one / 1 / two"
    assert cli.sessions == [session]


def test_fork_is_a_new_session_that_begins_with_the_old_one(cli: Cli) -> None:
    ask(cli, "one", "1")
    (old,) = cli.sessions
    before = old.read_bytes()
    assert ask(cli, "two", "2", "--fork", "last") == "one / 1 / two"
    assert old.read_bytes() == before
    (new,) = (s for s in cli.sessions if s != old)
    header = json.loads(new.read_bytes().splitlines()[0])
    assert header["parent_session"] == json.loads(before.splitlines()[0])["id"] != header["id"]


def test_a_session_file_is_made_and_opened_again(cli: Cli) -> None:
    ask(cli, "one", "1", "--session", "notes/s.jsonl")
    assert ask(cli, "two", "2", "--session", "notes/s.jsonl") == "one / 1 / two"
    assert ask(cli, "three", "3", "--resume", "notes/s.jsonl") == "one / 1 / two / 2 / three"
    assert cli.sessions == []
    assert sorted(p.name for p in (cli.project / "notes").iterdir()) == ["s.jsonl"]


def test_a_session_goes_on_with_the_model_it_used(cli: Cli) -> None:
    with FakeServer(said("a"), said("b"), said("c")) as server:
        settings = local(server)[2:]
        assert cli.inside("-p", "1", "--model", "local/big", *settings).code == 0
        cli.config('model = "local/small"\n')
        assert cli.inside("-p", "2", "-c", *settings).code == 0
        assert cli.inside("-p", "3", "-c", *settings, "--model", "local/small").code == 0
    assert [r.json["model"] for r in server.requests] == ["big", "big", "small"]


def test_the_list_shows_this_folder_and_all_shows_every_one(cli: Cli) -> None:
    (cli.project / "sub").mkdir()
    ask(cli, "fix the parser\nplease", "1")
    ask(cli, "elsewhere", "2", "--cwd", "sub")
    here = cli.inside("sessions", "list")
    assert (here.code, "fix the parser" in here.out, "elsewhere" in here.out) == (0, True, False)
    assert "elsewhere" in cli.inside("sessions", "list", "--all").out
    (row,) = json.loads(cli.inside("sessions", "list", "--json").out)
    assert set(row) >= {"id", "title", "cwd", "file", "created", "age_s", "entries", "tokens", "cost_usd"}
    assert (row["cwd"], row["file"]) == (str(cli.project), str(cli.sessions[0]))


def test_an_empty_list_says_so(cli: Cli) -> None:
    outcome = cli.inside("sessions", "list")
    assert (outcome.code, outcome.out) == (0, "")
    assert "no sessions here yet" in outcome.err
    assert json.loads(cli.inside("sessions", "list", "--json").out) == []


def test_show_prints_what_was_said(cli: Cli) -> None:
    cli.file("f.txt", "content\n")
    script = cli.script({"tool_calls": [{"name": "read", "arguments": {"path": "f.txt"}}]}, {"text": "the answer"})
    assert cli.inside("-p", "the question", "--model", script).code == 0
    shown = cli.inside("sessions", "show", "last")
    assert shown.code == 0
    assert shown.out.index("the question") < shown.out.index("content") < shown.out.index("the answer")
    value = json.loads(cli.inside("sessions", "show", "last", "--json").out)
    assert [m["role"] for m in value["messages"]] == ["user", "assistant", "tool", "assistant"]
    assert value["cwd"] == str(cli.project)


def test_showing_a_session_never_writes_to_it(cli: Cli) -> None:
    ask(cli, "one", "1")
    (session,) = cli.sessions
    session.write_bytes(session.read_bytes()[:-9])
    before = session.read_bytes()
    assert cli.inside("sessions", "show", "last").code == 0
    assert cli.inside("sessions", "list").code == 0
    assert session.read_bytes() == before


def parked(cli: Cli) -> Path:
    """A session in which a call waits for a person."""
    call = {"type": "tool_call", "id": "c1", "name": "ask_person", "arguments": {"q": "red or blue?"}, "raw": "{}"}
    entries = [
        {"type": "session", "format": 1, "id": "feedc0de00000001", "cwd": str(cli.project), "created": TIME},
        {"type": "message", "message": {"role": "user", "parts": [{"type": "text", "text": "paint it"}]}},
        {
            "type": "message",
            "message": {
                "role": "assistant",
                "parts": [call],
                "stop_reason": "tool_use",
                "model": "tiny",
                "provider": "local",
            },
        },
        {"type": "custom", "kind": "parked", "call_id": "c1", "data": {"question": "red or blue?"}},
    ]
    for number, entry in enumerate(entries[1:], start=1):
        entry |= {"id": f"e{number}", "parent": f"e{number - 1}" if number > 1 else None, "time": TIME}
    return cli.file("p.jsonl", "".join(json.dumps(entry) + "\n" for entry in entries))


def test_an_answer_to_a_parked_call_lets_the_turn_go_on(cli: Cli) -> None:
    parked(cli)
    with FakeServer(said("painted blue")) as server:
        outcome = cli.inside("answer", "p.jsonl", "c1", "blue", *local(server))
    assert (outcome.code, outcome.out) == (0, "painted blue\n"), outcome.err
    last = server.requests[0].json["messages"][-1]
    assert (last["role"], last["tool_call_id"], last["content"]) == ("tool", "c1", "blue")
    again = cli.inside("answer", "p.jsonl", "c1", "red", "--model", cli.script({"text": "x"}))
    assert again.code == 2
    assert "'c1'" in again.err


def test_an_answer_to_a_call_that_does_not_wait_names_the_ones_that_do(cli: Cli) -> None:
    session = parked(cli)
    before = session.read_bytes()
    outcome = cli.inside("answer", "p.jsonl", "c9", "blue", "--model", cli.script({"text": "x"}))
    assert outcome.code == 2
    assert "c1" in outcome.err
    assert session.read_bytes() == before


def test_a_new_prompt_closes_a_parked_call_as_pending(cli: Cli) -> None:
    parked(cli)
    with FakeServer(said("fine")) as server:
        assert cli.inside("-p", "never mind", "--resume", "p.jsonl", *local(server)).code == 0
    messages = server.requests[0].json["messages"]
    assert [m["role"] for m in messages[-3:]] == ["assistant", "tool", "user"]
    assert messages[-1]["content"] == "never mind"


@pytest.mark.parametrize("words", [["@notes.md"], ["@sub/notes.md"]])
def test_a_prompt_that_is_only_a_file_has_its_name_as_title(cli: Cli, words: list[str]) -> None:
    cli.file(words[0][1:], "remember the milk\n")
    assert cli.inside("-p", *words, "--model", cli.script({"text": "x"})).code == 0
    (row,) = json.loads(cli.inside("sessions", "list", "--json").out)
    assert row["title"] == words[0]


def test_one_damaged_place_is_one(cli: Cli) -> None:
    assert cli.inside("-p", "hi", "--model", cli.script({"text": "x"})).code == 0
    with cli.sessions[0].open("ab") as file:
        file.write(b"garbage\n")
    outcome = cli.inside("-p", "more", "-c", "--model", cli.script({"text": "x"}))
    assert "1 damaged place in" in outcome.err
    assert "was read around" in outcome.err


def test_showing_the_last_session_where_none_is_points_to_other_folders(cli: Cli) -> None:
    outcome = cli.inside("sessions", "show", "last")
    assert outcome.code == 2
    assert "--all" in outcome.err
    assert "--continue" not in outcome.err


def test_twelve_runs_at_once_in_one_folder_are_all_listed_and_found_and_none_is_damaged(cli: Cli) -> None:
    script = cli.script({"text": "An answer about giraffes."})

    def run(number: int) -> int:
        return cli.run("-p", f"question {number}", "--model", script).code

    with ThreadPoolExecutor(12) as pool:
        assert list(pool.map(run, range(12))) == [0] * 12
        asked = list(
            pool.map(lambda n: cli.run("sessions", *(("list",), ("search", "giraffes"))[n % 2], "--json"), range(6))
        )
    assert [outcome.err for outcome in asked] == [""] * 6
    for outcome in asked[::2]:
        rows = json.loads(outcome.out)
        assert sorted(row["title"] for row in rows) == sorted(f"question {n}" for n in range(12))
        assert {row["damage"] for row in rows} == {0}
    for outcome in asked[1::2]:
        assert len({hit["session"] for hit in json.loads(outcome.out)["hits"]}) == 12


def test_a_search_shows_where_something_was_said(cli: Cli) -> None:
    ask(cli, "why \x1b[31mgiraffes?", "Because of their necks.")
    found = cli.inside("sessions", "search", "necks")
    assert "why giraffes?" in found.out.splitlines()[0]
    assert "Because of their necks." in found.out.splitlines()[1]
    assert "\x1b" not in found.out
    nothing = cli.inside("sessions", "search", "zebra")
    assert (nothing.code, nothing.out) == (0, "")
    assert "--all" in nothing.err
    data = json.loads(cli.inside("sessions", "search", "--json", "--all", "neck*").out)
    assert [(hit["role"], hit["snippet"]) for hit in data["hits"]] == [("assistant", "Because of their necks.")]
