"""Ids with a loss mask: what the model wrote is trained, behind exactly what it saw."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from support.snapshot_rows import rows, sound_rows
from trimtab.lab.export.row import ChatMessage
from trimtab.lab.export.sft import IGNORED, chat_rows, chosen, label_rows
from trimtab.lab.export.tokens import renderer, template_message, token_rows
from trimtab.lab.export.trl import policy_rows, rollout_output
from trimtab.lab.export.verl import query_in, row_columns, task_rows, write_parquet
from trimtab.types.errors import UsageError

END = 10
"""The id of a newline, which ends an answer."""


class Letters:
    """A tokenizer whose ids are code points. `forgets`: it leaves out the thoughts of all but the last answer, as templates of thinking models do."""

    def __init__(self, forgets=False):
        self.forgets = forgets
        self.tools = None

    def apply_chat_template(self, conversation, *, tools, tokenize, return_dict, add_generation_prompt):
        assert tokenize
        assert not return_dict
        self.tools = tools
        text = "".join(self._written(m, last=n == len(conversation)) for n, m in enumerate(conversation, 1))
        return [ord(letter) for letter in text + ("<assistant>" if add_generation_prompt else "")]

    def _written(self, message, *, last):
        thought = message.get("reasoning_content", "") if last or not self.forgets else ""
        calls = "".join(f"[{c['function']['name']}{json.dumps(c['function']['arguments'])}]" for c in message.get("tool_calls", ()))  # fmt: skip
        return f"<{message['role']}>{thought}{message['content']}{calls}\n"


def text(ids):
    return "".join(map(chr, ids))


def trained(one):
    return text([i for i, bit in zip(one.completion_ids, one.mask, strict=True) if bit])


@settings(max_examples=60)
@given(sound_rows(), st.booleans())
def test_every_answer_that_is_trained_stands_behind_exactly_what_it_was_written_behind(row, forgets):
    render = renderer(Letters(forgets), row)
    made = list(token_rows(row, render, stop=(END,)))
    written = []
    for at, bit in enumerate(row.mask):
        if bit:
            shown = (*row.messages, *row.completion[:at])
            written.append(
                (text(render(shown, generate=True)), text(render((*shown, row.completion[at]), generate=False)))
            )
    if len(made) == 1:
        whole = text(made[0].prompt_ids + made[0].completion_ids)
        assert all(whole.startswith(prompt) for prompt, _ in written)
        assert trained(made[0]) == "".join(ended[len(prompt) :] for prompt, ended in written)
    else:
        assert [text(one.prompt_ids) for one in made] == [prompt for prompt, _ in written]
        assert [trained(one) for one in made] == [ended[len(prompt) :] for prompt, ended in written]


def test_a_piece_is_one_sequence_where_the_template_lets_it_be_one():
    row = rows()[0]
    (one,) = token_rows(row, renderer(Letters(), row), stop=(END,))
    shown = trained(one)
    assert shown.count("\n") == sum(row.mask)
    assert shown.startswith("[analyzeText{}]")
    assert "characters" in text(one.completion_ids)
    assert "characters" not in shown


def test_a_template_that_forgets_thoughts_gives_a_sequence_for_each_answer():
    row = rows()[0]
    thinking = tuple(ChatMessage("assistant", m.content, "hm. ", m.tool_calls) if m.role == "assistant" else m for m in row.completion)  # fmt: skip
    row = type(row)(**{**{f: getattr(row, f) for f in row.__struct_fields__}, "completion": thinking})
    made = list(token_rows(row, renderer(Letters(forgets=True), row)))
    assert len(made) == sum(row.mask)
    assert all(trained(one).startswith("hm. ") for one in made)


def test_what_a_template_puts_behind_the_end_of_an_answer_isnt_trained():
    row = rows()[0]
    (one,) = token_rows(row, renderer(Letters(), row), stop=(ord("]"),))
    assert "\n" not in trained(one)


def test_a_conversation_is_made_of_each_trained_answer():
    row = rows()[0]
    made = list(chat_rows(row))
    assert len(made) == sum(row.mask)
    assert [len(one["prompt"]) for one in made] == [len(row.messages) + 2 * n for n in range(len(made))]
    assert all(len(one["completion"]) == 1 for one in made)
    assert made[0]["completion"][0]["tool_calls"][0]["function"]["arguments"] == {}
    assert {tool["function"]["name"] for tool in json.loads(made[0]["tools"])} >= {"readChunk", "finish"}


def test_arguments_are_objects_for_templates_and_texts_in_rows():
    message = next(m for m in rows()[0].completion if m.tool_calls)
    assert isinstance(message.tool_calls[0].function.arguments, str)
    assert isinstance(template_message(message)["tool_calls"][0]["function"]["arguments"], dict)


def test_labels_ignore_all_that_isnt_trained():
    row = rows()[0]
    (one,) = label_rows(row, Letters(), stop=(END,))
    assert len(one["labels"]) == len(one["input_ids"])
    assert text([label for label in one["labels"] if label != IGNORED]).startswith("[analyzeText{}]")
    assert all(label in (IGNORED, given) for label, given in zip(one["labels"], one["input_ids"], strict=True))


def test_only_what_led_to_a_good_end_is_imitated():
    assert [row.value >= 1 for row in chosen(rows())] == [True] * len(list(chosen(rows())))
    assert 0 < len(list(chosen(rows()))) <= len(rows())
    assert list(chosen(rows(), least=9)) == []


def test_a_row_is_trained_with_its_advantage_times_its_weight_and_not_at_all_with_weight_0():
    for row in rows():
        made = list(policy_rows(row, Letters()))
        assert len(made) == (row.weight > 0)
        assert all(one["advantage"] == row.advantage * row.weight for one in made)


def test_of_each_live_rollout_one_sequence_is_given_with_its_reward():
    (one,) = token_rows(rows()[0], renderer(Letters(), rows()[0]))
    (other,) = token_rows(rows()[1], renderer(Letters(), rows()[1]))
    known = [[[0.0] * len(p.completion_ids) for p in pieces] for pieces in ([one, other], [other])]
    out = rollout_output([[one, other], [other]], [1.0, -0.5], known, seed=1)
    assert out["reward"] == [1.0, -0.5]
    assert out["completion_ids"][1] == list(other.completion_ids)
    assert out["completion_ids"][0] in ([*one.completion_ids], [*other.completion_ids])
    for ids, mask, probabilities in zip(out["completion_ids"], out["env_mask"], out["logprobs"], strict=True):
        assert len(ids) == len(mask) == len(probabilities)
    assert rollout_output([[one, other], [other]], [1.0, -0.5], known, seed=1) == out


def test_a_task_for_verl_holds_its_query():
    from support.docqa import QUERY

    (row,) = task_rows([QUERY])
    assert query_in(row["extra_info"]) == QUERY
    assert row["prompt"][1]["content"].startswith("The question: How much")
    assert (row["agent_name"], row["extra_info"]["index"]) == ("trimtab_docqa", 0)
    with pytest.raises(ValueError, match="no query"):
        query_in({})


def test_columns_for_verl_have_a_bit_for_each_id():
    (made,) = row_columns(rows()[0], Letters(), stop=(END,))
    assert len(made["input_ids"]) == len(made["loss_mask"])
    assert sum(made["loss_mask"][: made["prompt_length"]]) == 0
    assert (made["uid"], made["node"]) == ("otter/1", rows()[0].node)


def test_an_empty_table_is_refused(tmp_path):
    with pytest.raises(UsageError, match="nothing to write"):
        write_parquet(tmp_path / "x.parquet", [])


def test_without_pyarrow_it_is_said_what_is_missing(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="needs pyarrow"):
        write_parquet(tmp_path / "x.parquet", [{"a": 1}])
