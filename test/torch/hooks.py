"""Tests callbacks of futures that call collectives, and DDP's communication hooks, which depend on
them.

    python hooks.py [-v] [Callbacks.test_name ...]

PyTorch itself refuses its bf16 hook without CUDA.
"""
import threading
import unittest
import unittest.mock
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import (
    default_hooks, powerSGD_hook, quantization_hooks)

from ours import on_ranks

SOON = timedelta(seconds=60)


def ones(count=3):
    return torch.ones(count)


class Callbacks(unittest.TestCase):
    def test_a_callback_calls_a_collective_of_its_group(self):
        def body(rank, size):
            for asynchronous in (False, True):
                def then(future):
                    got = future.value()[0]
                    work = dist.all_reduce(got, async_op=asynchronous)
                    if asynchronous:
                        work.wait()
                    return got

                first = dist.all_reduce(ones(), async_op=True).get_future()
                assert first.then(then).wait().tolist() == [size * size] * 3

        on_ranks(2, body, SOON)
        on_ranks(4, body, SOON)

    def test_a_caller_that_waits_runs_the_operation_itself(self):
        def body(rank, size):
            # Unless a helper was faster, which varies. A late callback runs in the thread that
            # added it; that does not count.
            ran_on = []
            for _ in range(500):
                work, waits = dist.all_reduce(ones(), async_op=True), []
                then = work.get_future().then(
                    lambda future: ran_on.append(threading.get_ident() if waits else None))
                waits.append(True)
                work.wait()
                then.wait()
            assert threading.get_ident() in ran_on, set(ran_on)

        on_ranks(2, body, SOON)

    def test_callbacks_can_be_chained(self):
        def body(rank, size):
            def more(future):
                got = future.value()
                got = got[0] if isinstance(got, list) else got
                return dist.all_reduce(got, async_op=True).get_future().wait()[0]

            future = dist.all_reduce(torch.ones(2, dtype=torch.double), async_op=True).get_future()
            for _ in range(20):
                future = future.then(more)
            assert future.wait().tolist() == [float(size) ** 21] * 2

        on_ranks(2, body, SOON)

    def test_callbacks_can_be_nested(self):
        def body(rank, size):
            def deeper(depth):
                work = dist.all_reduce(ones(), async_op=True)
                if depth == 0:
                    return work.get_future().wait()[0].sum().item()
                return work.get_future().then(lambda future: deeper(depth - 1)).wait()

            assert deeper(8) == 3 * size

        on_ranks(2, body, SOON)

    def test_a_callback_waits_for_later_operations(self):
        def body(rank, size):
            first = dist.all_reduce(ones(1 << 20), async_op=True).get_future()
            later = [dist.all_reduce(ones(), async_op=True) for _ in range(5)]
            futures = [work.get_future() for work in later]

            def then(future):
                later[1].wait()
                return sum(each.wait()[0].sum().item() for each in futures)

            assert first.then(then).wait() == 15 * size

        on_ranks(2, body, SOON)

    def test_a_callback_uses_another_group(self):
        def body(rank, size):
            other, gloo = dist.new_group(), dist.new_group(backend="gloo")

            def then(future):
                got = future.value()[0]
                dist.all_reduce(got, group=other)
                dist.all_reduce(got, group=other, async_op=True).wait()
                dist.all_reduce(got, group=gloo)
                dist.barrier()
                return got

            first = dist.all_reduce(ones(), async_op=True).get_future()
            back = dist.all_reduce(ones(), group=other, async_op=True)
            assert first.then(then).wait().tolist() == [size ** 4] * 3
            back.get_future().then(lambda future: dist.all_reduce(ones())).wait()

        on_ranks(3, body, SOON)

    def test_a_callback_sends_and_receives(self):
        def body(rank, size):
            right, left = (rank + 1) % size, (rank - 1) % size

            def around(future):
                got = torch.zeros(1)
                sent = dist.isend(torch.tensor([float(rank)]), right, tag=7)
                dist.recv(got, left, tag=7)
                sent.wait()
                return got

            first = dist.all_reduce(ones(), async_op=True).get_future()
            assert first.then(around).wait().item() == left
            # Also of a message's future: from the same peer, and a collective.
            sent = dist.isend(torch.tensor([1.0]), right)
            got = torch.zeros(1)
            received = dist.irecv(got, left).get_future().then(around)
            sent.wait()
            assert received.wait().item() == left
            told = dist.isend(torch.tensor([1.0]), right).get_future()
            told = told.then(lambda future: dist.recv(torch.zeros(1), left))
            assert told.wait() == left

        on_ranks(3, body, SOON)

    def test_a_callback_gathers_objects(self):
        def body(rank, size):
            def then(future):
                objects = [None] * size
                dist.all_gather_object(objects, {"rank": rank})
                return [each["rank"] for each in objects]

            first = dist.broadcast(ones(), 0, async_op=True).get_future()
            assert first.then(then).wait() == list(range(size))

        on_ranks(2, body, SOON)

    def test_a_failing_callback_fails_only_its_future(self):
        def body(rank, size):
            def then(future):
                raise ValueError("as the test wants it")

            failed = dist.all_reduce(ones(), async_op=True).get_future().then(then)
            self.assertRaisesRegex(Exception, "as the test wants it", failed.wait)
            dist.all_reduce(ones())

        on_ranks(2, body, SOON)

    def test_a_callback_may_destroy_the_group(self):
        def body(rank, size):
            group = dist.new_group()

            def then(future):
                dist.destroy_process_group(group)
                try:
                    group.allreduce([ones()]).wait()
                except RuntimeError as error:
                    return str(error)

            first = dist.all_reduce(ones(), group=group, async_op=True).get_future()
            assert "shut down" in first.then(then).wait()
            dist.all_reduce(ones())

        on_ranks(2, body, SOON)

    def test_a_waiter_sees_the_future_done(self):
        def body(rank, size):
            for _ in range(100):
                work = dist.all_reduce(ones(), async_op=True)
                future = work.get_future()
                work.wait()
                assert future.done() and work.is_completed()

        on_ranks(2, body, SOON)

    def test_futures_deliver_errors(self):
        def body(rank, size):
            if rank == 1:
                work = dist.all_reduce(ones(4), async_op=True)
            else:
                work = dist.all_reduce(ones(5), async_op=True)
            future = work.get_future().then(lambda future: future.wait())
            self.assertRaisesRegex(Exception, "all_reduce", future.wait)

        on_ranks(2, body, SOON)


