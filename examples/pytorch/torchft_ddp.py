"""Trains a small model in replicas under torchft, and prints the time of an iteration.

    python torchft_ddp.py --backend ringlet

It starts torchft's lighthouse and the replicas itself, so torchrun is not needed. With --lose STEP
the last replica ends in that step, and the others continue without it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from datetime import timedelta

import torch
import torch.distributed as dist
import torchft
from torch import nn
from torchft.coordination import LighthouseServer
from torchft.process_group import ProcessGroupGloo


def process_group(backend):
    if backend == "gloo":
        return ProcessGroupGloo(timeout=timedelta(seconds=20))
    from ringlet.torchft import ProcessGroupRinglet

    return ProcessGroupRinglet(timeout=timedelta(seconds=20))


def train(options):
    """Runs in each replica. Each has a store of its own."""
    torch.set_num_threads(1)
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(16, 256), nn.ReLU(), nn.Linear(256, 1))
    store = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False)
    manager = torchft.Manager(
        pg=process_group(options.backend), min_replica_size=1, use_async_quorum=False, replica_id=f"replica_{options.replica}",
        load_state_dict=model.load_state_dict, state_dict=model.state_dict, rank=0, world_size=1,
        store_addr="localhost", store_port=store.port, lighthouse_addr=options.lighthouse, hostname="localhost",
        timeout=timedelta(seconds=30), quorum_timeout=timedelta(seconds=60))  # fmt: skip
    trained = torchft.DistributedDataParallel(manager, model)
    optimizer = torchft.Optimizer(manager, torch.optim.SGD(model.parameters(), lr=0.01))
    generator = torch.Generator().manual_seed(options.replica)
    losses, seconds, replicas = [], [], []
    for step in range(options.steps):
        if step == options.lose and options.replica == options.processes - 1:
            os._exit(0)  # like a machine without power
        inputs = torch.randn(32, 16, generator=generator)
        optimizer.zero_grad()
        begin = time.perf_counter()
        loss = nn.functional.mse_loss(trained(inputs), inputs.pow(2).sum(1, keepdim=True).sqrt())
        loss.backward()
        optimizer.step()
        seconds.append(time.perf_counter() - begin)
        losses.append(loss.item())
        replicas.append(manager.num_participants())
    if options.replica == 0:
        backend = manager._pg.getBackendName().removeprefix("torchft-")
        print(json.dumps({"backend": backend, "losses": losses, "replicas": replicas,
                          "iteration_s": statistics.median(seconds)}), flush=True)
    manager.shutdown(wait=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--lose", type=int, metavar="STEP", help="the last replica ends in this step")
    parser.add_argument("--json", action="store_true", help="one line with the results")
    parser.add_argument("--replica", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--lighthouse", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.replica is not None:
        return train(options)

    lighthouse = LighthouseServer(bind="[::]:0", min_replicas=1, join_timeout_ms=10_000,
                                          heartbeat_timeout_ms=2_000)
    words = [word for word in sys.argv[1:] if word != "--json"]
    replicas = [subprocess.Popen(
        [sys.executable, __file__, *words, "--replica", str(number), "--lighthouse", lighthouse.address()],
        stdout=subprocess.PIPE, text=True) for number in range(options.processes)]
    said = [replica.communicate()[0] for replica in replicas]
    lighthouse.shutdown()
    if any(replica.returncode for replica in replicas):
        raise SystemExit(f"replicas ended with {[replica.returncode for replica in replicas]}")
    result = json.loads(said[0].splitlines()[-1])
    if result["backend"] != options.backend:
        raise SystemExit(f"torchft has made a process group of {result['backend']}")
    print(json.dumps(result) if options.json else
          f"{result['backend']}, replicas {result['replicas'][0]} at first and {result['replicas'][-1]} at last: "
          f"loss {result['losses'][-1]:.6f}, {1 / result['iteration_s']:.0f} iterations/s", flush=True)


if __name__ == "__main__":
    main()
