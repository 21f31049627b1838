"""What verl needs to train a reader of documents: an agent loop, an advantage estimator, and a data set of finished rows.

    data.train_files=tasks.parquet                             made by `trimtab.lab.export.verl.task_rows` and `write_parquet`
    actor_rollout_ref.rollout.agent.agent_loop_config_path=…   a YAML file: [{name: trimtab_docqa, _target_: verl_docqa.DocQALoop}]
    algorithm.adv_estimator=trimtab_snapshot                   registered where this module is imported (VERL_USE_EXTERNAL_MODULES=verl_docqa)
    data.custom_cls.path=verl_docqa.py  name=RowData           for fine-tuning on rows, with verl's SFT trainer

A rollout gives an output for each of its pieces, which verl 0.9's trainer takes as rows of one query; each carries what its snapshot is worth. The estimator takes the mean and the standard deviation over all
rows of a query, as ContextPilot does. Written against verl 0.9.1; what of it was run, and where, docs/gpu-training.md says.
"""

from pathlib import Path
from typing import Any
from uuid import uuid4

import msgspec
import numpy as np
import torch
from pyarrow import parquet
from torch.utils.data import Dataset
from verl.experimental.agent_loop.agent_loop import AgentLoopBase, AgentLoopMetrics, AgentLoopOutput, register
from verl.experimental.agent_loop.tool_parser import ToolParser
from verl.trainer.ppo.core_algos import register_adv_est

from trimtab.lab.docqa.desk import Desk, Rules
from trimtab.lab.docqa.outcome import terminal_reward
from trimtab.lab.export.chat import chat_messages, chat_tools
from trimtab.lab.export.tokens import template_message
from trimtab.lab.export.verl import AGENT, query_in
from trimtab.types.messages import Assistant, Part, Text
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import make_call


class SnapshotOutput(AgentLoopOutput):
    """One piece. verl gives all outputs of a rollout the reward of the last; `value` is what this one's snapshot is worth, where a tree knows better."""

    value: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return the row, with its own reward."""
        made = super().as_dict()
        made.pop("value", None)
        if self.value is not None:
            made["rm_scores"] = torch.zeros_like(made["response_mask"], dtype=torch.float32)
            made["rm_scores"][-1] = self.value
        return made


@register(AGENT)
class DocQALoop(AgentLoopBase):
    """One query, from its first request to its end; an output for each piece."""

    def __init__(
        self, *args: Any, rules: dict[str, Any] | None = None, tool_parser: str = "hermes", **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        room = self.rollout_config.prompt_length + self.rollout_config.response_length
        self.rules = Rules(**{"window": room, "patience": 1, **(rules or {})})
        self.parser = ToolParser.get_tool_parser(tool_parser, self.tokenizer)

    async def run(self, sampling_params: dict[str, Any], **kwargs: Any) -> list[SnapshotOutput]:
        """Play; `extra_info` of the row holds the query."""
        query = query_in(kwargs["extra_info"])
        model = ModelInfo(
            "trained", "policy", "scripted", context_window=self.rules.window, max_output=self.rules.max_output
        )
        desk, pieces = Desk(query, self.rules, model), list[_Tokens]()
        while not desk.done:
            request = desk.request()
            if request is None:
                break
            if not desk.open_piece:  # edited, so what stood there before is no beginning of it
                pieces.append(await self._begin(request))
            else:
                await self._go_on(pieces[-1], request)
            desk.answer(await self._write(pieces[-1], sampling_params))
        reward = terminal_reward(desk.outcome)
        return [self._output(piece, reward, desk.progress.turns) for piece in pieces]

    async def _begin(self, request: ModelRequest) -> "_Tokens":
        messages, tools = _shown(request)
        prompt = await self.ct_build_initial_tokens(messages, tools=tools)
        return _Tokens(list(prompt), messages, tools)

    async def _go_on(self, piece: "_Tokens", request: ModelRequest) -> None:
        """What came behind the last answer: results and notes, which aren't trained."""
        messages, tools = _shown(request)
        behind = messages[: len(piece.messages) + 1]  # the last request and the answer to it
        merged, piece.mask, piece.log_probs = await self.ct_merge_context_msg(
            behind, messages, piece.all, piece.mask, piece.log_probs, tools=tools
        )
        piece.all, piece.messages = merged.token_ids, messages

    async def _write(self, piece: "_Tokens", sampling_params: dict[str, Any]) -> Assistant:
        limited = {**sampling_params, "max_tokens": self.rules.max_output}
        made = await self.server_manager.generate(request_id=uuid4().hex, prompt_ids=piece.all, sampling_params=limited)
        known = piece.log_probs if piece.mask else ([] if made.log_probs else None)
        merged, piece.mask, piece.log_probs = await self.ct_merge_assistant_token(
            piece.all, made.token_ids, piece.mask, known, assistant_logprobs=made.log_probs or None
        )
        piece.all = merged.token_ids
        text, calls = await self.parser.extract_tool_calls(made.token_ids)
        parts: list[Part] = [Text(words)] if (words := _plain(self.tokenizer, text)) else []
        parts += [make_call("", call.name, call.arguments) for call in calls]
        return Assistant(tuple(parts), "tool_use")

    def _output(self, piece: "_Tokens", reward: float, turns: int) -> SnapshotOutput:
        most = self.rollout_config.response_length
        size = len(piece.all) - len(piece.mask)
        return SnapshotOutput(
            prompt_ids=piece.all[:size],
            response_ids=piece.all[size:][:most],
            response_mask=piece.mask[:most],
            response_logprobs=None if piece.log_probs is None else piece.log_probs[:most],
            reward_score=reward,
            value=reward,
            num_turns=turns,
            metrics=AgentLoopMetrics(),
            extra_fields={"reward_extra_info": {}},
        )


