"""Trains a small model with Ray Train, and prints the time of an iteration.

    python ray_train.py --backend ringlet

Ray starts the workers itself, so torchrun is not needed.
"""

import argparse
import json
import os
import statistics
import tempfile
import time

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray  # noqa: E402
from ray.train import RunConfig, ScalingConfig  # noqa: E402
from ray.train.torch import TorchConfig, TorchTrainer  # noqa: E402


def train(options):
    """Runs in each worker. Rank 0 writes its results to a file."""
    import torch
    import torch.distributed as dist
    from torch import nn

    torch.set_num_threads(1)
    torch.manual_seed(2)
    model = ray.train.torch.prepare_model(nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    generator = torch.Generator().manual_seed(dist.get_rank())
    losses, seconds = [], []
    for _ in range(options["epochs"]):
        total = torch.zeros(2)
        for _ in range(32):
            inputs = torch.randn(32, 16, generator=generator)
            begin = time.perf_counter()
            loss = nn.functional.mse_loss(model(inputs), inputs.pow(2).sum(1, keepdim=True).sqrt())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            seconds.append(time.perf_counter() - begin)
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        losses.append((total[0] / total[1]).item())
    if dist.get_rank() == 0:
        result = {"backend": dist.get_backend(), "losses": losses, "iteration_s": statistics.median(seconds)}
        with open(options["file"], "w") as out:
            json.dump(result, out)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    ray.init(num_cpus=options.processes + 1, include_dashboard=False, log_to_driver=False,
             logging_level="error")  # fmt: skip
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "result.json")
        TorchTrainer(
            train, train_loop_config={"epochs": options.epochs, "file": file},
            torch_config=TorchConfig(backend=options.backend),
            scaling_config=ScalingConfig(num_workers=options.processes),
            run_config=RunConfig(storage_path=folder)).fit()  # fmt: skip
        with open(file) as found:
            result = json.load(found)
    ray.shutdown()
    if result["backend"] != options.backend:
        raise SystemExit(f"Ray has made a process group of {result['backend']}")
    print(json.dumps(result) if options.json else
          f"{result['backend']}, {options.processes} ranks: loss {result['losses'][-1]:.6f}, "
          f"{1 / result['iteration_s']:.0f} iterations/s", flush=True)


if __name__ == "__main__":
    main()
