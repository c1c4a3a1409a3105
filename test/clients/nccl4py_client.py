"""Runs nccl4py with cuda.core: two ranks of a process, on own streams, with device memory."""
import threading

import cuda.core
import nccl.core as nccl
import numpy as np

COUNT, RANKS = 1000, 2
unique_id = nccl.get_unique_id()
failures = []


class OnDevice:
    """Device memory for nccl4py, which accepts objects with an address."""

    def __init__(self, pointer):
        self.__cuda_array_interface__ = {"shape": (COUNT,), "typestr": "<f4", "data": (pointer, False),
                                         "version": 3, "stream": None}


def expect(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r} is not {wanted!r}")


def run(rank):
    device = cuda.core.Device(rank)
    device.set_current()
    stream = device.create_stream()
    comm = nccl.Communicator.init(nranks=RANKS, rank=rank, unique_id=unique_id)
    expect((comm.nranks, comm.rank), (RANKS, rank))
    # Device memory is the computer's memory: a CPU array on its bytes.
    memory = nccl.mem_alloc(4 * COUNT)
    pointer = int(memory.handle)
    values = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_float * COUNT).from_address(pointer))
    values[:] = rank + 1
    comm.allreduce(OnDevice(pointer), OnDevice(pointer), nccl.SUM, stream=stream)
    stream.sync()
    expect(values.tolist(), [3.0] * COUNT)
    comm.broadcast(OnDevice(pointer), OnDevice(pointer), 1, stream=stream)
    stream.sync()
    half = comm.split(0, rank)
    expect(half.nranks, RANKS)
    half.destroy()
    comm.finalize()
    comm.destroy()


def keep_failure(rank):
    try:
        run(rank)
    except BaseException as error:
        failures.append(f"rank {rank}: {type(error).__name__}: {error}")


threads = [threading.Thread(target=keep_failure, args=(rank,)) for rank in range(RANKS)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not failures, failures
print(f"nccl4py {nccl.__dict__.get('__version__', '')}: {RANKS} ranks right")
