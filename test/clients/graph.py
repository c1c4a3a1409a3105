"""A captured all-reduce: PyTorch's CUDA graph of communication, replayed."""
import os

import torch
import torch.distributed as dist

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
REPLAYS = 5

torch.cuda.set_device(rank)
dist.init_process_group("nccl")
tensor, source = torch.zeros(1000).cuda(), torch.full((1000,), float(rank + 1)).cuda()
dist.all_reduce(tensor)  # communicators form outside of captures
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    tensor.copy_(source)
    dist.all_reduce(tensor)
    source.copy_(tensor)
total = float(rank + 1)
expected = size * (size + 1) / 2
assert source.cpu()[0] == total  # captured, not executed
for _ in range(REPLAYS):
    graph.replay()
    torch.cuda.synchronize()
    assert torch.equal(source.cpu(), torch.full((1000,), expected)), (source.cpu()[:4], expected)
    expected *= size
graph.reset()  # PyTorch's group is notified of the end of a graph that used it
dist.destroy_process_group()
print(f"rank {rank} of {size}: {REPLAYS} replays right", flush=True)
