"""A rank ends its program without destroy_process_group while another is still at work. PyTorch
aborts its communicator. The other rank's watchdog, which queries errors all the time, does not
disturb that rank."""
import os
import sys
import time

import torch
import torch.distributed as dist

dist.init_process_group("nccl")
rank = dist.get_rank()
torch.cuda.set_device(rank)
tensor = torch.full((4,), float(rank + 1)).cuda()
dist.all_reduce(tensor)
torch.cuda.synchronize()
assert tensor.cpu().tolist() == [3.0] * 4
store = dist.distributed_c10d._get_default_store()
if rank == 0:
    store.set("pid", str(os.getpid()))
    sys.exit(0)

# Rank 0 has ended when its process is gone or is a zombie.
pid = store.get("pid").decode()


def has_ended():
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] == "Z"
    except FileNotFoundError:
        return True


while not has_ended():
    time.sleep(0.05)
# Meanwhile the watchdog queries many times.
until = time.monotonic() + 3
work = 0
while time.monotonic() < until:
    work += float(torch.ones(1000).sum())
assert tensor.cpu().tolist() == [3.0] * 4
print("rank 1 worked on after rank 0 had left")
