"""Trains a small model with DeepSpeed's ZeRO, and prints the time of an iteration.

    DS_ACCELERATOR=cpu torchrun --nproc-per-node 2 deepspeed_zero.py --backend ringlet
"""

import argparse
import json
import os
import statistics
import time

os.environ.setdefault("DS_ACCELERATOR", "cpu")

import deepspeed  # noqa: E402
import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
from torch import nn  # noqa: E402


def train(engine, options):
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, seconds = [], []
    for _ in range(options.epochs):
        total = torch.zeros(2)
        for _ in range(32):
            inputs = torch.randn(32, 16, generator=generator)
            begin = time.perf_counter()
            loss = nn.functional.mse_loss(engine(inputs), inputs.pow(2).sum(1, keepdim=True).sqrt())
            engine.backward(loss)
            engine.step()
            seconds.append(time.perf_counter() - begin)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
    return losses, seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--stage", type=int, default=2, help="of ZeRO")
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(2)
    deepspeed.init_distributed(dist_backend=options.backend, verbose=False)
    found = dist.get_backend()
    if found != options.backend:
        raise SystemExit(f"DeepSpeed has made a process group of {found}")
    model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1))
    config = {"train_micro_batch_size_per_gpu": 32, "zero_optimization": {"stage": options.stage},
              "zero_force_ds_cpu_optimizer": False, "zero_allow_untested_optimizer": True}  # fmt: skip
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    engine, *_ = deepspeed.initialize(model=model, optimizer=optimizer, config=config)
    losses, seconds = train(engine, options)
    if dist.get_rank() == 0:
        median = statistics.median(seconds)
        result = {"backend": found, "losses": losses, "iteration_s": median}
        print(json.dumps(result) if options.json else
              f"{found}, {dist.get_world_size()} ranks: loss {losses[-1]:.6f}, {1 / median:.0f} iterations/s",
              flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
