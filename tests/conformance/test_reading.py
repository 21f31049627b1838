"""Read, grep, find and ls, called by a model over the whole path."""

import json
import os
import time
import tracemalloc
from pathlib import Path

import pytest

from support.cli import Cli, local, said, text_of
from support.pictures import jpeg, png
from support.servers import FakeServer, json_reply


@pytest.mark.kind(16)
@pytest.mark.parametrize("name", ["p", "link", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"])
def test_a_pipe_is_refused_at_once(cli: Cli, name: str) -> None:
    os.mkfifo(cli.project / "p")
    (cli.project / "link").symlink_to("p")
    start = time.perf_counter()
    assert cli.call("read", path=name)["is_error"]
    assert time.perf_counter() - start < 10


@pytest.mark.kind(16)
def test_a_search_steps_over_a_pipe(cli: Cli) -> None:
    os.mkfifo(cli.project / "p")
    cli.file("f.txt", "needle\n")
    start = time.perf_counter()
    assert "f.txt" in text_of(cli.call("grep", pattern="needle"))
    assert time.perf_counter() - start < 10


@pytest.mark.kind(17)
@pytest.mark.parametrize("name", ["/dev/zero", "/dev/urandom", "/dev/full", "innocent.txt"])
@pytest.mark.parametrize("tool", ["read", "edit"])
def test_an_endless_device_is_refused_at_once(cli: Cli, tool: str, name: str) -> None:
    (cli.project / "innocent.txt").symlink_to("/dev/zero")
    start = time.perf_counter()
    ended = cli.call(tool, path=name, edits=[{"old": "a", "new": "b"}])
    assert ended["is_error"]
    assert "not a regular file" in text_of(ended)
    assert time.perf_counter() - start < 10


@pytest.mark.kind(19)
@pytest.mark.parametrize("command", ["seq 100000", "head -c 300000 /dev/zero | tr '\\0' x"])
def test_the_whole_of_a_cut_output_can_be_read_back(cli: Cli, command: str) -> None:
    ended = cli.call("bash", command=command)
    assert len(text_of(ended)) < 60_000
    whole = ended["details"]["output_file"]
    assert whole in text_of(ended)
    again = cli.call("read", path=whole)
    assert not again["is_error"], text_of(again)
    assert len(text_of(again)) < 60_000


@pytest.mark.kind(20)
@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("x.png", b"<svg xmlns='http://www.w3.org/2000/svg'/>"),
        ("x.png", png(4, 4)[:40]),
        ("x.png", b"\x89PNG\r\n\x1a\n" + bytes(30)),
        ("x.bmp", b"BM" + bytes(60)),
        ("x.avif", b"\x00\x00\x00\x1cftypavif" + bytes(60)),
        ("x.jpg", b"\xff\xd8\xff\xe0" + bytes(10)),
        ("x.png", b""),
    ],
)
def test_what_cannot_be_shown_stays_out_of_the_history(cli: Cli, name: str, data: bytes) -> None:
    cli.file(name, data)
    with FakeServer(_calls("read", path=name), said(), said()) as server:
        first = cli.inside("-p", "look", *local(server, models='[{id="tiny",input=["text","image"]}]'))
        again = cli.inside("-p", "more", "-c", *local(server, models='[{id="tiny",input=["text","image"]}]'))
    assert (first.code, again.code) == (0, 0), first.err + again.err
    assert b"image_url" not in b"".join(r.body for r in server.requests)


@pytest.mark.kind(20)
@pytest.mark.parametrize(
    ("name", "data", "media"), [("x.jpg", png(4, 4), "image/png"), ("x.png", jpeg(4, 4), "image/jpeg")]
)
def test_a_picture_is_what_its_bytes_say(cli: Cli, name: str, data: bytes, media: str) -> None:
    cli.file(name, data)
    with FakeServer(_calls("read", path=name), said()) as server:
        assert cli.inside("-p", "look", *local(server, models='[{id="tiny",input=["text","image"]}]')).code == 0
    assert f"data:{media};base64,".encode() in server.requests[1].body


@pytest.mark.kind(20)
def test_a_model_that_reads_text_only_is_told_what_the_picture_is(cli: Cli) -> None:
    cli.file("x.png", png(4, 4))
    with FakeServer(_calls("read", path="x.png"), said()) as server:
        assert cli.inside("-p", "look", *local(server, models='[{id="tiny",input=["text"]}]')).code == 0
    assert b"image_url" not in server.requests[1].body
    assert b"4" in server.requests[1].body


@pytest.mark.kind(21)
@pytest.mark.parametrize(
    "data", [bytes(range(256)) * 40, b"\x7fELF" + bytes(500), b"text\0more", b"PK\x03\x04" + bytes(range(200))]
)
def test_binary_content_is_named_with_its_size(cli: Cli, data: bytes) -> None:
    cli.file("blob", data)
    shown = text_of(cli.call("read", path="blob"))
    assert "binary" in shown
    assert f"{len(data):,}" in shown
    assert len(shown) < 300


