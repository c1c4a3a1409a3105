"""Tests PyTorch's requirements on a backend since 2.14: changing members, windows, symmetric
memory, records.

    python contract.py [-v] [Members.test_name ...]

Tests that need a newer PyTorch are skipped with a message.
"""
import functools
import gc
import os
import pickle
import signal
import unittest
from datetime import timedelta

import torch
import torch.distributed as dist
import torch.distributed.distributed_c10d as c10d

import ringlet
from ours import on_ranks, the_store

CPU = torch.device("cpu")
SOON = timedelta(seconds=30)
needs_members = unittest.skipUnless(hasattr(c10d, "_reconfigure"), "reconfigure came with PyTorch 2.14")
needs_windows = unittest.skipUnless(hasattr(c10d, "_new_window"), "windows came with PyTorch 2.14")


def backend_of(group=None):
    return (group or dist.group.WORLD)._get_backend(CPU)


def sums_to(wanted):
    tensor = torch.full((5,), dist.get_rank() + 1.0)
    dist.all_reduce(tensor)
    assert tensor.tolist() == [float(wanted)] * 5, tensor


class Collector:
    """Exchanges the handles of ranks through the store."""

    def __init__(self, rank, size):
        self.rank, self.size, self.times = rank, size, 0

    def handles(self):
        self.times += 1
        the_store().set(f"handle{self.times} {self.rank}", c10d._get_reconfigure_handle())
        return [the_store().get(f"handle{self.times} {rank}").decode() for rank in range(self.size)]

    def meet(self, what):
        the_store().set(f"{what} {self.rank}", "1")
        the_store().wait([f"{what} {rank}" for rank in range(self.size)])


@needs_members
class Members(unittest.TestCase):
    def test_ranks_leave_and_rejoin_in_another_order(self):
        def body(rank, size):
            collector = Collector(rank, size)
            sums_to(6)
            handles = collector.handles()
            if rank != 1:
                c10d._reconfigure(1, [handles[2], handles[0]], timeout=SOON).wait()
                assert (dist.get_rank(), dist.get_world_size()) == ({0: 1, 2: 0}[rank], 2)
                sums_to(3)
                if dist.get_rank() == 0:
                    dist.send(torch.ones(2), 1)
                elif dist.get_rank() == 1:
                    dist.recv(torch.zeros(2), 0)
            handles = collector.handles()
            c10d._reconfigure(2, handles[::-1], timeout=SOON).wait()
            assert dist.get_rank() == size - 1 - rank
            sums_to(6)

        on_ranks(3, body)

    def test_a_dead_rank_is_excluded(self):
        def body(rank, size):
            collector = Collector(rank, size)
            sums_to(6)
            handles = collector.handles()
            collector.meet("told")
            if rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            with self.assertRaises(RuntimeError):
                dist.all_reduce(torch.ones(1))
            c10d._reconfigure(1, [handles[0], handles[2]], timeout=SOON).wait()
            sums_to(3)

        on_ranks(3, body, may_die=(1,))

    def test_a_set_of_handles_is_sorted(self):
        def body(rank, size):
            handles = Collector(rank, size).handles()
            c10d._reconfigure(1, set(handles), timeout=SOON).wait()
            assert dist.get_rank() == sorted(handles).index(handles[rank])
            sums_to(3)

        on_ranks(2, body)

    def test_invalid_handles_are_refused_and_the_group_works(self):
        def body(rank, size):
            own = c10d._get_reconfigure_handle()
            other = own.replace("ringlet:", "ringlet:0")
            for handles, why in ([], "not among"), ([other], "not among"), ([own, own], "same handle"), (["gloo:0:-1:0:"], "no handle"), (
                    [own + "1"], "collect the handles again"):
                with self.assertRaisesRegex(ValueError, why):
                    c10d._reconfigure(7, handles, timeout=SOON)
            sums_to(3)
            c10d._reconfigure(rank, [own], timeout=SOON).wait()
            sums_to(1)
            with self.assertRaisesRegex(RuntimeError, "already used"):
                c10d._reconfigure(rank, [c10d._get_reconfigure_handle()], timeout=SOON)
            with self.assertRaisesRegex(ValueError, "collect the handles again"):
                c10d._reconfigure(9, [own], timeout=SOON)

        on_ranks(2, body)

    def test_ranks_with_other_members_receive_an_error(self):
        def body(rank, size):
            collector = Collector(rank, size)
            handles = collector.handles()
            if rank == 0:
                try:
                    c10d._reconfigure(1, handles[:1], timeout=SOON).wait()
                finally:
                    collector.meet("first")
            else:
                collector.meet("first")
                with self.assertRaisesRegex(RuntimeError, "already used for other members"):
                    c10d._reconfigure(1, handles, timeout=SOON).wait()
            handles = collector.handles()
            c10d._reconfigure(2, handles, timeout=SOON).wait()
            sums_to(3)

        on_ranks(2, body)

    def test_an_absent_member_is_awaited_for_the_given_time(self):
        def body(rank, size):
            collector = Collector(rank, size)
            handles = collector.handles()
            if rank == 0:
                with self.assertRaisesRegex(RuntimeError, "Timed out"):
                    c10d._reconfigure(1, handles, timeout=timedelta(milliseconds=300)).wait()
            handles = collector.handles()
            c10d._reconfigure(2, handles, timeout=SOON).wait()
            sums_to(3)

        on_ranks(2, body)

    def test_pending_operations_are_aborted(self):
        def body(rank, size):
            handles = Collector(rank, size).handles()
            sums_to(3)
            work = dist.all_reduce(torch.ones(3), async_op=True) if rank == 0 else None
            received = dist.irecv(torch.zeros(1), 0) if rank == 1 else None
            c10d._reconfigure(1, handles, timeout=SOON).wait()
            with self.assertRaisesRegex(RuntimeError, "anew|abort"):
                (work or received).wait()
            sums_to(3)

        on_ranks(2, body)

    def test_a_group_without_members_requires_reconfigure(self):
        def body(rank, size):
            dist.destroy_process_group()
            store = dist.HashStore()
            dist.init_process_group("ringlet", store=store, rank=0, world_size=1, enable_reconfigure=True)
            with self.assertRaisesRegex(RuntimeError, "call reconfigure first"):
                dist.all_reduce(torch.ones(1))
            backend_of().set_timeout(timedelta(seconds=9))
            c10d._reconfigure(1, [c10d._get_reconfigure_handle()], timeout=SOON).wait()
            sums_to(1)

        on_ranks(1, body)


