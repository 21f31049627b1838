"""Languages told apart as far as acceptance needs it."""

import pytest

from trimtab.context.summary.language import language_of, other_language


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("エラーを直してください", "ja"),
        ("请修复这个错误", "zh"),
        ("이 오류를 고쳐 주세요", "ko"),
        ("Пожалуйста, исправь ошибку", "cyrillic"),
        ("من فضلك أصلح الخطأ", "arabic"),
        ("Παρακαλώ διόρθωσε το", "el"),
        ("please look at the file and fix what is wrong with it for this test", "en"),
        ("bitte prüfe die Datei und sag mir, ob das von dem Server ist und nicht auf der Platte", "de"),
        ("regarde dans le fichier et dis pourquoi il est vide, avec les lignes qui sont en trop pour la suite", "fr"),
        ("fix it", ""),
        ("", ""),
    ],
)
def test_a_text_is_recognised(text, language):
    assert language_of(text) == language


def test_code_paths_and_pasted_output_do_not_count():
    text = "直してください\n```python\nfor the_item in the_list: print(the_item)\n```\n> the log of the build is that\nsrc/app/the_main.py"
    assert language_of(text) == "ja"


def test_what_stands_behind_a_quoted_line_still_counts():
    assert language_of("> the log of the build is that\n直してください") == "ja"


def test_only_a_language_that_is_surely_another_one_counts_as_one():
    assert other_language("OK", "ja") == ""
    assert other_language("修正しました。テストは成功です。", "ja") == ""
    assert other_language("修复了解析器。测试通过。", "ja") == "zh"
    assert other_language("anything at all", "") == ""


def test_plain_prose_without_a_letter_of_the_wanted_script_is_another_language():
    assert other_language("Parser fixed, all checks green, deployment pending.", "ja") == "latin"
    assert other_language("Parser 修正、checks green、deployment 待ちです。", "ja") == ""
