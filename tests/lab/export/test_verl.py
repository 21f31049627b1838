"""verl takes the tables, the agent loop and the estimator: its own classes, on a CPU, with a random model of a few thousand parameters. Needs verl, which nothing else here does; without it these tests are skipped.

What isn't run here: its trainer, which wants Ray, an inference server and GPUs.
"""

import asyncio
import dataclasses
import json
import sys
from pathlib import Path

import msgspec
import pytest

from support.docqa import QUERY, RULES
from support.snapshot_rows import explored, rows
from trimtab.lab.credit.advantage import CONTEXTPILOT, credit
from trimtab.lab.export.tokens import renderer, token_rows
from trimtab.lab.export.verl import row_columns, task_rows, write_parquet

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.filterwarnings("ignore"),  # those of the libraries, which aren't ours to mend
]
pytest.importorskip(
    "verl", reason="verl isn't installed: pip install verl==0.9.1 cachetools fastapi uvicorn TransferQueue"
)
EXAMPLES = Path(__file__).parents[3] / "examples" / "training"


@pytest.fixture(scope="module")
def example():
    sys.path.insert(0, str(EXAMPLES))
    try:
        import verl_docqa
    finally:
        sys.path.remove(str(EXAMPLES))
    return verl_docqa


@pytest.fixture(scope="module")
def tokenizer():
    from support.tiny_model import tiny_tokenizer

    made = rows()
    return tiny_tokenizer([*(m.content for row in made for m in row.messages), msgspec.json.encode(made[0].tools).decode()])  # fmt: skip


@pytest.fixture(scope="module")
def model(tokenizer):
    from support.tiny_model import tiny_model

    return tiny_model(tokenizer)


class Server:
    """In place of verl's inference servers: says what a rollout said, with the log-probabilities of the tiny model."""

    def __init__(self, answers, tokenizer, model):
        self.texts = [self._text(answer.tool_calls[0]) for answer in answers]
        self.tokenizer, self.model = tokenizer, model
        self.prompts = []

    @staticmethod
    def _text(call):
        return f"<tool_call>\n{json.dumps({'name': call.name, 'arguments': call.arguments})}\n</tool_call>"

    async def generate(self, request_id, *, prompt_ids, sampling_params, **_):
        import torch
        from verl.workers.rollout.replica import TokenOutput

        text = self.texts[len(self.prompts)]
        self.prompts.append(list(prompt_ids))
        ids = [*self.tokenizer(text, add_special_tokens=False)["input_ids"], self.tokenizer.eos_token_id]
        with torch.no_grad():
            logits = self.model(torch.tensor([[*prompt_ids, *ids]])).logits[0, len(prompt_ids) - 1 : -1]
        known = torch.log_softmax(logits.float(), -1).gather(-1, torch.tensor(ids).unsqueeze(-1)).squeeze(-1)
        return TokenOutput(token_ids=ids, log_probs=known.tolist(), stop_reason="completed")


@pytest.fixture(scope="module")
def played(example, tokenizer, model, tmp_path_factory):
    """All rollouts of a query, through verl's data set and the agent loop: outputs by rollout, and what the servers were asked."""
    from omegaconf import OmegaConf
    from verl.experimental.agent_loop.agent_loop import DictConfigWrap
    from verl.utils.dataset.rl_dataset import RLHFDataset

    folder = tmp_path_factory.mktemp("verl")
    write_parquet(folder / "tasks.parquet", list(task_rows([QUERY])))
    wanted = {"max_prompt_length": 6_000, "filter_overlong_prompts_workers": 1, "cache_dir": str(folder)}
    data = OmegaConf.create(wanted)
    (item,) = list(RLHFDataset(str(folder / "tasks.parquet"), tokenizer, data))
    config = OmegaConf.create(
        {"actor_rollout_ref": {"rollout": {"prompt_length": 12_000, "response_length": 4_000}}, "data": {}}
    )
    rules = dataclasses.asdict(RULES)

    async def run(rollout):
        server = Server(rollout.answers, tokenizer, model)
        loop = example.DocQALoop(
            trainer_config=DictConfigWrap(config),
            server_manager=server,
            tokenizer=tokenizer,
            processor=None,
            dataset_cls=RLHFDataset,
            data_config=DictConfigWrap(config.data),
            rules=rules,
        )
        return await loop.run({"temperature": 0.7}, **item), server

    return [asyncio.run(run(rollout)) for rollout in explored().rollouts]


def test_the_agent_loop_gives_an_output_for_each_piece_with_the_ids_that_were_sampled(played, tokenizer):
    for (outputs, server), rollout in zip(played, explored().rollouts, strict=True):
        assert len(outputs) == len(rollout.pieces)
        assert [output.reward_score for output in outputs] == [float(rollout.outcome.verdict == "right")] * len(outputs)
        assert sum(sum(output.response_mask) for output in outputs) == sum(
            len(tokenizer(text, add_special_tokens=False)["input_ids"]) + 1 for text in server.texts
        )
        for output in outputs:
            assert len(output.response_ids) == len(output.response_mask) == len(output.response_logprobs)