@needs_windows
class Windows(unittest.TestCase):
    def body(self, rank, size, make):
        tensor = make(8 * size)
        tensor.fill_(-1)
        window = c10d._new_window(tensor)
        right, left = (rank + 1) % size, (rank - 1) % size
        for again in range(20):
            window.put(torch.full((8,), 10.0 * again + rank), right, 8 * rank, again % 2 == 1)
            window.signal(right, False)
            window.wait_signal(left, False)
            assert tensor[8 * left:8 * left + 8].eq(10.0 * again + left).all(), (again, tensor)
            dist.barrier()
        big = torch.arange(8.0 * size) + rank
        window.put(big, rank, 0, False)
        assert torch.equal(tensor, big)
        dist.barrier()
        if make is not torch.zeros:
            there = window.map_remote_tensor(right)
            assert torch.equal(there, torch.arange(8.0 * size) + right)
            dist.barrier()
            there[3] = 77.0
            dist.barrier()
            assert tensor[3] == 77.0
        window.tensor_deregister()
        window.tensor_register(tensor[:3], True)
        window.tensor_deregister()

    def test_put_signal_and_wait_work_in_shared_memory(self):
        for size in (2, 4):
            on_ranks(size, functools.partial(self.body, make=ringlet.empty))

    def test_put_signal_and_wait_work_in_any_memory(self):
        on_ranks(3, functools.partial(self.body, make=torch.zeros))

    def test_invalid_arguments_are_refused(self):
        def body(rank, size):
            window = c10d._new_window()
            for call in (lambda: window.put(torch.ones(1), 0, 0, False), lambda: window.signal(0, False),
                         lambda: window.wait_signal(0, False), lambda: window.map_remote_tensor(0),
                         window.tensor_deregister):
                self.assertRaisesRegex(RuntimeError, "not registered", call)
            with self.assertRaisesRegex(RuntimeError, "contiguous"):
                window.tensor_register(torch.ones(4, 4).t(), True)
            tensor = ringlet.empty(16 * (1 + rank)).fill_(0)
            window.tensor_register(tensor, True)
            with self.assertRaisesRegex(RuntimeError, "double registration"):
                window.tensor_register(tensor, True)
            for offset, count in ((-1, 1), (1, 16), (17, 1), (1 << 61, 1)):
                with self.assertRaisesRegex(RuntimeError, "exceeds the window size of rank 0"):
                    window.put(torch.ones(count), 0, offset, False)
            with self.assertRaisesRegex(RuntimeError, "Int"):
                window.put(torch.ones(1, dtype=torch.int32), 0, 0, False)
            for peer in (-1, size):
                with self.assertRaisesRegex(ValueError, "not between 0 and 1"):
                    window.signal(peer, False)
            window.put(torch.ones(16), 1, 16, False)
            dist.barrier()
            assert rank == 0 or tensor[16:].eq(1).all()

        on_ranks(2, body)

    def test_a_missing_signal_times_out(self):
        def body(rank, size):
            window = c10d._new_window(ringlet.empty(4))
            if rank == 0:
                dist.group.WORLD.set_timeout(timedelta(milliseconds=200))
                with self.assertRaisesRegex(RuntimeError, "Timed out.*signal 1 of context 0 from rank 1"):
                    window.wait_signal(1, False)
                the_store().set("seen", "1")
            else:
                the_store().wait(["seen"])

        on_ranks(2, body)

    def test_memory_of_a_deleted_window_is_not_written(self):
        def body(rank, size):
            window = c10d._new_window(torch.zeros(1 << 16))
            dist.barrier()
            del window
            gc.collect()
            dist.barrier()
            dist.all_reduce(torch.ones(3))

        on_ranks(2, body)


