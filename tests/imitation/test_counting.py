"""What the benchmark of imitation counts, with answers of which it is known what they are."""

import json

import pytest
from benchmarks.imitation import judge, main
from benchmarks.imitation_talks import CASES, WORDINGS, Request, Talk, make_talk

from support.talk import answer, call
from trimtab.context.markers import live_markers
from trimtab.types.messages import Assistant

SHIPPED = WORDINGS[0]
TALK = make_talk(SHIPPED, 20, 0)
NOTE, _, _, WRITE, COPY, ASK = TALK.requests
POINTER = next(c.arguments["content"] for m in TALK.messages if isinstance(m, Assistant) for c in m.tool_calls if c.name == "write" and c.arguments)  # fmt: skip
INVENTED = "[not the content: archived e9#1~aaaaaaaa: 900 tokens; to read it: recall id=e9#1]"


def write(path: str, content: str) -> Assistant:
    """An answer that writes a file."""
    return answer("", call("c1", "write", json.dumps({"path": path, "content": content})))


@pytest.mark.parametrize(
    ("said", "request_", "found"),
    [
        (write("cache.md", WRITE.fact), WRITE, {"right"}),
        (write("cache.md", POINTER), WRITE, {"copied", "as content", "refused"}),
        (write("cache.md", INVENTED), WRITE, {"look-alike", "as content", "refused"}),
        (answer(f"It holds {POINTER}"), WRITE, {"copied"}),
        (write("notes/cache.md", f"cache.py keeps at most {NOTE.fact}."), NOTE, {"right"}),
        (write("notes/cache.md", POINTER), NOTE, {"copied", "as content", "refused"}),
        (answer("", call("c1", "read", '{"path": "[archived r1: read]"}')), NOTE, {"look-alike"}),
        (answer("", call("c1", "recall", '{"id": "e4#0"}')), COPY, {"wanted", "recalled", "right"}),
        (answer("", call("c1", "read", json.dumps({"path": COPY.again}))), COPY, {"wanted", "right"}),
        (write("copy.md", "Something made up."), COPY, {"wanted"}),
        (answer("", call("c1", "recall", '{"id": "r3"}')), ASK, {"wanted"}),
        (answer("The LIMIT is 1."), ASK, {"wanted"}),
    ],
)
def test_an_answer_is_counted_as_what_it_is(said: Assistant, request_: Request, found: set[str]) -> None:
    assert set(judge(said, request_, TALK.known)) == found


@pytest.mark.parametrize(("wording", "hidden"), CASES, ids=lambda value: getattr(value, "name", value))
def test_a_conversation_holds_as_many_live_markers_as_texts_are_hidden(wording, hidden):
    talk: Talk = make_talk(wording, hidden, 3)
    results = "\n".join(m.text if not isinstance(m, Assistant) else "\n".join(c.raw for c in m.tool_calls) for m in talk.messages if hasattr(m, "text"))  # fmt: skip
    assert len(talk.known) == hidden
    assert set(live_markers(results, talk.known.__contains__)) == set(talk.known)


def test_a_model_that_is_named_is_asked_everything_and_reported_by_its_name(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("TRIMTAB_HOME", str(tmp_path))
    requests = len(CASES) * len(TALK.requests)
    script = tmp_path / "copies.jsonl"
    line = json.dumps({"text": POINTER})
    script.write_text(f"{line}\n" * requests, "utf-8")
    assert main(["--model", f"scripted/{script}"]) == 0
    out = capsys.readouterr().out
    assert f"scripted/{script}, conversations of each kind: 1" in out
    assert "| shipped | 20 | 6 | 6 | 0 | 0 | 0 | 0 of 2 | 0 | 0 |" in out
    assert "| shipped | 0 | 6 | 0 | 6 |" in out, "no key of that conversation: only a look-alike"