@pytest.mark.kind(22)
def test_the_head_of_a_huge_file_costs_little(cli: Cli) -> None:
    block = b"another line of a log that never ends\n" * 20_000
    with cli.file("huge.log", "first line\n").open("ab") as file:
        for _ in range(80):
            file.write(block)
    tracemalloc.start()
    try:
        start = time.perf_counter()
        shown = text_of(cli.call("read", path="huge.log", limit=2))
        spent = time.perf_counter() - start
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert "first line" in shown
    assert spent < 2
    assert peak < 30_000_000


@pytest.mark.kind(24)
@pytest.mark.parametrize("tool", ["find", "grep"])
def test_ignored_files_are_found_by_exact_path_only(cli: Cli, tool: str) -> None:
    (cli.project / ".git").mkdir()
    cli.file(".gitignore", "node_modules/\n*.log\n")
    cli.file(".ignore", "secret/\n")
    for name in ("node_modules/x/package.json", "secret/package.json", "src/package.json"):
        cli.file(name, "needle\n")

    def ask(pattern: str, path: str) -> str:
        if tool == "find":
            return text_of(cli.call("find", pattern=path or pattern))
        return (
            text_of(cli.call("grep", pattern="needle", path=path))
            if path
            else text_of(cli.call("grep", pattern="needle", glob=pattern))
        )

    broad = ask("package.json", "")
    assert "src/package.json" in broad
    assert "node_modules" not in broad
    assert "secret" not in broad
    for exact in ("node_modules/x/package.json", "secret/package.json"):
        answer = ask("", exact)
        assert exact in answer or "needle" in answer
        assert "no " not in answer.lower()[:4]


@pytest.mark.kind(25)
@pytest.mark.parametrize("pattern", ["--help", "-e foo", "-", "--files", "--pre=sh"])
def test_a_pattern_that_begins_with_a_dash_is_searched(cli: Cli, pattern: str) -> None:
    cli.file("f.txt", f"before\nsay {pattern} now\n")
    shown = text_of(cli.call("grep", pattern=pattern, literal=True))
    assert f"say {pattern} now" in shown
    assert "before" not in shown
    assert "Usage" not in shown


@pytest.mark.kind(25)
def test_a_file_name_that_begins_with_a_dash_is_found(cli: Cli) -> None:
    cli.file("--help", "x\n")
    assert "--help" in text_of(cli.call("find", pattern="--help"))
    assert "x" in text_of(cli.call("grep", pattern="x", path="--help"))


@pytest.mark.kind(26)
@pytest.mark.parametrize("pattern", ["**", "**/*", "*"])
def test_a_broad_search_is_bounded_and_follows_no_link_out(cli: Cli, pattern: str) -> None:
    for n in range(300):
        cli.file(f"d{n % 7}/f{n}.txt", "x")
    (cli.project / "out").symlink_to("/usr")
    (cli.project / "loop").symlink_to(".")
    start = time.perf_counter()
    ended = cli.call("find", pattern=pattern)
    rows = text_of(ended).splitlines()
    assert time.perf_counter() - start < 20
    assert len(rows) <= 205
    assert not any(row.startswith(("out/", "loop/", "/usr")) for row in rows)
    assert ended["cut"] is not None


@pytest.mark.kind(26)
def test_a_broad_grep_is_bounded(cli: Cli) -> None:
    cli.file("many.txt", "needle\n" * 5000)
    ended = cli.call("grep", pattern="needle")
    assert len(text_of(ended).splitlines()) <= 205
    assert ended["cut"] is not None


@pytest.mark.kind(27)
@pytest.mark.parametrize("place", ["prompt", "answer", "arguments", "file name", "output"])
def test_half_a_surrogate_pair_never_reaches_a_request_or_the_file(cli: Cli, place: str) -> None:
    half = "\ud83d"
    call = {"tool_calls": [{"name": "read", "arguments": {"path": "x" + half if place == "arguments" else "f.txt"}}]}
    if place == "answer":
        call["text"] = "a" + half  # type: ignore[assignment]
    if place == "file name":
        (Path(os.fsdecode(os.fsencode(cli.project))) / "bad\udc83name").write_bytes(b"x")
        call = {"tool_calls": [{"name": "ls", "arguments": {"path": "."}}]}
    if place == "output":
        call = {"tool_calls": [{"name": "bash", "arguments": {"command": "printf '\\360\\237\\230'"}}]}
    cli.file("f.txt", "x")
    prompt = "look " + ("\udc83" if place == "prompt" else "")
    first = cli.inside("-p", prompt, "--permission", "full", "--model", cli.script(call, {"text": "ok"}))
    assert first.code == 0, first.err
    with FakeServer(said("fine")) as server:
        again = cli.inside("-p", "more", "--continue", *local(server))
    assert (again.code, again.out) == (0, "fine\n"), again.err
    server.requests[0].body.decode("utf-8")
    assert "\\ud83d" not in server.requests[0].body.decode()
    for line in cli.sessions[-1].read_bytes().splitlines():
        json.dumps(json.loads(line), ensure_ascii=False).encode()


def _calls(name: str, **arguments: object):  # type: ignore[no-untyped-def]
    call = {"id": "c1", "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
    return json_reply(
        {
            "choices": [
                {"index": 0, "finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": [call]}}
            ]
        }
    )
