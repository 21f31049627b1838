"""Fine-tune and train a language model with TRL on exported rows. Run: python examples/training/train_trl.py --help

    python examples/document_qa.py --questions 64 --rollouts 8 --out rows.jsonl --base-url … --model …     collect
    python examples/training/train_trl.py sft  rows.jsonl --model Qwen/Qwen3-8B --out sft                            imitate what led to a good end
    python examples/training/train_trl.py rows rows.jsonl --model sft --out rl                                       the rows' own advantages in GRPO's loss
    python examples/training/train_trl.py live --model sft --out rl --questions 64                                   rollouts by the trainer itself, rewards of the environment

Needs `pip install trl transformers` and, for a model of any use, GPUs. Everything here was run with TRL 1.16 and models of a few thousand random parameters on a CPU; see docs/gpu-training.md.
"""

import argparse
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from trimtab.lab.docqa.desk import Desk, Rules
from trimtab.lab.docqa.outcome import terminal_reward
from trimtab.lab.docqa.query import Query, queries_of
from trimtab.lab.export.chat import chat_messages, chat_tools
from trimtab.lab.export.files import read_rows
from trimtab.lab.export.row import SnapshotRow
from trimtab.lab.export.sft import chosen, label_rows
from trimtab.lab.export.tokens import TokenRow, template_message
from trimtab.lab.export.trl import policy_rows, rollout_output
from trimtab.lab.suite import drawn
from trimtab.types.messages import Assistant, Part, Text
from trimtab.types.models import ModelInfo, ModelRequest
from trimtab.types.stream import make_call

try:
    import torch
    from datasets import Dataset
    from torch.utils.data import RandomSampler
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from trl import GRPOConfig, GRPOTrainer, SFTConfig, SFTTrainer
    from trl.trainer.utils import pad
except ModuleNotFoundError as missing:
    raise SystemExit(
        f"training with TRL needs {missing.name}, which isn't installed\n  pip install trl==1.16.0 transformers"
    ) from missing

_CALL = re.compile(r"<tool_call>(.*?)</tool_call>", re.DOTALL)
"""How Hermes and Qwen models write a call; other families need another pattern here."""


def fine_tune(
    rows: Iterable[SnapshotRow], model: Any, tokenizer: Any, out: str, *, least: float = 1.0, **settings: Any
) -> Any:
    """Imitate the rows with a value of at least `least`. Returns what TRL's trainer says of its steps."""
    stop = (tokenizer.eos_token_id,)
    made = [labels for row in chosen(rows, least=least) for labels in label_rows(row, tokenizer, stop=stop)]
    if not made:
        raise SystemExit(f"no row has a value of at least {least}")
    config = SFTConfig(output_dir=out, report_to="none", **settings)
    trainer = SFTTrainer(model, args=config, train_dataset=Dataset.from_list(made), processing_class=tokenizer)
    found = trainer.train()
    trainer.save_model(out)
    return found


class RowTrainer(GRPOTrainer):
    """GRPO whose completions and advantages were made before: those of the rows. Loss, clipping and reference model are TRL's."""

    def _get_train_sampler(self, dataset: Any = None) -> RandomSampler:
        """Each row once: groups were made when advantages were."""
        return RandomSampler(self.train_dataset if dataset is None else dataset)

    def _generate_and_score_completions(self, inputs: list[dict[str, Any]]) -> dict[str, Any]:
        device, ids = self.accelerator.device, self.processing_class.pad_token_id

        def padded(name: str, side: str, value: int) -> torch.Tensor:
            return pad([torch.tensor(one[name]) for one in inputs], padding_value=value, padding_side=side).to(device)

        def shown(name: str, side: str) -> torch.Tensor:
            ones = [torch.ones(len(one[name]), dtype=torch.long) for one in inputs]
            return pad(ones, padding_value=0, padding_side=side).to(device)

        out = {
            "prompt_ids": padded("prompt_ids", "left", ids),
            "prompt_mask": shown("prompt_ids", "left"),
            "completion_ids": padded("completion_ids", "right", ids),
            "completion_mask": shown("completion_ids", "right"),
            "tool_mask": padded("tool_mask", "right", 0),
            "advantages": torch.tensor([one["advantage"] for one in inputs], dtype=torch.float32).to(device),
        }
        trained = (out["completion_mask"] * out["tool_mask"]).sum()
        out["num_items_in_batch"] = self.accelerator.gather(trained).sum()
        if self.ref_model is not None:
            with torch.no_grad():
                both = torch.cat([out["prompt_ids"], out["completion_ids"]], dim=1)
                mask = torch.cat([out["prompt_mask"], out["completion_mask"]], dim=1)
                out["ref_per_token_logps"], *_ = self._get_per_token_logps_and_entropies(
                    self.ref_model, both, mask, out["completion_ids"].size(1)
                )
        return out


