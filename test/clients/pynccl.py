"""Runs PyNcclCommunicator: pynccl.py sglang|vllm. Each of its operations on streams of its own:
exact results.

The communicators of inference servers call nccl.h by ctypes, with PyTorch's current stream.
"""
import importlib
import os
import sys

import torch
import torch.distributed as dist

from ringlet.torch import HostCompute

PACKAGES = {"sglang": "sglang.srt.distributed.device_communicators",
            "vllm": "vllm.distributed.device_communicators"}
package = sys.argv[1]
rank, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
COUNT = 1000
ROUNDS = 20
device = torch.device("cuda", rank)
total = size * (size + 1) / 2
rows = [r + 1 for r in range(size)]  # per rank, if they differ


def filled(value, count=COUNT):
    return torch.full((count,), float(value)).to(device)


def expect(tensor, values):
    torch.cuda.current_stream().synchronize()
    found = tensor.cpu()
    wanted = values if isinstance(values, torch.Tensor) else torch.full_like(found, float(values))
    assert torch.equal(found, wanted), (found[:8], wanted[:8])


def by_rank(counts, first=1):
    return torch.arange(size).repeat_interleave(torch.tensor(counts)).float() + first


def sum_out_of_place(comm):
    """SGLang's all_reduce changes its tensor; vLLM's returns another one."""
    return comm.outplace_all_reduce if package == "sglang" else comm.all_reduce


def all_reduce(comm):
    source = filled(rank + 1)
    expect(sum_out_of_place(comm)(source), total)
    expect(source, rank + 1)
    for operation, value in ((dist.ReduceOp.MAX, size), (dist.ReduceOp.MIN, 1), (dist.ReduceOp.AVG, total / size)):
        expect(sum_out_of_place(comm)(source, op=operation), value)
    for dtype in (torch.bfloat16, torch.float16, torch.int32):
        expect(sum_out_of_place(comm)(source.cpu().to(dtype).to(device)), torch.full((COUNT,), total).to(dtype))
    if package == "sglang":
        comm.all_reduce(source)
        expect(source, total)


def all_gather(comm):
    whole = filled(0, COUNT * size)
    comm.all_gather(whole, filled(rank + 1))
    expect(whole, by_rank([COUNT] * size))
    whole = filled(0, sum(rows))
    gather = comm.all_gather if package == "sglang" else comm.all_gatherv
    gather(whole, filled(rank + 1, rows[rank]), sizes=rows)
    expect(whole, by_rank(rows))


def reduce_scatter(comm):
    part = filled(0)
    comm.reduce_scatter(part, by_rank([COUNT] * size, first=0).to(device))
    expect(part, rank * size)
    part = filled(0, rows[rank])
    scatter = comm.reduce_scatter if package == "sglang" else comm.reduce_scatterv
    scatter(part, by_rank(rows, first=0).to(device), sizes=rows)
    expect(part, rank * size)


def broadcast(comm):
    tensor = filled(rank + 1)
    comm.broadcast(tensor, size - 1)
    expect(tensor, size)


def send_and_receive(comm):
    received = filled(0)
    comm.group_start()
    comm.send(filled(rank + 1), (rank + 1) % size)
    comm.recv(received, (rank - 1) % size)
    comm.group_end()
    expect(received, (rank - 1) % size + 1)


def all_to_all(comm):
    received = filled(0, COUNT * size)
    comm.all_to_all_single(received, filled(rank + 1, COUNT * size))
    expect(received, by_rank([COUNT] * size))


def rooted(comm):
    root = size - 1
    summed = filled(0)
    comm.reduce(summed, filled(rank + 1), root)
    expect(summed, total if rank == root else 0)
    part = filled(0, rows[rank])
    comm.scatter(part, by_rank(rows).to(device), rows, root)
    expect(part, rank + 1)


def streams(comm):
    """The host runs ahead. Calls are ordered in a stream, and across streams by events alone."""
    side, made = torch.cuda.Stream(), torch.cuda.Event()
    source, values = filled(0), [filled(rank + i) for i in range(ROUNDS)]
    for i in range(ROUNDS):
        source.copy_(values[i], non_blocking=True)
        made.record()
        with torch.cuda.stream(side):
            made.wait()
            values[i] = sum_out_of_place(comm)(source)
        torch.cuda.current_stream().wait_stream(side)
    for i in range(ROUNDS):
        expect(values[i], total + size * (i - 1))


def graph(comm):
    source, result, captured = filled(rank + 1), filled(0), torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result.copy_(sum_out_of_place(comm)(source))
    expect(result, 0)
    for value in (1, 2, 3):
        source.copy_(torch.full((COUNT,), float(value)))
        captured.replay()
        torch.cuda.synchronize()
        expect(result, value * size)
    captured.reset()


def window(comm):
    address = comm.nccl.ncclMemAlloc(4 * COUNT) if package == "sglang" else None
    tensor = torch.as_tensor(AtAddress(address), device=device) if address else filled(0)
    tensor.copy_(torch.full((COUNT,), float(rank + 1)))
    registered = comm.register_comm_window_raw(tensor.data_ptr(), 4 * COUNT)
    expect(sum_out_of_place(comm)(tensor), total)
    comm.deregister_comm_window(registered)
    if address:
        comm.nccl.ncclMemFree(address)


class AtAddress:
    """Memory of ncclMemAlloc, in a form for PyTorch."""

    def __init__(self, address):
        self.__cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<f4", "data": (address, False), "version": 3}


def suspended(comm):
    comm.suspend()
    comm.resume()
    expect(sum_out_of_place(comm)(filled(rank + 1)), total)


def without_process_group(comm):
    """Transfers weights to servers as trainers do: any transport of the id, no torch.distributed.
    """
    box = [bytes(comm.nccl.ncclGetUniqueId().internal) if rank == 0 else None]
    dist.broadcast_object_list(box, 0)
    other = type(comm).from_unique_id_bytes(box[0], rank, size, device)
    tensor = filled(rank + 1)
    other.broadcast(tensor, 0)
    expect(tensor, 1)
    dist.barrier()  # destroy aborts, also the ranks that have not received yet
    other.destroy()


BOTH = [all_reduce, all_gather, reduce_scatter, broadcast, send_and_receive, streams, graph, window]
OPERATIONS = {"sglang": [*BOTH, all_to_all], "vllm": [*BOTH, rooted, suspended, without_process_group]}

torch.cuda.set_device(rank)
dist.init_process_group("gloo")
PyNcclCommunicator = importlib.import_module(PACKAGES[package] + ".pynccl").PyNcclCommunicator
with HostCompute():  # it warms up with a tensor of zeros
    communicator = PyNcclCommunicator(dist.group.WORLD, device)
assert communicator.available, "the package has found no NCCL"
communicator.disabled = False  # SGLang enables it so for its graphs
for stream in (torch.cuda.Stream(), torch.cuda.default_stream()):
    with torch.cuda.stream(stream):
        for operation in OPERATIONS[package]:
            operation(communicator)
torch.cuda.synchronize()
dist.barrier()
version = communicator.nccl.ncclGetVersion()
if package == "vllm":
    communicator.destroy()
else:
    communicator.nccl.ncclCommDestroy(communicator.comm)
dist.destroy_process_group()
print(f"rank {rank} of {size}: {package}, NCCL {version}: {len(OPERATIONS[package])} operations right", flush=True)
