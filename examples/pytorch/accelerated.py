"""Trains a small model with Hugging Face's accelerate, and prints the time of an iteration.

    torchrun --nproc-per-node 2 accelerated.py --backend ringlet

With the same seed and number of ranks the losses do not depend on the backend, except for the order
of the gradients' sums.
"""

import argparse
import json
import statistics
import time

import ringlet
import torch
from accelerate import Accelerator, InitProcessGroupKwargs
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def made_up_data(samples):
    generator = torch.Generator().manual_seed(1)
    inputs = torch.randn(samples, 16, generator=generator)
    return TensorDataset(inputs, inputs.pow(2).sum(1, keepdim=True).sqrt())


def train(accelerator, options):
    model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(made_up_data(2048), batch_size=32, shuffle=True)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    losses, seconds = [], []
    for _ in range(options.epochs):
        total = torch.zeros(2)
        for inputs, wanted in loader:
            begin = time.perf_counter()
            loss = nn.functional.mse_loss(model(inputs), wanted)
            optimizer.zero_grad()
            accelerator.backward(loss)
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            total += torch.tensor([loss.item(), 1.0])
        total = accelerator.reduce(total)
        losses.append((total[0] / total[1]).item())
        if not options.json:
            accelerator.print(f"mean loss {losses[-1]:.6f}")
    return losses, seconds[len(seconds) // 10 :]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    torch.set_num_threads(1)
    set_seed(2)
    ringlet.accelerate()
    accelerator = Accelerator(cpu=True, kwargs_handlers=[InitProcessGroupKwargs(backend=options.backend)])
    found = torch.distributed.get_backend()
    if found != options.backend:
        raise SystemExit(f"accelerate has made a process group of {found}")
    losses, seconds = train(accelerator, options)
    result = {"backend": found, "losses": losses, "iteration_s": statistics.median(seconds)}
    if options.json:
        accelerator.print(json.dumps(result), flush=True)
    else:
        accelerator.print(f"{found}, {accelerator.num_processes} ranks: {1 / result['iteration_s']:.0f} iterations/s")
    accelerator.wait_for_everyone()
    accelerator.end_training()


if __name__ == "__main__":
    main()