def train_on_rows(rows: Iterable[SnapshotRow], model: Any, tokenizer: Any, out: str, **settings: Any) -> Any:
    """Train on rows with their own advantages. A batch has to hold two rows at least, for TRL wants groups of that size."""
    stop = (tokenizer.eos_token_id,)
    made = [one for row in rows for one in policy_rows(row, tokenizer, stop=stop)]
    if not made:
        raise SystemExit("no row has a weight: all ends of each query were worth the same")
    config = GRPOConfig(output_dir=out, report_to="none", num_generations=2, steps_per_generation=1, **settings)
    trainer = RowTrainer(
        model, reward_funcs=[_unasked], args=config, train_dataset=Dataset.from_list(made), processing_class=tokenizer
    )
    found = trainer.train()
    trainer.save_model(out)
    return found


def _unasked(completions: Sequence[Any], **_: Any) -> list[float]:
    """TRL wants a reward; the rows have theirs."""
    return [0.0] * len(completions)


class Rollouts:
    """TRL's `rollout_func`: the environment, read by the model that is trained."""

    def __init__(self, queries: Sequence[Query], rules: Rules, *, new_tokens: int, temperature: float = 0.7) -> None:
        self.queries = {query.question.text: query for query in queries}
        self.rules, self.new_tokens, self.temperature = rules, new_tokens, temperature
        self.played = 0

    def __call__(self, prompts: list[Any], trainer: Any) -> dict[str, Any]:
        """Play the queries of the prompts, one rollout each: TRL repeats a prompt as often as its group is large."""
        made, rewards, log_probs = [], [], []
        for prompt in prompts:
            pieces, known, reward = self._play(self.queries[prompt[-1]["content"]], trainer)
            made.append(pieces)
            log_probs.append(known)
            rewards.append(reward)
        self.played += len(prompts)
        return rollout_output(made, rewards, log_probs, seed=self.played)

    def _play(self, query: Query, trainer: Any) -> tuple[list[TokenRow], list[list[float]], float]:
        model = ModelInfo("trained", "policy", "scripted", context_window=self.rules.window, max_output=self.new_tokens)
        desk, written = Desk(query, self.rules, model), []
        while not desk.done:
            request = desk.request()
            if request is not None:
                prompt, ids, known = self._write(request, trainer)
                written.append((prompt, ids, known))
                desk.answer(_message(trainer.processing_class.decode(ids)))
        made = [TokenRow(tuple(prompt), tuple(ids), (1,) * len(ids)) for prompt, ids, _ in written]
        return made, [known for *_, known in written], terminal_reward(desk.outcome)

    def _write(self, request: ModelRequest, trainer: Any) -> tuple[list[int], list[int], list[float]]:
        """Sample one answer, with the log-probability of each of its ids. A server (vLLM, SGLang) takes this method's place where many are sampled."""
        tokenizer, model = trainer.processing_class, trainer.accelerator.unwrap_model(trainer.model)
        tools = [msgspec.to_builtins(tool) for tool in chat_tools(request.tools)]
        shown = [template_message(message) for message in chat_messages(request.messages, request.system)]
        prompt = tokenizer.apply_chat_template(
            shown, tools=tools, add_generation_prompt=True, tokenize=True, return_dict=False
        )
        with torch.no_grad():
            made = model.generate(
                torch.tensor([prompt], device=model.device),
                attention_mask=torch.ones(1, len(prompt), dtype=torch.long, device=model.device),
                max_new_tokens=self.new_tokens,
                do_sample=True,
                temperature=self.temperature,
                pad_token_id=tokenizer.pad_token_id,
                return_dict_in_generate=True,
                output_logits=True,
            )
        ids = made.sequences[0, len(prompt) :].tolist()
        known = [
            torch.log_softmax(logits[0].float() / self.temperature, -1)[one].item()
            for logits, one in zip(made.logits, ids, strict=True)
        ]
        return list(prompt), ids, known


