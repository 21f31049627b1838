"""Scripts: what a line means, and where a wrong one is reported."""

from pathlib import Path

import pytest

from trimtab.providers.script import Line, ScriptedCall, make_script, read_script
from trimtab.types.errors import ConfigError


def write(folder: Path, text: str) -> Path:
    path = folder / "script.jsonl"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_script_is_read_with_the_number_of_each_line_and_without_blank_ones(tmp_path: Path) -> None:
    path = write(tmp_path, '{"text": "a\u2028b"}\n\n{"tool_calls": [{"name": "ls", "arguments": {"path": "é"}}]}\r\n')
    assert read_script(path) == (
        Line(text="a\u2028b", number=1),
        Line(tool_calls=(ScriptedCall("ls", {"path": "é"}),), number=3),
    )


def test_unknown_fields_of_a_line_are_ignored(tmp_path: Path) -> None:
    assert read_script(write(tmp_path, '{"text": "a", "comment": "for people"}')) == (Line(text="a", number=1),)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"txt": "Hello."}', "line 1, column 2: unknown field 'txt' (did you mean 'text'?)"),
        (
            '{"text": "a"}\n{"answer": "b"}',
            "line 2, column 2: unknown field 'answer', and no field of an answer: text,",
        ),
        ('{"number": 3}', "line 1, column 2: unknown field 'number'"),
        (
            '{"text": "a", "expect": {"contain": ["b"]}}',
            "column 26: unknown field 'contain' (did you mean 'contains'?)",
        ),
        ('{"error": {"code": 500}}', "column 12: unknown field 'code', and no field of 'error': status, body,"),
        ('{"usage": {"inptu": 5}}', "column 12: unknown field 'inptu' (did you mean 'input'?)"),
    ],
)
def test_an_object_without_one_known_field_is_a_slip_that_names_the_nearest_field(
    tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        read_script(write(tmp_path, text))
    assert words in caught.value.message


def test_an_empty_object_is_an_empty_answer() -> None:
    assert make_script([{}]) == (Line(number=1),)


def test_arguments_as_text_are_kept_as_they_are() -> None:
    (line,) = make_script([{"tool_calls": [{"name": "ls", "arguments": '{"path": '}]}])
    assert line.tool_calls[0].raw == '{"path": '


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"text": "a"}\n{"text" "b"}\n', "line 2, column 9"),
        ('{"usage": {"input": "many"}}', "line 1, column 12"),
        ('{"text": "a"}\n{"tool_calls": [{"id": "1"}]}', "line 2, column 2"),
        ('{"chunk": 0}', "line 1, column 2"),
        ('{"delay_ms": -1}', "line 1, column 2"),
        ('{"stop_reason": "tired"}', "line 1, column 2"),
        ('["text"]', "line 1, column 1"),
        ('{"expect": {"contains": "one string"}}', "line 1, column 13"),
    ],
)
def test_a_wrong_script_is_reported_with_file_line_and_column_before_anything_runs(
    tmp_path: Path, text: str, where: str
) -> None:
    path = write(tmp_path, text)
    with pytest.raises(ConfigError) as caught:
        read_script(path)
    assert caught.value.message.startswith(f"{path}, {where}: ")
    assert caught.value.exit_code == 2


def test_a_script_that_is_not_utf8_or_not_there_is_a_config_error(tmp_path: Path) -> None:
    path = tmp_path / "latin.jsonl"
    path.write_bytes(b'{"text": "\xe9"}')
    with pytest.raises(ConfigError, match="line 1, column 11: not UTF-8"):
        read_script(path)
    with pytest.raises(ConfigError, match="can't read the script"):
        read_script(tmp_path / "missing.jsonl")
    with pytest.raises(ConfigError, match="can't read the script"):
        read_script("a\0b")
    with pytest.raises(ConfigError, match="can't read the script"):
        read_script(tmp_path)


def test_a_script_without_end_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"'/dev/zero' is larger than 67,108,864 bytes"):
        read_script("/dev/zero")
