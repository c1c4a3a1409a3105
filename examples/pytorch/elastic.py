"""Kills a worker in the middle of training. torchrun restarts all workers, and training continues.

    torchrun --nproc-per-node 2 --max-restarts 1 elastic.py --backend ringlet --die-at 30

Rank 1 kills itself at that step, once. The others fail within a moment, with an error that names
it. torchrun restarts all workers, and they continue from the last checkpoint.
"""

import argparse
import os
import signal
import sys
import tempfile
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--backend", default="ringlet")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--die-at", type=int, default=30)
    parser.add_argument("--checkpoint", default=None)
    options = parser.parse_args()
    run = os.environ.get("TORCHELASTIC_RUN_ID", "run")
    path = options.checkpoint or os.path.join(tempfile.gettempdir(), f"elastic_{run}.pt")
    attempt = int(os.environ.get("TORCHELASTIC_RESTART_COUNT", "0"))

    torch.set_num_threads(1)
    dist.init_process_group(options.backend)
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = nn.Linear(32, 1)
    begin = 0
    if attempt > 0 and os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        begin = saved["step"]
    if rank == 0:
        print(f"attempt {attempt}: begins at step {begin}", flush=True)
    parallel = DistributedDataParallel(model)
    optimizer = torch.optim.SGD(parallel.parameters(), lr=0.01)
    last = time.monotonic()
    try:
        for step in range(begin, options.steps):
            if attempt == 0 and rank == 1 and step == options.die_at:
                os.kill(os.getpid(), signal.SIGKILL)
            inputs = torch.randn(16, 32)
            loss = nn.functional.mse_loss(parallel(inputs), inputs.sum(1, keepdim=True))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            last = time.monotonic()
            if rank == 0 and step % 10 == 9:
                torch.save({"model": model.state_dict(), "step": step + 1}, path)
    except RuntimeError as error:
        seconds = time.monotonic() - last
        print(f"rank {rank} fails after {seconds:.2f} s: {error}", file=sys.stderr, flush=True)
        raise SystemExit(1) from None
    if rank == 0:
        print(f"attempt {attempt}: done, at step {options.steps}", flush=True)
        os.unlink(path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