def symmetric():
    import torch.distributed._symmetric_memory as symm_mem

    return symm_mem


def meet(tensor, group=None):
    """Works with any version: until 2.14 groups had to be enabled, by name only."""
    name = (group or dist.group.WORLD).group_name
    return symmetric().rendezvous(tensor, name)


class SymmetricMemory(unittest.TestCase):
    def test_ranks_read_and_write_each_others_tensors(self):
        def body(rank, size):
            tensor = symmetric().empty(1000, device="cpu").fill_(rank)
            handle = meet(tensor)
            assert (handle.rank, handle.world_size, handle.buffer_size) == (rank, size, 4000)
            handle.barrier()
            for peer in range(size):
                assert handle.get_buffer(peer, (10, 100), torch.float32).eq(peer).all()
            handle.barrier(channel=1)
            handle.get_buffer((rank + 1) % size, (10,), torch.float32, 20).fill_(100 + rank)
            handle.barrier()
            assert tensor[20:30].eq(100 + (rank - 1) % size).all()
            assert tensor[:20].eq(rank).all() and tensor[30:].eq(rank).all()
            assert meet(tensor) is not None  # again: the same result

        for size in (1, 2, 3, 4):
            on_ranks(size, body)

    def test_signals_order_writes(self):
        def body(rank, size):
            tensor = symmetric().empty(1, dtype=torch.int64, device="cpu").zero_()
            handle = meet(tensor)
            there = handle.get_buffer((rank + 1) % size, (1,), torch.int64)
            for turn in range(300):
                there.fill_(turn)
                handle.put_signal((rank + 1) % size, channel=3)
                handle.wait_signal((rank - 1) % size, channel=3)
                assert tensor.item() == turn
                handle.barrier()
            assert handle.get_signal_pad(rank).sum() == 0

        for size in (2, 4):
            on_ranks(size, body)

    def test_collectives_accept_symmetric_memory(self):
        def body(rank, size):
            import torch.distributed._functional_collectives as functions

            tensor = symmetric().empty(100_000, device="cpu").fill_(rank + 1)
            meet(tensor)
            assert functions.all_reduce(tensor, "sum", dist.group.WORLD).eq(3).all()
            dist.all_reduce(tensor)
            assert tensor.eq(3).all()

        on_ranks(2, body)

    def test_groups_of_some_ranks_share_symmetric_memory(self):
        def body(rank, size):
            group = dist.new_group([0, 2])
            tensor = symmetric().empty(8, device="cpu").fill_(rank)
            if rank != 1:
                handle = meet(tensor, group)
                handle.barrier()
                assert handle.get_buffer(1, (8,), torch.float32).eq(2).all()
                handle.barrier()

        on_ranks(3, body)

    def test_invalid_arguments_are_refused(self):
        def body(rank, size):
            tensor = symmetric().empty(16, device="cpu")
            handle = meet(tensor)
            for peer in (-1, size):
                self.assertRaisesRegex((RuntimeError, ValueError), "not between 0 and 1|rank",
                                       handle.put_signal, peer)
                self.assertRaisesRegex(RuntimeError, "rank", handle.get_buffer, peer, (1,), torch.float32)
            self.assertRaisesRegex((RuntimeError, ValueError), "lacks channel", handle.barrier, 1 << 20)
            self.assertRaisesRegex(RuntimeError, "exceeds", handle.get_buffer, 0, (17,), torch.float32)
            dist.barrier()

        on_ranks(2, body)

    def test_tensors_of_different_sizes_are_refused(self):
        def body(rank, size):
            tensor = symmetric().empty(16 + 5000 * rank, device="cpu")
            self.assertRaisesRegex(RuntimeError, "one size", meet, tensor)

        on_ranks(2, body)

    def test_a_wait_ends_when_the_other_process_ends(self):
        def body(rank, size):
            handle = meet(symmetric().empty(16, device="cpu"))
            handle.barrier()
            if rank == 1:
                os.kill(os.getpid(), signal.SIGKILL)
            self.assertRaisesRegex(RuntimeError, "has ended|aborted", handle.barrier)

        on_ranks(2, body, may_die=(1,))

    def test_a_wait_ends_with_its_timeout_and_with_its_group(self):
        def body(rank, size):
            handle = meet(symmetric().empty(16, device="cpu"))
            self.assertRaisesRegex(RuntimeError, "Timed out.*rank 1 on channel 5 for 30 ms" if rank == 0 else "Timed out",
                                   handle.wait_signal, 1 - rank, 5, 30)
            backend_of().abort()
            self.assertRaisesRegex(RuntimeError, "aborted", handle.wait_signal, 1 - rank, 6)

        on_ranks(2, body)

    def test_late_use_of_a_buffer_does_not_crash(self):
        def body(rank, size):
            tensor = symmetric().empty(1 << 20, device="cpu").fill_(7)
            handle = meet(tensor)
            late = handle.get_buffer(1 - rank, (1 << 20,), torch.float32)
            handle.barrier()
            del handle, tensor
            gc.collect()
            dist.barrier()
            late.sum().item()

        on_ranks(2, body)

    def test_groups_of_other_backends_are_refused(self):
        def body(rank, size):
            gloo = dist.new_group(backend="gloo")
            self.assertRaisesRegex(ValueError, "has another backend", meet, symmetric().empty(4, device="cpu"), gloo)

        on_ranks(2, body)