class _Tokens:
    """The ids of a piece, with a bit for each one behind its prompt."""

    def __init__(self, prompt: list[int], messages: list[dict[str, Any]], tools: list[dict[str, Any]]) -> None:
        self.all, self.messages, self.tools = prompt, messages, tools
        self.mask: list[int] = []
        self.log_probs: list[float] | None = None


def _shown(request: ModelRequest) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    tools = [msgspec.to_builtins(tool) for tool in chat_tools(request.tools)]
    return [template_message(message) for message in chat_messages(request.messages, request.system)], tools


def _plain(tokenizer: Any, text: str) -> str:
    for mark in tokenizer.all_special_tokens:
        text = text.replace(mark, "")
    return text.strip()


@register_adv_est("trimtab_snapshot")
def snapshot_advantage(
    token_level_rewards: torch.Tensor, response_mask: torch.Tensor, index: np.ndarray, epsilon: float = 1e-6, **_: Any
) -> tuple[torch.Tensor, torch.Tensor]:
    """A = (value − mean) / (std + ε) over all rows of a query, the same on each token that the model wrote; a row alone is taken with mean 0 and std 1."""
    values = token_level_rewards.sum(-1)
    scaled = torch.zeros_like(values)
    for query in dict.fromkeys(index.tolist()):
        rows = torch.tensor([at for at, one in enumerate(index.tolist()) if one == query])
        own = values[rows]
        mean, std = (own.mean(), own.std()) if len(rows) > 1 else (0.0, 1.0)
        scaled[rows] = (own - mean) / (std + epsilon)
    advantages = scaled.unsqueeze(-1) * response_mask
    return advantages, advantages


class RowData(Dataset):
    """Rows as `trimtab.lab.export.verl.row_columns` wrote them: ids and loss mask as they are, padded on the right, or not at all."""

    def __init__(
        self, parquet_files: Any, tokenizer: Any, config: Any, processor: Any = None, max_samples: int = -1
    ) -> None:
        files = [parquet_files] if isinstance(parquet_files, str | Path) else list(parquet_files)
        rows = [row for file in files for row in parquet.read_table(file).to_pylist()]
        self.rows = rows if max_samples < 0 else rows[:max_samples]
        self.pad_id = tokenizer.pad_token_id or 0
        self.most = int(config.get("max_length", 1_024))
        self.pads = config.get("pad_mode", "right") == "right"

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, item: int) -> dict[str, torch.Tensor]:
        row = self.rows[item]
        ids, mask = torch.tensor(row["input_ids"]), torch.tensor(row["loss_mask"])
        if len(ids) > self.most:
            raise ValueError(
                f"row {row['node']} of {row['uid']} has {len(ids)} ids, more than data.max_length={self.most}"
            )
        made = {"input_ids": ids, "position_ids": torch.arange(len(ids)), "loss_mask": mask}
        if not self.pads:
            return made
        made["attention_mask"] = torch.ones_like(ids)
        left = self.most - len(ids)
        fill = {"input_ids": self.pad_id}
        return {name: torch.nn.functional.pad(one, (0, left), value=fill.get(name, 0)) for name, one in made.items()}