def trained(backend, size, hook_of, steps=4):
    """Returns the parameters after some steps of DDP with a hook, equal on each rank."""
    def body(rank, world):
        group = dist.new_group(backend=backend)
        torch.manual_seed(5)
        model = torch.nn.Sequential(
            torch.nn.Linear(24, 40), torch.nn.ReLU(), torch.nn.Linear(40, 24, bias=False))
        parallel = torch.nn.parallel.DistributedDataParallel(model, process_group=group)
        parallel.register_comm_hook(*hook_of(group))
        optimizer = torch.optim.SGD(parallel.parameters(), lr=0.05)
        generator = torch.Generator().manual_seed(100 + rank)
        for _ in range(steps):
            optimizer.zero_grad()
            parallel(torch.randn(8, 24, generator=generator)).square().mean().backward()
            optimizer.step()
        return torch.cat([p.detach().reshape(-1) for p in model.parameters()])

    return body


class Hooks(unittest.TestCase):
    def check(self, hook_of, tolerance=1e-5):
        def body(rank, size):
            ours = trained("ringlet", size, hook_of)(rank, size)
            gloo = trained("gloo", size, hook_of)(rank, size)
            torch.testing.assert_close(ours, gloo, rtol=tolerance, atol=tolerance)
            least, most = ours.clone(), ours.clone()
            dist.all_reduce(least, dist.ReduceOp.MIN)
            dist.all_reduce(most, dist.ReduceOp.MAX)
            assert torch.equal(least, most), "the ranks do not have the same parameters"

        for size in (2, 4):
            with self.subTest(size=size):
                on_ranks(size, body, SOON)

    def test_the_all_reduce_hook_trains_right(self):
        self.check(lambda group: (group, default_hooks.allreduce_hook))

    def test_the_fp16_hook_trains_right(self):
        self.check(lambda group: (group, default_hooks.fp16_compress_hook), 1e-3)

    def test_the_fp16_wrapper_of_power_sgd_trains_right(self):
        self.check(lambda group: (self.power(group),
                                  default_hooks.fp16_compress_wrapper(powerSGD_hook.powerSGD_hook)),
                   1e-2)

    def power(self, group, **more):
        return powerSGD_hook.PowerSGDState(
            process_group=group, matrix_approximation_rank=2, start_powerSGD_iter=2,
            min_compression_rate=1, **more)

    def test_power_sgd_trains_right(self):
        self.check(lambda group: (self.power(group), powerSGD_hook.powerSGD_hook), 1e-4)

    def test_power_sgd_in_several_batches_trains_right(self):
        self.check(lambda group: (self.power(group, batch_tensors_with_same_shape=True),
                                  powerSGD_hook.powerSGD_hook), 1e-4)

    def test_batched_power_sgd_trains_right(self):
        # PyTorch 2.13 passes one matrix in place of a batch of them, on every backend.
        of_batches = powerSGD_hook._orthogonalize
        with unittest.mock.patch.object(
                powerSGD_hook, "_orthogonalize",
                lambda matrix: of_batches(matrix.unsqueeze(0) if matrix.dim() == 2 else matrix)):
            self.check(lambda group: (self.power(group), powerSGD_hook.batched_powerSGD_hook), 1e-4)

    def test_quantization_hooks_behave_as_with_gloo(self):
        # Up to 2.14 it expects one tensor in the futures of gathers, as in NCCL's, and fails;
        # Gloo's and ours hold a list.
        def outcome(backend, hook, rank, size):
            try:
                trained(backend, size, lambda group: (group, hook))(rank, size)
            except (RuntimeError, IndexError, TypeError) as error:
                return type(error)
            return "trained"

        def body(rank, size):
            for hook in (quantization_hooks.quantization_pertensor_hook,
                         quantization_hooks.quantization_perchannel_hook):
                found = [outcome(backend, hook, rank, size) for backend in ("gloo", "ringlet")]
                assert found[0] == found[1], found
            dist.all_reduce(ones())

        on_ranks(2, body, SOON)


if __name__ == "__main__":
    unittest.main()
