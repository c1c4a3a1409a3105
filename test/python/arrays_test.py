"""Tests ringlet.Communicator with NumPy (Arrays), ml_dtypes (SmallFloats) and torch (Tensors).

    python arrays_test.py BUILD [-v] [TEST...]
"""
import subprocess
import sys
import unittest

import ranks

TYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")


def own(comm, kind, *shape):
    import numpy

    return (numpy.arange(numpy.prod(shape, dtype=int)).reshape(shape) % 5 + comm.rank).astype(kind)


def numpy_results(comm):
    import numpy

    for kind in TYPES:
        every = [(own(comm, kind, 4, 3) - comm.rank + rank).astype(kind) for rank in range(comm.size)]
        for recv in (None, numpy.empty((4, 3), kind)):
            got = comm.all_reduce(own(comm, kind, 4, 3), recv)
            numpy.testing.assert_array_equal(got, sum(every[1:], every[0]))
            assert got.dtype == kind and (recv is None or got is recv)
        numpy.testing.assert_array_equal(comm.all_gather(own(comm, kind, 4, 3)), numpy.stack(every))
        reduced = comm.reduce_scatter(own(comm, kind, 4, 3))
        numpy.testing.assert_array_equal(reduced, numpy.split(sum(every[1:], every[0]), comm.size)[comm.rank])
        gathered = comm.gather(own(comm, kind, 4, 3), root=1)
        assert (gathered is None) == (comm.rank != 1)
        exchanged = comm.all_to_all(own(comm, kind, 4, 3))
        numpy.testing.assert_array_equal(exchanged, numpy.concatenate([numpy.split(each, comm.size)[comm.rank]
                                                                       for each in every]))
    assert comm.all_reduce(numpy.array(1.5)).shape == ()
    assert comm.all_reduce(numpy.empty((0, 3))).shape == (0, 3)
    assert comm.reduce_scatter(numpy.ones((1, 2))).tolist() == [comm.size]
    assert comm.all_gather(b"ab").tolist() == [97, 98] * comm.size
    assert comm.all_reduce(memoryview(numpy.ones(2))).tolist() == [comm.size] * 2


def numpy_other_types(comm):
    import numpy

    record = numpy.dtype([("day", "M8[D]"), ("text", "U4"), ("flag", "?")])
    mine = numpy.array([("2026-01-0%d" % (comm.rank + 1), "rank", True)], record)
    for kind, value in (("int16", comm.rank), ("bool", comm.rank > 0), (">f8", comm.rank), ("complex64", comm.rank),
                        ("M8[s]", 10 + comm.rank), (record, mine[0])):
        send = numpy.array([value], kind)
        got = comm.all_gather(send)
        assert got.dtype == kind and got[comm.rank, 0] == send[0] and len(set(got[:, 0].tolist())) == comm.size, got
    read_only = numpy.ones(3)
    read_only.flags.writeable = False
    assert comm.all_reduce(read_only).tolist() == [comm.size] * 3
    aligned = numpy.frombuffer(bytearray(8 * 3 + 1), "f8", offset=1)
    aligned[:] = 1
    assert comm.all_reduce(aligned, aligned).tolist() == [comm.size] * 3 and not aligned.flags.aligned
    assert comm.all_reduce(numpy.float32(2)) == 2 * comm.size


def numpy_wrong(comm):
    import numpy

    case, ones = unittest.TestCase(), numpy.ones((4, 4))
    read_only = numpy.ones((4, 4))
    read_only.flags.writeable = False
    for call, kind, text in (
        (lambda: comm.all_reduce(ones[:, 1]), ValueError, "send is not contiguous"),
        (lambda: comm.all_reduce(numpy.asfortranarray(ones)), ValueError, "send is not contiguous in the order of C"),
        (lambda: comm.all_reduce(ones, ones.T), ValueError, "recv is not contiguous.*copy it into recv"),
        (lambda: comm.all_reduce(ones, read_only), ValueError, "recv is read-only"),
        (lambda: comm.all_reduce(ones, numpy.float64(0)), ValueError, "recv is read-only"),
        (lambda: comm.all_reduce(ones, ones.astype("f4")), TypeError, "recv has the type float32, and send float64"),
        (lambda: comm.all_reduce(ones, ones[0]), ValueError, "recv has 4 elements.*needs 16"),
        (lambda: comm.all_reduce(ones > 0), TypeError, "the type bool, which cannot be reduced"),
        (lambda: comm.all_reduce(ones.astype(">f8")), TypeError, ">f8, which cannot be reduced.*native byte order"),
        (lambda: comm.all_gather(ones.astype(object)), TypeError, "Python objects.*all_gather_object"),
        (lambda: comm.reduce_scatter(numpy.ones(3)), ValueError, "send has 3 elements.*2 ranks cannot share"),
        (lambda: comm.all_reduce([1.0]), TypeError, "send is list"),
    ):
        with case.assertRaisesRegex(kind, text):
            call()
    comm.barrier()


