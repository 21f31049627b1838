"""TRL takes the rows: real steps of its trainers with a random model of a few thousand parameters. Needs trl and transformers, which nothing else here does; without them these tests are skipped."""

import math
import sys
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from support.docqa import QUERY, RULES
from support.snapshot_rows import rows
from trimtab.lab.export.tokens import renderer, token_rows

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore"),  # those of the libraries, which aren't ours to mend
]
pytest.importorskip("trl", reason="TRL isn't installed: pip install trl==1.16.0")
EXAMPLE = Path(__file__).parents[3] / "examples" / "training" / "train_trl.py"
SETTINGS = {
    "use_cpu": True,
    "bf16": False,
    "save_strategy": "no",
    "logging_steps": 1,
    "disable_tqdm": True,
    "gradient_checkpointing": False,
}


@pytest.fixture(scope="module")
def example():
    spec = spec_from_file_location("train_trl", EXAMPLE)
    module = module_from_spec(spec)
    sys.modules["train_trl"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["train_trl"]


@pytest.fixture(scope="module")
def tokenizer():
    from support.tiny_model import tiny_tokenizer

    made = rows()
    return tiny_tokenizer([*(m.content for row in made for m in row.messages), msgspec.json.encode(made[0].tools).decode()])  # fmt: skip


@pytest.fixture
def model(tokenizer, tmp_path):
    """A new one each time, from a folder: TRL loads its reference model from where a model came from."""
    from transformers import AutoModelForCausalLM

    from support.tiny_model import tiny_model

    tiny_model(tokenizer).save_pretrained(tmp_path / "tiny")
    return AutoModelForCausalLM.from_pretrained(tmp_path / "tiny")


def weights(model):
    return {name: one.detach().clone() for name, one in model.named_parameters()}


def moved(before, model):
    return any(not one.equal(before[name]) for name, one in model.named_parameters())


def test_the_ids_that_are_trained_are_the_calls_and_nothing_else(tokenizer):
    for row in rows()[:6]:
        (one,) = token_rows(row, renderer(tokenizer, row), stop=(tokenizer.eos_token_id,))
        written = tokenizer.decode([i for i, bit in zip(one.completion_ids, one.mask, strict=True) if bit])
        calls = [c for m, bit in zip(row.completion, row.mask, strict=True) if bit for c in m.tool_calls]
        assert written.count("<tool_call>") == len(calls)
        assert written.endswith("<|im_end|>")
        places = [written.index(call.function.name) for call in calls]
        assert all(a < b for a, b in pairwise(places))
        assert "your call" not in written


def test_a_model_is_fine_tuned_on_rows(example, tokenizer, model, tmp_path):
    before = weights(model)
    found = example.fine_tune(rows()[:6], model, tokenizer, str(tmp_path / "out"), max_steps=1, per_device_train_batch_size=2, learning_rate=1e-2, max_length=None, **SETTINGS)  # fmt: skip
    assert found.global_step == 1
    # A random model knows nothing: its loss is about the logarithm of the number of ids.
    assert abs(found.training_loss - math.log(len(tokenizer))) < 0.3
    assert moved(before, model)


def test_grpo_trains_on_the_advantages_of_the_rows(example, tokenizer, model, tmp_path):
    """With one update for each batch all ratios are 1, so the loss is minus the advantages, weighted by the ids that are trained."""
    first, second = rows()[:2]
    chosen = [msgspec.structs.replace(first, advantage=2.0, weight=0.5), msgspec.structs.replace(second, advantage=-0.5, weight=1.0)]  # fmt: skip
    sizes = [
        sum(one.mask)
        for row in chosen
        for one in token_rows(row, renderer(tokenizer, row), stop=(tokenizer.eos_token_id,))
    ]
    before = weights(model)
    found = example.train_on_rows(chosen, model, tokenizer, str(tmp_path / "out"), max_steps=1, per_device_train_batch_size=2, learning_rate=1e-2, beta=0.01, **SETTINGS)  # fmt: skip
    expected = -(1.0 * sizes[0] - 0.5 * sizes[1]) / sum(sizes)
    assert found.training_loss == pytest.approx(expected, abs=1e-4)
    assert moved(before, model)


def test_the_trainer_plays_the_environment_itself(example, tokenizer, model, tmp_path):
    """A random model calls nothing, so every rollout ends for its form, with the reward for that."""
    rules = replace(RULES, turns=3, patience=2)
    played = []

    class Told(example.Rollouts):
        def __call__(self, prompts, trainer):
            out = super().__call__(prompts, trainer)
            played.append(out)
            return out

    example.Rollouts, kept = Told, example.Rollouts
    try:
        found = example.train_live([QUERY], model, tokenizer, str(tmp_path / "out"), rules=rules, new_tokens=8, num_generations=2, max_steps=1, per_device_train_batch_size=2, **SETTINGS)  # fmt: skip
    finally:
        example.Rollouts = kept
    assert found.global_step == 1
    (out,) = played
    assert out["reward"] == [-0.5, -0.5]
    assert all(len(ids) == len(bits) == len(known) for ids, bits, known in zip(out["completion_ids"], out["env_mask"], out["logprobs"], strict=True))  # fmt: skip
    assert all(value <= 0 for known in out["logprobs"] for value in known)


def test_what_a_model_writes_is_read_as_calls(example):
    message = example._message(
        'Let me see. <tool_call>\n{"name": "readChunk", "arguments": {"chunk_id": 2}}\n</tool_call>'
    )
    assert (message.text, message.tool_calls[0].name, message.tool_calls[0].arguments) == ("Let me see.", "readChunk", {"chunk_id": 2})  # fmt: skip
    assert example._message("<tool_call>{torn</tool_call>").tool_calls == ()