def _message(text: str) -> Assistant:
    """What a model wrote, as an answer: its words, and the calls in it."""
    parts: list[Part] = [Text(words)] if (words := _CALL.sub("", text).strip()) else []
    for found in _CALL.findall(text):
        try:
            call = json.loads(found)
            parts.append(make_call("", str(call["name"]), json.dumps(call.get("arguments", {}))))
        except (ValueError, KeyError, TypeError):
            parts.append(Text(found))
    return Assistant(tuple(parts), "tool_use")


def reward_of(completions: Sequence[Any], reward: Sequence[float], **_: Any) -> list[float]:
    """What the environment said: `rollout_func` hands it on."""
    return list(reward)


def train_live(
    queries: Sequence[Query], model: Any, tokenizer: Any, out: str, *, rules: Rules, new_tokens: int, **settings: Any
) -> Any:
    """Train with rollouts of the model itself. TRL makes the advantages: of one reward for each rollout, so by trajectory."""
    asked = [{"prompt": [{"role": "user", "content": query.question.text}]} for query in queries]
    config = GRPOConfig(output_dir=out, report_to="none", max_completion_length=new_tokens, **settings)
    trainer = GRPOTrainer(
        model,
        reward_funcs=[reward_of],
        args=config,
        train_dataset=Dataset.from_list(asked),
        processing_class=tokenizer,
        rollout_func=Rollouts(queries, rules, new_tokens=new_tokens),
    )
    found = trainer.train()
    trainer.save_model(out)
    return found


def main() -> None:
    """Read the command line."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("what", choices=["sft", "rows", "live"])
    options.add_argument("rows", nargs="?", type=Path, help="a file of rows (sft, rows)")
    options.add_argument("--model", required=True)
    options.add_argument("--out", required=True)
    options.add_argument("--questions", type=int, default=64, help="how many to ask (live)")
    options.add_argument("--steps", type=int, default=-1, help="at most so many; -1: the data once")
    options.add_argument("--rate", type=float, help="learning rate; 1e-5 for sft, else 1e-6")
    options.add_argument("--batch", type=int, default=8)
    chosen_options = options.parse_args()
    tokenizer = AutoTokenizer.from_pretrained(chosen_options.model)
    model = AutoModelForCausalLM.from_pretrained(chosen_options.model, dtype="auto")
    settings = {
        "max_steps": chosen_options.steps,
        "num_train_epochs": 1,
        "per_device_train_batch_size": chosen_options.batch,
        "learning_rate": chosen_options.rate or (1e-5 if chosen_options.what == "sft" else 1e-6),
    }
    if chosen_options.what == "live":
        tasks = (drawn("train", "document-qa", number).task for number in range(chosen_options.questions))
        queries = [query for task in tasks for query in queries_of(task)][: chosen_options.questions]
        train_live(
            queries,
            model,
            tokenizer,
            chosen_options.out,
            rules=Rules(),
            new_tokens=2_048,
            num_generations=8,
            beta=0.001,
            **settings,
        )
    elif chosen_options.what == "sft":
        fine_tune(read_rows(chosen_options.rows), model, tokenizer, chosen_options.out, max_length=None, **settings)
    else:
        train_on_rows(read_rows(chosen_options.rows), model, tokenizer, chosen_options.out, beta=0.001, **settings)


if __name__ == "__main__":
    main()