def small_floats(comm):
    import ml_dtypes
    import numpy

    for name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        kind = numpy.dtype(getattr(ml_dtypes, name))
        for send in (numpy.full((2, 2), 2, kind), numpy.array(2, kind)):
            got = comm.all_reduce(send)
            assert got.dtype == kind and (got.astype("f4") == 2 * comm.size).all(), got
        send.flags.writeable = False
        assert comm.all_reduce(send).astype("f4") == 2 * comm.size


def tensors(comm):
    import torch

    for kind in (torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64):
        tensor = torch.full((3, 2), 2, dtype=kind)
        got = comm.all_reduce(tensor)
        assert got.dtype == kind and (got == 2 * comm.size).all() and (tensor == 2).all()
        assert comm.all_reduce(tensor, tensor) is tensor and (tensor == 2 * comm.size).all()
        assert comm.all_gather(tensor[1]).shape == (comm.size, 2)
    assert comm.broadcast(torch.tensor([comm.rank == 1]), 1).item()
    assert comm.all_reduce(torch.empty(0, 3)).shape == (0, 3)
    mixed = comm.all_reduce(torch.ones(2), memoryview(bytearray(8)).cast("f"))
    assert list(mixed) == [comm.size] * 2
    class Old:
        """A tensor of a library with DLPack before 1.0, which does not report read-only memory."""

        def __init__(self):
            self.memory = torch.ones(4, 4)

        def __dlpack_device__(self):
            return self.memory.__dlpack_device__()

        def __dlpack__(self):
            return self.memory.__dlpack__()

    assert comm.all_reduce(Old()).tolist() == [comm.size] * 16
    case, ones = unittest.TestCase(), torch.ones(4, 4)
    for call, kind, text in (
        (lambda: comm.all_reduce(ones.T), ValueError, "send is not contiguous"),
        (lambda: comm.all_reduce(ones[:, 0]), ValueError, "send is not contiguous"),
        (lambda: comm.all_reduce(torch.empty(4, device="meta")), TypeError, "over DLPack|on the DL"),
        (lambda: comm.all_reduce(torch.ones(1, requires_grad=True)), TypeError, "over DLPack: .*grad"),
        (lambda: comm.all_reduce(torch.ones(1, dtype=torch.int16)), TypeError, "int16, which cannot be reduced"),
        (lambda: comm.all_reduce(ones, torch.ones(15)), ValueError, "recv has 15 elements"),
        (lambda: comm.all_reduce(ones, Old()), ValueError, "recv is read-only"),
        (lambda: comm.all_reduce(torch.ones(2).to_sparse()), TypeError, "send"),
    ):
        with case.assertRaisesRegex(kind, text):
            call()
    comm.barrier()


class Arrays(ranks.Ranks):
    def test_numpy(self):
        for function in (numpy_results, numpy_other_types, numpy_wrong):
            with self.subTest(function.__name__):
                self.run_ranks(function, 2)


class SmallFloats(ranks.Ranks):
    def test_small_floats_of_ml_dtypes(self):
        self.run_ranks(small_floats, 2)


class Tensors(ranks.Ranks):
    def test_torch(self):
        self.run_ranks(tensors, 2)

    def test_torchrun(self):
        program = ("import ringlet, numpy\n"
                   "with ringlet.Communicator.from_launcher() as comm:\n"
                   "    assert comm.all_reduce(numpy.ones(1)) == 2\n"
                   "    print(f'{comm.rank} {comm.size}\\n', end='')\n")
        done = subprocess.run([sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2",
                               "--no-python", sys.executable, "-c", program],
                              env=ranks.environment(OMP_NUM_THREADS="1"), capture_output=True, text=True,
                              timeout=ranks.TIMEOUT_S)
        self.assertEqual((done.returncode, sorted(done.stdout.splitlines())), (0, ["0 2", "1 2"]), done.stderr)


if __name__ == "__main__":
    ranks.main(globals())
