"""Trains a small model in Ray's actors. They average gradients by ray.util.collective.

    python ray_collective.py --backend ringlet

Ray starts the actors itself, so torchrun is not needed.
"""

import argparse
import json
import os
import statistics
import time

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import ray  # noqa: E402
import torch  # noqa: E402
from ray.util import collective  # noqa: E402
from torch import nn  # noqa: E402


def register(backend):
    """Runs on the driver and in each actor. Ray knows Gloo by itself."""
    if backend == "ringlet":
        import ringlet.ray

        ringlet.ray.register()


@ray.remote(num_cpus=1)
class Worker:
    def __init__(self, rank, options):
        self.rank, self.options = rank, options
        register(options["backend"])
        torch.set_num_threads(1)
        torch.manual_seed(2)
        self.model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1))

    def average(self, tensor):
        collective.allreduce(tensor)
        return tensor / self.options["processes"]

    def train(self):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        generator = torch.Generator().manual_seed(self.rank)
        losses, seconds = [], []
        for _ in range(self.options["epochs"]):
            total = torch.zeros(1)
            for _ in range(32):
                inputs = torch.randn(32, 16, generator=generator)
                begin = time.perf_counter()
                loss = nn.functional.mse_loss(self.model(inputs), inputs.pow(2).sum(1, keepdim=True).sqrt())
                optimizer.zero_grad()
                loss.backward()
                gradients = nn.utils.parameters_to_vector(each.grad for each in self.model.parameters())
                nn.utils.vector_to_parameters(
                    self.average(gradients), [each.grad for each in self.model.parameters()])
                optimizer.step()
                seconds.append(time.perf_counter() - begin)
                total += loss.item() / 32
            losses.append(self.average(total).item())
        group = type(collective.get_group_handle()).backend().lower()
        collective.destroy_collective_group()
        return {"backend": group, "losses": losses, "iteration_s": statistics.median(seconds)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--json", action="store_true", help="one line with the results")
    options = parser.parse_args()

    ray.init(num_cpus=options.processes + 1, include_dashboard=False, log_to_driver=False,
             logging_level="error")  # fmt: skip
    register(options.backend)
    ranks = list(range(options.processes))
    workers = [Worker.remote(rank, vars(options)) for rank in ranks]
    collective.create_collective_group(workers, options.processes, ranks, backend=options.backend)
    result = ray.get([worker.train.remote() for worker in workers])[0]
    ray.shutdown()
    if result["backend"] != options.backend:
        raise SystemExit(f"Ray has made a group of {result['backend']}")
    print(json.dumps(result) if options.json else
          f"{result['backend']}, {options.processes} ranks: loss {result['losses'][-1]:.6f}, "
          f"{1 / result['iteration_s']:.0f} iterations/s", flush=True)


if __name__ == "__main__":
    main()