class Records(unittest.TestCase):
    @unittest.skipUnless(hasattr(c10d, "FlightRecorderHook"), "recorders of other backends came with PyTorch 2.15")
    def test_pytorchs_flight_recorder_shows_the_state_of_operations(self):
        def body(rank, size):
            from torch._C._distributed_c10d import _dump_fr_trace

            dist.all_reduce(torch.ones(4))
            dist.broadcast(torch.ones(3), 0, async_op=True).wait()
            if rank == 0:
                late = dist.all_reduce(torch.ones(5), async_op=True)
                entries = pickle.loads(_dump_fr_trace(True, False, False, backend="ringlet"))["entries"]
                found = [(each["profiling_name"], each["state"], each["input_sizes"]) for each in entries]
                assert found == [("ringlet:all_reduce", "completed", [[4]]), ("ringlet:broadcast", "completed", [[3]]),
                                 ("ringlet:all_reduce", "scheduled", [[5]])], found
                the_store().set("looked", "1")
            else:
                the_store().wait(["looked"])
                late = dist.all_reduce(torch.ones(5), async_op=True)
            late.wait()

        on_ranks(2, body)

    @unittest.skipUnless(hasattr(dist.Backend, "memory_stats"), "memory_stats came with PyTorch 2.12")
    def test_memory_stats_count_shared_and_tensor_memory(self):
        def body(rank, size):
            def stats():
                found = backend_of().memory_stats
                return found() if callable(found) else found

            assert stats()["shared_bytes"] == 0
            dist.all_reduce(torch.ones(4))
            assert stats()["shared_bytes"] > 0
            before = stats()["reachable_tensor_bytes"]
            tensor = ringlet.empty(1 << 20, dtype=torch.uint8)
            assert stats()["reachable_tensor_bytes"] == before + tensor.numel()

        on_ranks(2, body)

    @unittest.skipUnless(hasattr(dist.ProcessGroup, "_add_ephemeral_timeout"), "extensions came with PyTorch 2.15")
    def test_an_ephemeral_timeout_applies_once(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            dist.group.WORLD.set_timeout(timedelta(milliseconds=150))
            dist.group.WORLD._add_ephemeral_timeout(timedelta(seconds=30))
            if rank == 1:
                with self.assertRaises(RuntimeError):  # longer than the timeout itself
                    the_store().wait(["nobody sets this"], timedelta(milliseconds=600))
            dist.all_reduce(torch.ones(1))
            the_store().set(f"long {rank}", "1")
            the_store().wait(["long 0", "long 1"])
            if rank == 0:
                self.assertRaisesRegex(RuntimeError, "Timed out", dist.all_reduce, torch.ones(1))
                the_store().set("short", "1")
            else:
                the_store().wait(["short"])

        on_ranks(2, body)

    def test_gather_works_into_one_tensor(self):
        def body(rank, size):
            backend = backend_of()
            gather = getattr(backend, "gather_single", None) or getattr(backend, "gather_into_tensor", None)
            if gather is None:
                self.skipTest("gathers into one tensor came with PyTorch 2.14")
            options = dist.GatherOptions()
            options.rootRank = 1
            out = torch.zeros(size * 3) if rank == 1 else torch.zeros(0)
            gather(out, torch.full((3,), float(rank)), options).wait()
            assert rank != 1 or out.tolist() == [0.0] * 3 + [1.0] * 3

        try:
            on_ranks(2, body)
        except AssertionError as error:
            if "SkipTest" in str(error):
                self.skipTest("gathers into one tensor came with PyTorch 2.14")
            raise


if __name__ == "__main__":
    unittest.main()
