"""Runs torch.distributed's operations with "nccl" on emulated devices: exact results."""
import os

import torch
import torch.distributed as dist

from ringlet.torch import HostCompute

rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
COUNT = 1000


def mine(value=None, count=COUNT):
    """Returns a tensor on the device; its elements are this rank's number + 1, or `value`."""
    return torch.full((count,), float(rank + 1 if value is None else value)).cuda()


def expect(tensor, values):
    torch.cuda.synchronize()
    found = tensor.cpu()
    wanted = values if isinstance(values, torch.Tensor) else torch.full_like(found, float(values))
    assert torch.equal(found, wanted), (found[:8], wanted[:8])


def ranks_in_turn(count=COUNT, first=1):
    return torch.arange(size).repeat_interleave(count).float() + first


total = size * (size + 1) / 2


def all_reduce():
    for operation, value in ((dist.ReduceOp.SUM, total), (dist.ReduceOp.MAX, size),
                             (dist.ReduceOp.MIN, 1), (dist.ReduceOp.AVG, total / size)):
        tensor = mine()
        dist.all_reduce(tensor, operation)
        expect(tensor, value)
    work = dist.all_reduce(tensor := mine(), async_op=True)
    work.wait()
    expect(tensor, total)


def reduce():
    tensor = mine()
    dist.reduce(tensor, size - 1)
    if rank == size - 1:
        expect(tensor, total)


def broadcast():
    tensor = mine()
    dist.broadcast(tensor, size - 1)
    expect(tensor, size)


def all_gather():
    whole = mine(0, COUNT * size)
    dist.all_gather_into_tensor(whole, mine())
    expect(whole, ranks_in_turn())
    parts = [mine(0) for _ in range(size)]
    dist.all_gather(parts, mine())
    for r, part in enumerate(parts):
        expect(part, r + 1)


def reduce_scatter():
    part = mine(0)
    dist.reduce_scatter_tensor(part, ranks_in_turn(first=0).cuda())
    expect(part, rank * size)


def all_to_all():
    received = mine(0, COUNT * size)
    dist.all_to_all_single(received, mine(None, COUNT * size))
    expect(received, ranks_in_turn())


def gather():
    parts = [mine(0) for _ in range(size)] if rank == 0 else None
    dist.gather(mine(), parts)
    for r, part in enumerate(parts or []):
        expect(part, r + 1)


def scatter():
    received = mine(0)
    dist.scatter(received, [mine(10 * r) for r in range(size)] if rank == 0 else None)
    expect(received, 10 * rank)


def send_and_receive():
    received = mine(0)
    messages = [dist.P2POp(dist.isend, mine(), (rank + 1) % size),
                dist.P2POp(dist.irecv, received, (rank - 1) % size)]
    for work in dist.batch_isend_irecv(messages):
        work.wait()
    expect(received, (rank - 1) % size + 1)


def barrier():
    dist.barrier(device_ids=[rank])


def objects():
    box, boxes = [{"rank": rank}], [None] * size
    with HostCompute():  # PyTorch adds up the sizes of the objects
        dist.broadcast_object_list(box, size - 1)
        dist.all_gather_object(boxes, {"rank": rank})
    assert box == [{"rank": size - 1}], box
    assert boxes == [{"rank": r} for r in range(size)], boxes


def new_groups():
    even = list(range(0, size, 2))
    group = dist.new_group(even)
    if rank in even:
        tensor = mine()
        dist.all_reduce(tensor, group=group)
        expect(tensor, sum(r + 1 for r in even))
    tensor = mine()
    dist.all_reduce(tensor)
    expect(tensor, total)


def streams():
    side, event = torch.cuda.Stream(), torch.cuda.Event()
    tensor = mine()
    event.record()
    with torch.cuda.stream(side):
        event.wait()
        dist.all_reduce(tensor)
    torch.cuda.current_stream().wait_stream(side)
    expect(tensor, total)


torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank) if size == 4 else None)
done = 0
for operation in (all_reduce, reduce, broadcast, all_gather, reduce_scatter, all_to_all, gather, scatter,
                  send_and_receive, barrier, objects, new_groups, streams):
    operation()
    done += 1
dist.destroy_process_group()
print(f"rank {rank} of {size}: {done} operations right", flush=True)
