"""Tests beyond PyTorch's suite: types, layouts, splits, tags, errors, ends, forks.

    python ours.py [-v] [Ranks.test_name ...]

Each test runs on some ranks, forked from this process, and fails if one of them does.
"""
import contextlib
import functools
import json
import multiprocessing
import os
import pathlib
import random
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import unittest
from datetime import timedelta
from unittest import mock

import torch
import torch.distributed as dist

import ringlet
from ringlet import pmix
from ringlet._backend import extension_path
from ringlet.launchers import pmix_variables, rank_variables

TYPES = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.float16,
    torch.bfloat16, torch.float32, torch.float64, torch.complex64, torch.complex128,
    torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz, torch.float8_e5m2fnuz,
    torch.uint16, torch.uint32, torch.uint64,
]


def _child(body, rank, size, file, timeout, pipe):
    try:
        torch.set_num_threads(1)
        dist.init_process_group(
            "ringlet", init_method=f"file://{file}", rank=rank, world_size=size, timeout=timeout
        )
        body(rank, size)
        if dist.is_initialized():
            dist.destroy_process_group()
        pipe.send(None)
    except BaseException:
        pipe.send(traceback.format_exc())
    finally:
        pipe.close()


def the_store():
    """Returns the store of this test's ranks."""
    return dist.distributed_c10d._get_default_store()


def on_ranks(size, body, timeout=timedelta(seconds=60), may_die=()):
    context = multiprocessing.get_context("fork")
    with tempfile.TemporaryDirectory() as folder:
        children = []
        for rank in range(size):
            ours, theirs = context.Pipe(duplex=False)
            child = context.Process(
                target=_child, args=(body, rank, size, folder + "/store", timeout, theirs)
            )
            child.start()
            theirs.close()
            children.append((child, ours))
        failures = []
        for rank, (child, pipe) in enumerate(children):
            try:
                failure = pipe.recv() if pipe.poll(100) else "no answer after 100 s"
            except EOFError:
                failure = None if rank in may_die else "died"
            if failure:
                failures.append(f"rank {rank}: {failure}")
            child.join(20 if not failure else 1)
            if child.is_alive():
                failures.append(f"rank {rank} does not end")
                child.kill()
        if failures:
            raise AssertionError("\n".join(failures))


def values(type_, count, seed):
    """Returns elements of any type, reproducible."""
    generator = torch.Generator().manual_seed(seed)
    small = torch.randint(0, 2 if type_ == torch.bool else 100, (count,), generator=generator)
    if type_ in (torch.uint16, torch.uint32, torch.uint64) or "float8" in str(type_):
        return small.to(torch.uint8).repeat_interleave(type_.itemsize).view(type_)
    return small.to(type_)


def same(a, b):
    return a.shape == b.shape and torch.equal(
        a.contiguous().view(-1).view(torch.uint8), b.contiguous().view(-1).view(torch.uint8)
    )


