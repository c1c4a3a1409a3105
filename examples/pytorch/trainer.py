"""Trains a small language model with the Trainer of transformers, and prints the time of a step.

    torchrun --nproc-per-node 2 trainer.py --backend ringlet

The model has random weights and reads generated text, so it downloads no data.
"""

import argparse
import json
import tempfile
import time

import ringlet
import torch
import torch.distributed as dist
from torch.utils.data import Dataset
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainerCallback, TrainingArguments, set_seed


class MadeUpText(Dataset):
    """Rows of tokens. Each token follows from its predecessor."""

    def __init__(self, rows, length, words):
        start = torch.randint(words, (rows, 1), generator=torch.Generator().manual_seed(1))
        self.tokens = (start + 7 * torch.arange(length)) % words

    def __len__(self):
        return len(self.tokens)

    def __getitem__(self, row):
        return {"input_ids": self.tokens[row], "labels": self.tokens[row]}


class StepTimes(TrainerCallback):
    def __init__(self):
        self.seconds = []

    def on_step_begin(self, *_, **__):
        self.begin = time.perf_counter()

    def on_step_end(self, *_, **__):
        self.seconds.append(time.perf_counter() - self.begin)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    ringlet.accelerate()
    set_seed(2)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=64, n_positions=32, n_embd=64, n_layer=2, n_head=2,
                                       bos_token_id=None, eos_token_id=None))
    times = StepTimes()
    with tempfile.TemporaryDirectory() as folder:
        arguments = TrainingArguments(
            folder, use_cpu=True, ddp_backend=options.backend, max_steps=options.steps, logging_steps=5,
            per_device_train_batch_size=8, learning_rate=1e-3, save_strategy="no", report_to=[],
            disable_tqdm=True, ddp_find_unused_parameters=False)  # fmt: skip
        trainer = Trainer(model, arguments, train_dataset=MadeUpText(512, 32, 64), callbacks=[times])
        if dist.get_backend() != options.backend:
            raise SystemExit(f"transformers has made a process group of {dist.get_backend()}")
        trainer.train()
        losses = [entry["loss"] for entry in trainer.state.log_history if "loss" in entry]
    if dist.get_rank() == 0:
        seconds = sorted(times.seconds)[len(times.seconds) // 2]
        print(json.dumps({"backend": options.backend, "losses": losses, "iteration_s": seconds}) if options.json
              else f"{options.backend}, {dist.get_world_size()} ranks: loss {losses[-1]:.6f}, {1 / seconds:.0f} steps/s",
              flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