def test_a_piece_begins_with_the_same_ids_as_the_row_that_is_exported_for_it(played, tokenizer):
    tree = explored().tree
    (outputs, _), rollout = played[0], explored().rollouts[0]
    path = [node for node in tree.prefix(tree.leaf_of(rollout.name).node) if node != tree.root]
    by_node = {row.node: row for row in rows()}
    for output, node in zip(outputs, path, strict=True):
        one = next(token_rows(by_node[node], renderer(tokenizer, by_node[node]), stop=(tokenizer.eos_token_id,)))
        assert output.prompt_ids == list(one.prompt_ids)
        assert sum(output.response_mask) == sum(one.mask)


def test_the_estimator_gives_the_credit_that_the_rows_have(example, played):
    """Through verl's own way to advantages. Only rollouts that share nothing: in verl a rollout begins at the root."""
    import numpy as np
    import torch
    from omegaconf import OmegaConf
    from verl.protocol import DataProto
    from verl.trainer.ppo.v1.utils import compute_advantage_for_multi_trajectories

    outputs = [output for found, _ in played for output in found]
    made = [output.as_dict() for output in outputs]
    longest = max(len(one["response_mask"]) for one in made)
    padded = {
        name: torch.stack([torch.nn.functional.pad(one[name], (0, longest - len(one[name]))) for one in made])
        for name in ("response_mask", "rm_scores")
    }
    data = DataProto.from_dict(tensors=padded, non_tensors={"uid": np.array(["q"] * len(made), dtype=object)})
    data.batch["token_level_rewards"] = data.batch["rm_scores"]
    keys = [f"q_{session}_{at}" for session, (found, _) in enumerate(played) for at in range(len(found))]
    found = compute_advantage_for_multi_trajectories(data, keys, "trimtab_snapshot", config=OmegaConf.create({}))
    rewards = torch.tensor([output.reward_score for output in outputs])
    expected = (rewards - rewards.mean()) / (rewards.std() + 1e-6)
    for advantage, mask, one in zip(found.batch["advantages"], data.batch["response_mask"], expected, strict=True):
        assert advantage[mask.bool()].unique().tolist() == [pytest.approx(one.item(), abs=1e-5)]
        assert advantage[~mask.bool()].abs().sum() == 0


def test_an_output_keeps_the_worth_of_its_own_snapshot(example, played):
    """verl gives all outputs of a rollout the reward of the last one; a tree may know better of each."""
    output = played[0][0][0].model_copy(update={"value": 0.25, "reward_score": 1.0})
    assert output.as_dict()["rm_scores"].sum().item() == 0.25


def test_credit_by_rows_is_what_the_estimator_computes(example):
    import numpy as np
    import torch

    tree = explored().tree
    found = credit(tree, CONTEXTPILOT).rows
    values = torch.tensor([[tree.value(node)] for node in found])
    advantages, _ = example.snapshot_advantage(values, torch.ones_like(values), np.array(["q"] * len(found)))
    assert advantages.squeeze(-1).tolist() == pytest.approx([row.advantage for row in found.values()], abs=1e-5)


def test_rows_are_fine_tuned_on_as_they_are(example, tokenizer, model, tmp_path):
    import torch
    from omegaconf import OmegaConf
    from verl.trainer.sft_trainer import create_sft_dataset

    columns = [one for row in rows()[:3] for one in row_columns(row, tokenizer, stop=(tokenizer.eos_token_id,))]
    write_parquet(tmp_path / "rows.parquet", columns)
    config = {"custom_cls": {"path": "pkg://verl_docqa", "name": "RowData"}, "max_length": 12_000}
    data = create_sft_dataset(str(tmp_path / "rows.parquet"), OmegaConf.create(config), tokenizer, None)
    assert len(data) == len(columns)
    item = data[0]
    assert {len(one) for one in item.values()} == {12_000}
    size = int(item["attention_mask"].sum())
    assert item["input_ids"][:size].tolist() == columns[0]["input_ids"]
    ids, bits = item["input_ids"][:size], item["loss_mask"][:size].bool()
    logits = model(ids.unsqueeze(0)).logits[0, :-1]
    loss = torch.nn.functional.cross_entropy(logits[bits[1:]], ids[1:][bits[1:]])
    loss.backward()
    assert all(one.grad is not None for one in model.parameters())


def test_verls_loss_of_a_row_is_minus_its_advantage_at_first(played, tokenizer, model):
    import torch
    from verl.trainer.ppo.core_algos import compute_policy_loss_vanilla
    from verl.workers.config import FSDPActorConfig

    output = played[0][0][0]
    ids = torch.tensor([[*output.prompt_ids, *output.response_ids]])
    logits = model(ids).logits[:, len(output.prompt_ids) - 1 : -1]
    known = torch.log_softmax(logits.float(), -1).gather(-1, ids[:, len(output.prompt_ids) :].unsqueeze(-1)).squeeze(-1)
    mask = torch.tensor([output.response_mask])
    sampled = torch.tensor([output.response_logprobs])
    assert (known - sampled)[mask.bool()].abs().max() < 1e-3
    config = FSDPActorConfig(strategy="fsdp", rollout_n=1, ppo_micro_batch_size_per_gpu=1, ppo_mini_batch_size=1)
    loss, _ = compute_policy_loss_vanilla(known.detach(), known, 0.7 * mask, mask, config=config)
    assert loss.item() == pytest.approx(-0.7, abs=1e-4)
    loss.backward()
    assert sum(one.grad.abs().sum() for one in model.parameters()) > 0