class Ranks(unittest.TestCase):
    def test_every_type_moves(self):
        def body(rank, size):
            for type_ in TYPES:
                mine = [values(type_, 7, 10 * r + 1) for r in range(size)]
                got = mine[rank].clone()
                dist.broadcast(got, 1)
                assert same(got, mine[1]), f"broadcast of {type_}"
                into = torch.empty(7 * size, dtype=type_)
                dist.all_gather_into_tensor(into, mine[rank])
                assert all(same(into[7 * r:7 * r + 7], mine[r]) for r in range(size)), type_
                lists = [torch.empty(7, dtype=type_) for _ in range(size)]
                dist.all_gather(lists, mine[rank])
                assert all(same(a, b) for a, b in zip(lists, mine)), f"all_gather of {type_}"
                dist.gather(mine[rank], lists if rank == 0 else None, 0)
                got = torch.empty(7, dtype=type_)
                dist.scatter(got, mine if rank == 2 else None, 2)
                assert same(got, mine[rank]), f"scatter of {type_}"
                dist.all_to_all(lists, [mine[rank]] * size)
                assert all(same(a, b) for a, b in zip(lists, mine)), f"all_to_all of {type_}"
                if rank == 0:
                    dist.send(mine[0], 1)
                elif rank == 1:
                    dist.recv(got, 0)
                    assert same(got, mine[0]), f"send of {type_}"

        on_ranks(3, body)

    def test_every_reduction_of_every_type_is_right(self):
        ops = dist.ReduceOp
        floats = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
        integers = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]

        def body(rank, size):
            for type_ in floats + integers:
                mine = [(values(type_, 33, 5 + r) % 4).to(type_) for r in range(size)]
                for op, want in (
                    (ops.SUM, mine[0] + mine[1] + mine[2]),
                    (ops.PRODUCT, mine[0] * mine[1] * mine[2]),
                    (ops.MIN, torch.minimum(torch.minimum(mine[0], mine[1]), mine[2])),
                    (ops.MAX, torch.maximum(torch.maximum(mine[0], mine[1]), mine[2])),
                ):
                    got = mine[rank].clone()
                    dist.all_reduce(got, op)
                    torch.testing.assert_close(got, want.to(type_), msg=f"{op} of {type_}")
                if type_ in integers:
                    for op, want in (
                        (ops.BAND, mine[0] & mine[1] & mine[2]),
                        (ops.BOR, mine[0] | mine[1] | mine[2]),
                        (ops.BXOR, mine[0] ^ mine[1] ^ mine[2]),
                    ):
                        got = mine[rank].clone()
                        dist.all_reduce(got, op)
                        assert torch.equal(got, want), f"{op} of {type_}"
                else:
                    got = mine[rank].clone()
                    dist.all_reduce(got, ops.AVG)
                    want = (mine[0].double() + mine[1].double() + mine[2].double()) / 3
                    torch.testing.assert_close(got, want.to(type_), rtol=1e-2, atol=1e-2)
            yes_no = [torch.tensor([True, False, r == 1]) for r in range(size)]
            for op, want in ((ops.SUM, [True, False, True]), (ops.PRODUCT, [True, False, False]),
                             (ops.BAND, [True, False, False]), (ops.BOR, [True, False, True])):
                got = yes_no[rank].clone()
                dist.all_reduce(got, op)
                assert got.tolist() == want, f"{op} of bool: {got}"
            got = torch.full((5,), complex(rank, 1))
            dist.all_reduce(got)
            assert torch.equal(got, torch.full((5,), complex(3, 3)))

        on_ranks(3, body)

    def test_unsupported_types_are_refused_and_the_group_works(self):
        def body(rank, size):
            for tensor, op in (
                (torch.zeros(3), dist.ReduceOp.BAND),
                (torch.zeros(3, dtype=torch.complex64), dist.ReduceOp.MAX),
                (torch.zeros(3, dtype=torch.float8_e5m2fnuz), dist.ReduceOp.SUM),
            ):
                try:
                    dist.all_reduce(tensor, op)
                except (RuntimeError, ValueError):
                    continue
                raise AssertionError(f"{op} of {tensor.dtype} was done")
            one = torch.ones(1)
            dist.all_reduce(one)
            assert one.item() == size

        on_ranks(2, body)

    def test_an_unwritable_tensor_is_refused_before_anything_is_sent(self):
        def body(rank, size):
            expanded = torch.ones(1).expand(4)
            overlapping = torch.arange(20.0).as_strided((3, 4), (2, 1))
            for bad in (expanded, overlapping):
                before = bad.clone()
                new = lambda: torch.ones(bad.shape)
                for call in (
                    lambda: dist.all_reduce(bad),
                    lambda: dist.broadcast(bad, 1 - rank) if rank == 0 else dist.broadcast(bad, 0),
                    lambda: dist.reduce(bad, rank),
                    lambda: dist.all_gather([bad, bad], new()),
                    lambda: dist.all_gather_into_tensor(torch.ones(1).expand(8), torch.ones(4)),
                    lambda: dist.scatter(bad, [new(), new()] if rank == 0 else None, 0),
                    lambda: dist.reduce_scatter(bad, [new(), new()]),
                    lambda: dist.all_to_all([bad, bad], [new(), new()]),
                    lambda: dist.recv(bad, 1 - rank),
                ):
                    self.assertRaisesRegex(RuntimeError, "one place", call)
                assert torch.equal(bad, before)
                total = torch.ones(1)
                dist.all_reduce(total)
                assert total.item() == size, "the group still works"
            # A read-only tensor may have any layout.
            lists = [torch.zeros(4), torch.zeros(4)]
            dist.all_gather(lists, expanded)
            assert all(each.eq(1).all() for each in lists)
            one = torch.full((1,), 5.0).expand(4) if rank == 0 else torch.zeros(4)
            dist.broadcast(one, 0)
            assert one.eq(5).all()
            interleaved = torch.zeros(8).as_strided((2, 3), (3, 2))  # each place once
            dist.all_reduce(interleaved.fill_(1))
            assert interleaved.eq(2).all()

        on_ranks(2, body)

    def test_tensors_of_inference_mode_are_accepted(self):
        def body(rank, size):
            with torch.inference_mode():
                turned, dense = torch.ones(3, 4).t(), torch.ones(5)
            for tensor in (turned, dense):
                dist.all_reduce(tensor)
                assert tensor.eq(size).all()
            dist.all_gather([turned, torch.ones(4, 3)], torch.full((4, 3), 7.0))
            assert turned.eq(7).all()

        on_ranks(2, body)

    def test_a_refused_call_fails_on_the_other_ranks(self):
        def body(rank, size, formed):
            if formed:
                dist.all_reduce(torch.ones(1))
            sends = [3, 3, 3] if rank == 1 else [2, 2, 2]
            with self.assertRaises(RuntimeError) as caught:
                dist.all_to_all_single(torch.zeros(6), torch.ones(6), [2, 2, 2], sends)
            if rank == 1:
                the_store().wait(["told 0", "told 2"])
                return
            said = str(caught.exception)
            assert "rank 1 refused its arguments" in said and "Split sizes" in said, said
            the_store().set(f"told {rank}", "1")

        for formed in (True, False):
            with self.subTest(formed=formed):
                on_ranks(3, functools.partial(body, formed=formed))

    def test_a_rank_may_repeat_a_refused_call(self):
        def body(rank, size, formed):
            if formed:
                dist.all_reduce(torch.ones(1))
            got = torch.zeros(6)
            if rank == 1:
                with self.assertRaises(RuntimeError):
                    dist.all_to_all_single(got, torch.ones(6), [2, 2, 2], [3, 3, 3])
            dist.all_to_all_single(got, torch.full((6,), float(rank)), [2, 2, 2], [2, 2, 2])
            assert got.tolist() == [0, 0, 1, 1, 2, 2]

        for formed in (True, False):
            with self.subTest(formed=formed):
                on_ranks(3, functools.partial(body, formed=formed))

    def test_the_group_works_after_all_ranks_refuse_at_different_times(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            for again in range(2):
                with self.assertRaises(RuntimeError):
                    dist.all_to_all_single(torch.zeros(6), torch.ones(6), [2, 2, 2], [3, 3, 3])
                late = dist.all_reduce(torch.ones(1), async_op=True) if rank != 1 else None
                if rank == 1:  # longer than a refusal waits before it takes effect
                    with contextlib.suppress(RuntimeError):
                        the_store().wait(["nobody sets this"], timedelta(seconds=1))
                    late = dist.all_reduce(torch.ones(1), async_op=True)
                late.wait()

        on_ranks(3, body)

    def test_strided_and_empty_tensors_are_accepted(self):
        def body(rank, size):
            whole = torch.zeros(4, 6)
            column = whole[:, 1]
            column += rank + 1
            dist.all_reduce(column)
            assert column.tolist() == [3.0] * 4 and whole.sum() == 12
            turned = torch.arange(6.0).view(2, 3).t()
            dist.broadcast(turned, 0)
            assert torch.equal(turned, torch.arange(6.0).view(2, 3).t())
            empty = torch.empty(0, 3)
            dist.all_reduce(empty)
            into = torch.empty(0)
            dist.all_gather_into_tensor(into, torch.empty(0))
            dist.all_to_all_single(torch.empty(0), torch.empty(0))
            if rank == 0:
                dist.send(torch.empty(0), 1)
            else:
                dist.recv(torch.empty(0), 0)
            parameter = torch.nn.Parameter(torch.ones(3, 2).t())
            dist.all_reduce(parameter.data)
            in_place = torch.full((2 * size,), -1.0)
            part = in_place[2 * rank:2 * rank + 2]
            part.fill_(rank)
            dist.all_gather_into_tensor(in_place, part)
            assert in_place.tolist() == [0, 0, 1, 1]

        on_ranks(2, body)

    def test_collectives_accept_unequal_parts(self):
        def body(rank, size):
            lists = [torch.empty(r + 1) for r in range(size)]
            dist.all_gather(lists, torch.full((rank + 1,), float(rank)))
            assert all(torch.equal(t, torch.full((r + 1,), float(r))) for r, t in enumerate(lists))
            mine = torch.empty(rank + 1)
            dist.reduce_scatter(mine, [torch.ones(r + 1) for r in range(size)])
            assert torch.equal(mine, torch.full((rank + 1,), float(size)))
            # rank r sends s + 1 rows to rank s
            sends = torch.full((6, 2), float(rank))
            got = torch.empty((rank + 1) * 3, 2)
            dist.all_to_all_single(got, sends, [rank + 1] * 3, [1, 2, 3])
            want = torch.arange(3.0).repeat_interleave(rank + 1).view(-1, 1).expand(-1, 2)
            assert torch.equal(got, want)

        on_ranks(3, body)

    def test_large_scatters_take_parts_of_any_layout(self):
        joined = (64 << 10) // 4  # elements of the largest parts that the root joins

        def body(rank, size):
            for count in (joined - 1, joined, joined + 1, 300_001):
                for root in range(size):
                    wanted = torch.arange(count, dtype=torch.float32) + rank
                    got = torch.empty(2, count)[1] if count % 2 else torch.empty(count, 2)[:, 0]
                    parts = [torch.arange(count, dtype=torch.float32) + r for r in range(size)]
                    parts[1] = torch.stack([parts[1], parts[1]], 1)[:, 0]  # with gaps
                    work = dist.scatter(got, parts if rank == root else None, root, async_op=True)
                    work.wait()
                    assert torch.equal(got, wanted), (count, root)
                    with torch.inference_mode():
                        got = torch.empty(count)
                    dist.scatter(got, parts if rank == root else None, root, async_op=True).wait()
                    assert torch.equal(got, wanted), (count, root)

        on_ranks(3, body)

    def test_different_scatters_name_the_rank(self):
        large, other = torch.ones(50_000), torch.ones(50_000, dtype=torch.int32)
        one = torch.ones(1, dtype=torch.int64)
        for odd, words in (
                (torch.ones(40_000), "rank 1 receives 160000 bytes of Float, but root 0 sends 200000 bytes of Float"),
                (other, "rank 1 receives 200000 bytes of Int, but root 0 sends 200000 bytes of Float"),
                (torch.ones(15_000), "a scatter of large tensors begins with this all_gather"),
                (one, "a scatter of large tensors begins with this all_gather")):
            def body(rank, size):
                mine = odd if rank == 1 else large
                try:
                    dist.scatter(torch.empty_like(mine), [mine] * size if rank == 0 else None)
                except RuntimeError as error:
                    if rank != 1 or odd.nbytes > 65536:
                        assert words in str(error), error
                else:
                    raise AssertionError("no error")

            on_ranks(3, body)

    def test_collectives_accept_tensors_in_shared_memory(self):
        def body(rank, size):
            count = 300_000
            for again in range(3):  # the second and third time in the memory of the first
                whole = ringlet.empty(count)
                assert whole.shape == (count,) and whole.dtype == torch.float32
                whole.fill_(rank + 1)
                dist.all_reduce(whole)
                assert whole.eq(sum(range(1, size + 1))).all()
                every = ringlet.empty(size, count // 2, dtype=torch.int16)
                every[rank].fill_(rank + again)
                dist.all_gather_into_tensor(every, every[rank])
                for other in range(size):
                    assert every[other].eq(other + again).all(), other
                part = ringlet.empty((count // 4, 2), dtype=torch.float64)
                parts = ringlet.empty((size * part.shape[0], 2), dtype=torch.float64).fill_(rank)
                dist.reduce_scatter_tensor(part, parts)
                assert part.eq(sum(range(size))).all()
                inner = whole[100:1100].fill_(7.0 * (rank == 1))
                work = dist.broadcast(inner, 1, async_op=True)
                work.wait()
                assert inner.eq(7).all() and whole[99] != 7 and whole[1100] != 7
            ordinary = torch.ones(count) if rank else ringlet.empty(count).fill_(1)
            dist.all_reduce(ordinary)  # some tensors are unreachable for other ranks: copied
            assert ordinary.eq(size).all()
            assert ringlet.empty(0).shape == (0,) and ringlet.empty(()).shape == ()
            self.assertRaisesRegex(RuntimeError, "no memory", ringlet.empty, 1 << 60)
            self.assertRaises((RuntimeError, ValueError), ringlet.empty, -1)

        on_ranks(3, body)

    def test_tensor_memory_outlives_its_group(self):
        def body(rank, size):
            kept = ringlet.empty(100_000).fill_(rank)
            for _ in range(2):
                group = dist.new_group()
                dist.all_reduce(kept, group=group)
                dist.destroy_process_group(group)
            assert kept.eq(sum(range(size)) * size).all()

        on_ranks(2, body)

    def test_gradients_of_ddp_lie_in_tensor_memory(self):
        def body(rank, size):
            backend = dist.group.WORLD._get_backend(torch.device("cpu"))
            assert backend.supports_tensor_alloc(torch.device("cpu"))
            made = backend.allocate_tensor(10, dtype=torch.bfloat16, device=torch.device("cpu"))
            assert made.shape == (10,) and made.dtype == torch.bfloat16
            model = torch.nn.Linear(300, 300)
            with torch.no_grad():
                model.weight.fill_(0.5)
            parallel = torch.nn.parallel.DistributedDataParallel(
                model, gradient_as_bucket_view=True)
            parallel(torch.full((1, 300), float(rank))).sum().backward()
            assert model.weight.grad.eq(sum(range(size)) / size).all()

        on_ranks(2, body)

    def test_receives_match_tags_and_any_rank(self):
        def body(rank, size):
            if rank > 0:
                works = [dist.isend(torch.tensor([rank * 10.0 + t]), 0, tag=t) for t in range(3)]
                for work in works:
                    work.wait()
                return
            for tag in (2, 0, 1):
                seen = set()
                for _ in range(size - 1):
                    got = torch.zeros(1)
                    source = dist.recv(got, tag=tag)
                    assert got.item() == source * 10 + tag
                    seen.add(source)
                assert seen == {1, 2, 3}

        on_ranks(4, body)

    def test_messages_and_collectives_need_no_common_order(self):
        def body(rank, size):
            if rank == 0:
                dist.all_reduce(torch.ones(4))
                dist.send(torch.tensor([7.0]), 1)
            else:
                got = torch.zeros(1)
                message = dist.irecv(got, 0)
                dist.all_reduce(torch.ones(4))
                message.wait()
                assert got.item() == 7

        on_ranks(2, body)

    def test_a_sent_message_survives_its_sender(self):
        def body(rank, size):
            store = the_store()
            if rank == 0:
                dist.send(torch.zeros(1), 1)  # the two have connected then
                dist.send(torch.arange(1000.0), 1)
                dist.destroy_process_group()
                store.set("rank 0 is gone", "1")
            else:
                dist.recv(torch.empty(1), 0)
                store.wait(["rank 0 is gone"])
                got = torch.empty(1000)
                dist.recv(got, 0)
                assert torch.equal(got, torch.arange(1000.0))

        on_ranks(2, body)

    def test_many_operations_run_at_once(self):
        def body(rank, size):
            tensors = [torch.full((n,), float(rank)) for n in (1, 100, 10000, 5)] * 10
            works = [dist.all_reduce(t, async_op=True) for t in tensors]
            now = torch.ones(1)
            dist.all_reduce(now)
            assert now.item() == size and all(w.is_completed() for w in works), "in their order"
            futures = [w.get_future() for w in works]
            assert all(f.wait()[0].sum() == t.sum() for f, t in zip(futures, tensors))
            later = dist.all_reduce(torch.ones(2), async_op=True).get_future()
            assert later.then(lambda f: f.value()[0].sum().item()).wait() == 2 * size

        on_ranks(2, body)

    def test_batches_of_messages_and_coalesced_calls_work(self):
        def body(rank, size):
            right, left = (rank + 1) % size, (rank - 1) % size
            got = torch.zeros(3)
            ops = [dist.P2POp(dist.isend, torch.full((3,), float(rank)), right),
                   dist.P2POp(dist.irecv, got, left)]
            for work in dist.batch_isend_irecv(ops):
                work.wait()
            assert torch.equal(got, torch.full((3,), float(left)))
            own = torch.zeros(3)
            ops = [dist.P2POp(dist.isend, torch.full((3,), float(rank)), rank),
                   dist.P2POp(dist.irecv, own, rank)]
            for batch in (ops, ops[::-1]):
                own.zero_()
                for work in dist.batch_isend_irecv(batch):
                    work.wait()
                assert torch.equal(own, torch.full((3,), float(rank)))
            a, b = torch.ones(3), torch.ones(2)
            with dist._coalescing_manager():
                dist.all_reduce(a)
                dist.all_reduce(b)
            assert a.tolist() == [size] * 3 and b.tolist() == [size] * 2

        on_ranks(3, body)

    def test_a_block_of_a_rank_for_itself_must_fit(self):
        def body(rank, size):
            source, target, name = torch.ones(4, 2), torch.ones(4, 2), dist.group.WORLD.group_name
            calls = (
                lambda: dist.all_to_all_single(target, source, [1, 3], [2, 2]),
                lambda: dist.all_to_all([torch.ones(1), torch.ones(3)], [torch.ones(2), torch.ones(2)]),
                lambda: ringlet.ops.all_to_all_single(target, source, name, [1, 3], [2, 2]),
            )
            for call in calls:
                try:
                    call()
                except RuntimeError as error:
                    assert f"rank {rank} sends" in str(error) and "to itself" in str(error), error
                else:
                    raise AssertionError("its block does not fit")
            dist.all_reduce(target)  # all have refused, so the group continues
            assert target[0, 0].item() == size

        on_ranks(2, body)

    def test_an_average_of_bool_is_refused(self):
        def body(rank, size):
            try:
                dist.all_reduce(torch.ones(2, dtype=torch.bool), dist.ReduceOp.AVG)
            except RuntimeError as error:
                assert "avg does not exist for Bool" in str(error), error
            else:
                raise AssertionError("an average of bool")

        on_ranks(2, body)

    def test_a_lost_rank_is_named(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            if rank == 1:
                os._exit(3)
            try:
                dist.all_reduce(torch.ones(1 << 20))
            except RuntimeError as error:
                assert "rank 1" in str(error), error
            else:
                raise AssertionError("an all_reduce without rank 1 succeeded")

        on_ranks(3, body, may_die=(1,))

    def test_a_wait_for_a_dead_rank_fails(self):
        def receive():
            dist.recv(torch.zeros(1), 1, tag=7)

        def receive_from_anybody():
            dist.recv(torch.zeros(1), tag=7)

        def receive_later():
            dist.irecv(torch.zeros(1), 1, tag=7).get_future().wait()

        def send():
            dist.send(torch.zeros(1), 1, tag=7)

        def collective():
            dist.all_reduce(torch.zeros(1), async_op=True).get_future().wait()

        def body(rank, size, before, waits, tagged):
            before(rank)
            if rank == 1:
                the_store().wait([f"rank {other} waits" for other in (0, 2)])
                os._exit(3)
            the_store().set(f"rank {rank} waits", "1")
            try:
                waits()
            except Exception as error:
                said = str(error)
                assert "rank 1" in said and "Timed out" not in said, said
                assert not tagged or "tag 7" in said, said
            else:
                raise AssertionError("rank 1 did nothing, and it succeeded")

        def formed(rank):
            dist.all_reduce(torch.ones(1))

        def met(rank):
            if rank == 1:
                for to in (0, 2):
                    dist.send(torch.ones(1), to)
            else:
                dist.recv(torch.ones(1), 1)

        for before in (lambda rank: None, formed, met):
            for waits in (receive, receive_from_anybody, receive_later, send, collective, dist.barrier):
                if before is met and waits is send:
                    continue  # buffered data for a present rank counts as sent
                with self.subTest(waits.__name__, before=before.__name__):
                    on_ranks(3, functools.partial(
                        body, before=before, waits=waits,
                        tagged=waits not in (collective, dist.barrier)), may_die=(1,))

    def test_a_departed_rank_fails_no_rank_that_does_not_need_it(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            store = the_store()
            if rank == 2:
                return
            if rank == 0:
                got = torch.zeros(1)
                later = dist.irecv(got, 1, tag=3)
                anybody = dist.irecv(torch.zeros(1), tag=4)
                store.set("rank 0 waits", "1")
                later.wait()
                anybody.wait()
                assert got.item() == 5
            else:
                store.wait(["rank 0 waits"])
                dist.send(torch.full((1,), 5.0), 0, tag=3)
                dist.send(torch.full((1,), 5.0), 0, tag=4)

        on_ranks(3, body)

    def test_waits_and_operations_time_out(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            if rank == 0:
                got = torch.zeros(1)
                begin = time.monotonic()
                try:
                    dist.irecv(got, 1).wait(timedelta(milliseconds=200))
                except RuntimeError as error:
                    assert "Timed out" in str(error), error
                else:
                    raise AssertionError("nobody sent")
                assert time.monotonic() - begin < 30
                options = dist.BarrierOptions()  # dist.barrier of 2.10 takes no timeout
                options.timeout = timedelta(milliseconds=200)
                try:
                    dist.group.WORLD.barrier(options).wait()
                except RuntimeError as error:
                    assert "Timed out" in str(error) and "rank 1" in str(error), error
                else:
                    raise AssertionError("a barrier of one")
                the_store().set("rank 0 has waited", "1")
            else:
                the_store().wait(["rank 0 has waited"])

        on_ranks(2, body)

    def test_monitored_barrier_names_the_missing_rank(self):
        def body(rank, size):
            ringlet.monitored_barrier(timeout=timedelta(seconds=30))
            if rank == 2:
                return
            try:
                ringlet.monitored_barrier(timeout=timedelta(milliseconds=300))
            except RuntimeError as error:
                assert "Rank 2 failed to pass monitoredBarrier" in str(error), error
            else:
                raise AssertionError("rank 2 was there?")

        on_ranks(3, body)

    def test_groups_of_some_ranks_work(self):
        def body(rank, size):
            evens, odds = dist.new_group([0, 2]), dist.new_group([1, 3])
            mine = evens if rank % 2 == 0 else odds
            got = torch.tensor([float(rank)])
            dist.all_reduce(got, group=mine)
            assert got.item() == (2 if rank % 2 == 0 else 4)
            backend = dist.group.WORLD._get_backend(torch.device("cpu"))
            assert backend.name() == "ringlet"
            dist.all_reduce(torch.ones(1))
            # dist.split_group requires an accelerator; its callee does not.
            ranks = [0, 1] if rank < 2 else [2, 3]
            half = dist.group.WORLD.split_group(ranks, timedelta(seconds=30), None, f"half{ranks}")
            got = torch.tensor([float(rank)])
            half.allreduce([got]).wait()
            assert got.item() == (1 if rank < 2 else 5)

        on_ranks(4, body)

    def test_a_store_serves_one_group_after_the_other(self):
        class OfPython(dist.Store):  # without compare_set
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def set(self, key, value):
                self.inner.set(key, value)

            def get(self, key):
                return self.inner.get(key)

            def add(self, key, amount):
                return self.inner.add(key, amount)

            def check(self, keys):
                return self.inner.check(keys)

        def body(rank, size):
            inner = the_store()
            dist.destroy_process_group()
            for store in (inner, OfPython(inner)):
                for _ in range(3):
                    dist.init_process_group("ringlet", store=store, rank=rank, world_size=size)
                    got = torch.tensor([float(rank)])
                    dist.all_reduce(got)
                    assert got.item() == sum(range(size))
                    dist.barrier()
                    dist.destroy_process_group()

        on_ranks(3, body)

    def test_options_are_applied(self):
        def body(rank, size):
            options = ringlet.Options(init_timeout=timedelta(seconds=9), ranks_per_root=1)
            group = dist.new_group([0, 1, 2], pg_options=options)
            dist.all_reduce(torch.ones(1), group=group)
            assert options.ranks_per_root == 1
            assert dist.group.WORLD._get_backend(torch.device("cpu")).options.backend == "ringlet"

        on_ranks(3, body)

    def test_a_timeout_of_centuries_is_no_timeout_of_zero(self):
        def body(rank, size):
            # PyTorch itself makes timedelta.max negative.
            dist.all_reduce(torch.ones(1), group=dist.new_group([0, 1], timeout=timedelta(days=365 * 300)))

        on_ranks(2, body)

    def test_invalid_options_are_named(self):
        for options, error in (({"ranks_per_root": 0}, ValueError), ({"ranks_per_root": 1 << 70}, ValueError),
                               ({"ranks_per_root": "8"}, TypeError), ({"init_timeout": 5}, TypeError)):
            with self.assertRaises(error):
                ringlet.Options(**options)

    def test_sparse_tensors_are_reduced(self):
        def body(rank, size):
            mine = torch.sparse_coo_tensor([[0, rank + 1]], [[1.0, 2.0]] * 2, (4, 2))
            dist.all_reduce(mine)
            want = torch.zeros(4, 2)
            want[0] += torch.tensor([2.0, 4.0])
            want[1] += torch.tensor([1.0, 2.0])
            want[2] += torch.tensor([1.0, 2.0])
            assert torch.equal(mine.to_dense(), want), mine

        on_ranks(2, body)

    def test_forked_children_do_no_harm(self):
        def body(rank, size):
            dist.all_reduce(torch.ones(1))
            data = torch.utils.data.TensorDataset(torch.arange(8.0))
            for _ in range(2):
                loader = torch.utils.data.DataLoader(data, num_workers=2)
                assert sum(x.item() for x, in loader) == 28
                dist.all_reduce(torch.ones(1))
            child = os.fork()
            if child == 0:
                try:
                    dist.all_reduce(torch.ones(1))
                except RuntimeError as error:
                    os._exit(0 if "forked" in str(error) else 2)
                os._exit(1)
            assert os.waitpid(child, 0)[1] == 0
            dist.all_reduce(torch.ones(1))

        on_ranks(2, body)

    def test_processes_may_end_in_any_order(self):
        program = (
            "import os, sys, torch, torch.distributed as dist\n"
            "dist.init_process_group('ringlet', init_method='file://' + sys.argv[1],"
            " rank=int(sys.argv[2]), world_size=2)\n"
            "t = torch.ones(1); dist.all_reduce(t)\n"
            "if sys.argv[3] == 'pending' and sys.argv[2] == '0':\n"
            "    w = dist.all_reduce(t, async_op=True)\n"
            "print('end')\n"
        )
        for how in ("quiet", "pending"):
            with tempfile.TemporaryDirectory() as folder:
                children = [
                    subprocess.Popen([sys.executable, "-c", program, folder + "/store", str(r), how],
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                    for r in range(2)
                ]
                for child in children:
                    out, err = child.communicate(timeout=60)
                    # The recorder of PyTorch 2.15 may print a dump of a pending operation after it.
                    self.assertEqual((child.returncode, out[:4]), (0, "end\n"), err)

    def test_torch_and_ringlet_may_be_imported_in_either_order(self):
        for program in ("import ringlet, torch", "import torch, ringlet", "import ringlet"):
            ran = subprocess.run(
                [sys.executable, "-c", program + "; ringlet.ops; print('fine')"],
                capture_output=True, text=True, timeout=100)
            self.assertEqual((ran.returncode, ran.stdout), (0, "fine\n"), ran.stderr)

    def test_the_profiler_shows_operations(self):
        def body(rank, size):
            with torch.autograd.profiler.profile(record_shapes=True) as profile:
                dist.all_reduce(torch.ones(3, 4))
            events = [e for e in profile.function_events if e.name == "ringlet:all_reduce"]
            assert len(events) == 1 and events[0].input_shapes == [[3, 4]], events

        on_ranks(2, body)

    def test_synchronous_calls_return_works(self):
        from torch.distributed._functional_collectives import allow_inflight_collective_as_graph_input_ctx
        from torch.distributed.tensor.debug import CommDebugMode

        def body(rank, size):
            group = dist.group.WORLD
            options = dist.AllreduceOptions()
            options.asyncOp = False
            tensor = torch.ones(3)
            unseen = torch._C._distributed_c10d._get_work_registry_size()
            if not hasattr(torch._C._distributed_c10d, "FlightRecorderHook"):  # it reads all of them
                assert group.allreduce([tensor], options) is None
            else:
                group.allreduce([tensor], options)
            assert tensor.tolist() == [size] * 3, tensor
            with allow_inflight_collective_as_graph_input_ctx():
                work = group.allreduce([tensor], options)
                assert work.is_completed(), work
                assert torch._C._distributed_c10d._get_work_registry_size() == unseen + 1
                torch.ops._c10d_functional.wait_tensor(tensor)
            assert tensor.tolist() == [size * size] * 3, tensor
            # PyTorch boxes the result of an operation for a mode, also without a Work.
            with CommDebugMode() as counted:
                dist.all_reduce(tensor)
                dist.barrier()
            assert counted.get_total_counts() == 1 and tensor.tolist() == [size**3] * 3, tensor
            # The failure is in the Work, as for a call that runs beside its caller.
            failed = group.allreduce([torch.ones(3 + rank)], options)
            with self.assertRaisesRegex(dist.DistBackendError, "all ranks must call the same operations"):
                failed.wait()

        on_ranks(2, body)


def port_for_rank_0():
    """Returns a free port below the range that the kernel assigns by itself."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as text:
        lowest = int(text.read().split()[0])
    while True:
        port = random.randrange(min(10_000, lowest // 2), lowest)
        with socket.socket() as unused, contextlib.suppress(OSError):
            unused.bind(("", port))
            return port


class Extension(unittest.TestCase):
    def test_the_extension_needs_no_symbol_of_python(self):
        file = extension_path(torch.__version__)
        lines = subprocess.run(["readelf", "--dyn-syms", "--wide", file], capture_output=True, text=True, check=True)
        undefined = [line.split()[-1] for line in lines.stdout.splitlines() if " UND " in line]
        self.assertGreater(len(undefined), 100)
        self.assertEqual([name for name in undefined if re.match(r"_?Py", name)], [])
        self.assertNotIn("python", subprocess.run(["readelf", "-d", file], capture_output=True, text=True).stdout)

    def test_the_versions_for_which_extensions_exist_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for version in ("2_9", "2_10", "2_13"):
                (pathlib.Path(folder) / f"torch_{version}.so").touch()
            self.assertEqual(extension_path("2.13.1+cpu", pathlib.Path(folder)).name, "torch_2_13.so")
            with self.assertRaisesRegex(ImportError, r"for torch 2\.9, 2\.10, 2\.13, and torch 2\.1\.0 is installed"):
                extension_path("2.1.0", pathlib.Path(folder))


class Names(unittest.TestCase):
    """The names by which PyTorch finds the backend, in programs that know nothing of Ringlet."""

    PROGRAM = """if True:
        import sys, torch, torch.distributed as dist
        dist.init_process_group(sys.argv[1], init_method="file://" + sys.argv[2], rank=int(sys.argv[3]), world_size=2)
        tensor = torch.ones(3)
        dist.all_reduce(tensor)
        cpu = dist.group.WORLD._get_backend(torch.device("cpu"))
        print(tensor.tolist(), dist.get_backend(), cpu.name(), type(cpu).__name__)
        dist.monitored_barrier() if sys.argv[1] == "gloo" else None
        if sys.argv[1] == "gloo":
            try:
                dist.ProcessGroupGloo.create_device(interface="lo")
            except AttributeError as error:
                print("AttributeError", error)
    """

    def run_program(self, backend, **variables):
        """Returns the output of each rank, with its errors."""
        with tempfile.TemporaryDirectory() as folder:
            children = [subprocess.Popen([sys.executable, "-c", self.PROGRAM, backend, folder + "/store", str(rank)],
                                         env={**os.environ, **variables}, stdout=subprocess.PIPE,
                                         stderr=subprocess.STDOUT, text=True) for rank in range(2)]
            return [child.communicate(timeout=100)[0] for child in children]

    def test_a_program_that_asks_for_gloo_runs_on_ringlet(self):
        for out in self.run_program("gloo", RINGLET_AS_GLOO="1"):
            self.assertIn("[2.0, 2.0, 2.0] gloo gloo Backend\n", out)
            self.assertIn("AttributeError RINGLET_AS_GLOO=1 replaces ProcessGroupGloo", out)
            self.assertEqual(out.count('process groups of the backend "gloo" run on Ringlet'), 1, out)

    def test_gloo_stays_gloo_without_the_variable(self):
        for variables in {}, {"RINGLET_AS_GLOO": "0"}, {"RINGLET_AS_GLOO": "yes"}:
            for out in self.run_program("gloo", **variables):
                self.assertIn("[2.0, 2.0, 2.0] gloo gloo ProcessGroupGloo\n", out)
                self.assertEqual("RINGLET_AS_GLOO is 'yes' and is ignored" in out, "yes" in variables.values(), out)

    @unittest.skipUnless(hasattr(dist.Backend, "_ensure_backend_registered"), "entry points came with PyTorch 2.14")
    def test_the_backend_is_found_by_its_name_alone(self):
        for out in self.run_program("ringlet", TORCH_DEVICE_BACKEND_AUTOLOAD="0"):
            self.assertIn("[2.0, 2.0, 2.0] ringlet ringlet Backend\n", out)


class FakePmix:
    """The values of pmix.Client, for ranks of one process."""

    def __init__(self, rank, said, local_size=2):
        self.rank, self._said, self._local_size = rank, said, local_size

    def size(self): return 4
    def local_rank(self): return self.rank % self._local_size
    def local_size(self): return self._local_size
    def publish(self, key, text): self._said[self.rank, key] = text

    def published(self, rank, key, timeout_s):
        if (rank, key) not in self._said:
            raise pmix.Unavailable(f"not within {timeout_s} s")
        return self._said[rank, key]


class Predictions(unittest.TestCase):
    """Tests without any group."""

    FILE = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "topo-vectors" / "nvswitch8-sm90.xml"

    def test_a_prediction_is_that_of_the_tool(self):
        found = ringlet.predict(self.FILE, hosts=2, op="all_gather", bytes=64 << 20)
        self.assertEqual((found["ranks"], found["hosts"], found["bytes"]), (16, 2, 64 << 20))
        left = sum(link["bytes"] for link in found["flows"]["links"] if link["from"].startswith("DEV/"))
        self.assertEqual(left, 15 * (64 << 20))
        tool = os.environ.get("RINGLET_TOOL") or shutil.which("ringlet")
        if tool and pathlib.Path(tool).exists():
            ran = subprocess.run([tool, "predict", "all_gather", self.FILE, "--hosts", "2", "-b", "64M",
                                  "--flows", "--json"], capture_output=True, check=True)
            self.assertEqual(found, json.loads(ran.stdout))
        self.assertEqual(ringlet.predict(self.FILE.read_text(), 2, "all_gather", 64 << 20), found)
        del found["flows"]
        self.assertEqual(ringlet.predict(str(self.FILE), 2, "all_gather", 64 << 20, flows=False), found)

    def test_invalid_arguments_are_named(self):
        for arguments, why in (({"op": "all_reverse"}, "all_reverse"), ({"hosts": 0}, "at least 1"),
                               ({"hosts": 1000}, "8000 GPUs"), ({"bytes": -1}, "at least 1")):
            with self.assertRaisesRegex(ValueError, why):
                ringlet.predict(self.FILE, **arguments)
        with self.assertRaisesRegex(ValueError, "xml:1"):
            ringlet.predict("<system")
        with self.assertRaises(OSError):
            ringlet.predict("/nowhere/machine.xml")


class Launchers(unittest.TestCase):
    def test_pmix_provides_the_address_of_rank_0(self):
        for local_size, given, meeting in (
            (2, {}, ("10.0.0.7", "77")),
            (4, {}, ("127.0.0.1", "77")),
            (2, {"MASTER_ADDR": "front"}, ("front", "77")),
            (2, {"MASTER_PORT": "5"}, ("10.0.0.7", "5")),
        ):
            said = {}
            found = [pmix_variables(FakePmix(rank, said, local_size), given if rank == 0 else {},
                                    lambda address, port, size: port or 77, lambda: "10.0.0.7", 1)
                     for rank in range(4)]
            self.assertEqual([each["RANK"] for each in found], ["0", "1", "2", "3"])
            self.assertEqual({each["WORLD_SIZE"] for each in found}, {"4"})
            self.assertEqual(found[3]["LOCAL_RANK"], str(3 % local_size))
            for each in found[1:]:
                self.assertEqual((each["MASTER_ADDR"], each["MASTER_PORT"]), meeting)
        with self.assertRaisesRegex(RuntimeError, "MASTER_PORT.*'x'"):
            pmix_variables(FakePmix(0, {}), {"MASTER_PORT": "x"}, None, lambda: "10.0.0.7", 1)
        with self.assertRaisesRegex(pmix.Unavailable, "not within 1 s"):
            pmix_variables(FakePmix(1, {}), {}, None, None, 1)

    def test_variables_of_mpirun_become_those_of_torch(self):
        open_mpi = {"OMPI_COMM_WORLD_RANK": "1", "OMPI_COMM_WORLD_SIZE": "2",
                    "OMPI_COMM_WORLD_LOCAL_RANK": "1", "OMPI_COMM_WORLD_LOCAL_SIZE": "2"}
        mpich = {"PMI_RANK": "0", "PMI_SIZE": "4", "MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "4"}
        self.assertEqual(rank_variables(open_mpi), {
            "RANK": "1", "WORLD_SIZE": "2", "LOCAL_RANK": "1", "LOCAL_WORLD_SIZE": "2",
            "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29500"})
        self.assertEqual(rank_variables(mpich)["WORLD_SIZE"], "4")

    def test_set_variables_are_kept(self):
        self.assertEqual(rank_variables({"RANK": "0", "WORLD_SIZE": "1", "PMI_RANK": "3"}), {})
        said = rank_variables({"PMI_RANK": "1", "PMI_SIZE": "2", "MASTER_ADDR": "h", "MASTER_PORT": "5"})
        self.assertEqual(said, {"RANK": "1", "WORLD_SIZE": "2"})

    def test_invalid_arguments_are_named(self):
        for environment, what in (
            ({}, "torchrun, mpirun or srun"),
            ({"PMI_RANK": "x", "PMI_SIZE": "2"}, "PMI_RANK.*'x'"),
            ({"PMI_RANK": "2", "PMI_SIZE": "2"}, "rank: 2 of 2"),
            ({"PMI_RANK": "0", "PMI_SIZE": "4", "MPI_LOCALNRANKS": "2"}, "MASTER_ADDR"),
        ):
            self.assertRaisesRegex(RuntimeError, what, rank_variables, environment)

    def test_an_unknown_host_is_named_at_once(self):
        step = {"SLURM_PROCID": "1", "SLURM_STEP_NUM_TASKS": "2", "SLURM_STEP_NUM_NODES": "2",
                "SLURM_STEP_NODELIST": "n[7-8]"}
        unknown = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        with mock.patch.dict(os.environ, step, clear=True), \
                mock.patch("socket.getaddrinfo", side_effect=unknown) as asked:
            with self.assertRaisesRegex(RuntimeError, "rank 0 is on n7.*set MASTER_ADDR"):
                ringlet.from_launcher()
            self.assertNotIn("RANK", os.environ)
            os.environ["MASTER_ADDR"] = "n9"  # set by the user, with precedence
            ringlet.from_launcher()
            self.assertEqual((os.environ["RANK"], asked.call_count), ("1", 1))

    def test_ranks_of_mpirun_meet(self):
        there = [name for name in ("mpirun.openmpi", "mpirun.mpich", "mpirun") if shutil.which(name)]
        if not there:
            self.skipTest("there is no mpirun here")
        for name in there:
            with self.subTest(name):
                self.run_with(name)

    def run_with(self, mpirun):
        program = (
            "import os, sys, ringlet, torch, torch.distributed as dist\n"
            "ringlet.from_launcher()\n"
            "dist.init_process_group('ringlet')\n"
            "t = torch.ones(1); dist.all_reduce(t)\n"
            "open(os.path.join(sys.argv[1], os.environ['RANK']), 'w').write(str(t.item()))\n"
        )
        plain = {name: text for name, text in os.environ.items()
                 if not name.startswith(("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_"))}
        if mpirun == "mpirun.openmpi":  # its PMIx finds a port by itself
            program = program.replace("dist.init", "assert os.environ['MASTER_PORT'] != '29500'\ndist.init")
        else:
            plain["MASTER_PORT"] = str(port_for_rank_0())
        plain |= {"OMPI_ALLOW_RUN_AS_ROOT": "1",
                  "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
        with tempfile.TemporaryDirectory() as folder:
            ran = subprocess.run(
                [mpirun, "-n", "2", sys.executable, "-c", program, folder], env=plain,
                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=100)
            said = {path.name: path.read_text() for path in pathlib.Path(folder).iterdir()}
        self.assertEqual((ran.returncode, said), (0, {"0": "2.0", "1": "2.0"}), ran.stderr)


if __name__ == "__main__":
    result = unittest.main(exit=False).result
    if result.skipped and "TEST_REPORTS" in os.environ:  # for test/run/skipped.py
        with open(os.path.join(os.environ["TEST_REPORTS"], f"ours-{os.getpid()}.json"), "w") as report:
            json.dump([(test.id(), why) for test, why in result.skipped], report)
    sys.exit(not result.wasSuccessful())
