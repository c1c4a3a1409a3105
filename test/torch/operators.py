"""Tests the operators torch.ops.ringlet: values, layouts, errors, torch.compile and torch.export.

    python operators.py [-v] [Operators.test_name ...]
"""
import unittest
import warnings
from datetime import timedelta

import torch
import torch.distributed as dist

import ringlet
from ours import on_ranks

SOON = timedelta(seconds=60)


def the_group():
    return dist.group.WORLD.group_name


def scripted(tensor, name):
    @torch.jit.script
    def all_reduced_and_one(x: torch.Tensor, group: str):
        torch.ops.ringlet.all_reduce_(x, group)
        return x + 1

    return all_reduced_and_one(tensor, name)


class Operators(unittest.TestCase):
    def test_each_operator_equals_torch_distributed(self):
        def body(rank, size):
            ops, name = ringlet.ops, the_group()
            reduced = torch.arange(5.0) + rank
            assert ops.all_reduce_(reduced, name) is None
            assert reduced.tolist() == [size * x + sum(range(size)) for x in range(5)]
            largest = torch.tensor([rank, -rank])
            ops.all_reduce_(largest, name, "max")
            assert largest.tolist() == [size - 1, 0]
            told = torch.full((3,), rank, dtype=torch.bfloat16)
            ops.broadcast_(told, 1, name)
            assert told.tolist() == [1.0] * 3
            gathered = torch.empty(size, 2, dtype=torch.int64)
            ops.all_gather_into_tensor(gathered, torch.tensor([rank, 7]), name)
            assert gathered.tolist() == [[r, 7] for r in range(size)]
            part = torch.empty(2)
            ops.reduce_scatter_tensor(part, torch.arange(2.0 * size), name, "avg")
            assert part.tolist() == [2.0 * rank, 2.0 * rank + 1]
            received = torch.empty(size, dtype=torch.int32)
            ops.all_to_all_single(received, torch.arange(size, dtype=torch.int32) + 10 * rank, name)
            assert received.tolist() == [10 * r + rank for r in range(size)]
            ops.barrier(name)

        on_ranks(2, body, SOON)
        on_ranks(3, body, SOON)

    def test_all_to_all_accepts_splits(self):
        def body(rank, size):  # rank 0 sends one row to itself and two to rank 1; rank 1 reversed
            sent = [1, 2] if rank == 0 else [2, 1]
            output = torch.empty(sum([[1, 2], [2, 1]][rank]), 2)
            ringlet.ops.all_to_all_single(output, torch.full((3, 2), float(rank)), the_group(),
                                          [[1, 2], [2, 1]][rank], sent)
            assert output[:, 0].tolist() == ([0.0, 1.0, 1.0] if rank == 0 else [0.0, 0.0, 1.0])

        on_ranks(2, body, SOON)

    def test_operators_accept_strided_views_and_shared_memory(self):
        def body(rank, size):
            columns = torch.zeros(4, 6)
            ringlet.ops.all_reduce_(columns[:, ::2].fill_(rank + 1), the_group())
            assert columns[0].tolist() == [3.0, 0.0] * 3
            shared = ringlet.empty(1 << 16).fill_(rank)
            ringlet.ops.all_reduce_(shared, the_group())
            assert shared.eq(1).all()

        on_ranks(2, body, SOON)

    def test_operators_keep_the_order_of_the_group(self):
        def body(rank, size):
            many = [torch.full((1 << 14,), 1.0) for _ in range(5)]
            work = [dist.all_reduce(each, async_op=True) for each in many]
            tensor = torch.ones(2)
            for _ in range(5):
                ringlet.ops.all_reduce_(tensor, the_group())
            assert tensor.tolist() == [size**5] * 2
            for each, result in zip(work, many):
                each.wait()
                assert result.eq(size).all()

        on_ranks(2, body, SOON)

    def test_errors_name_the_mistake(self):
        def body(rank, size):
            name = the_group()
            for call, text in (
                (lambda: ringlet.ops.all_reduce_(torch.ones(1), "none"), "none"),
                (lambda: ringlet.ops.all_reduce_(torch.ones(1), name, "mean"), "reduction mean"),
                (lambda: ringlet.ops.all_reduce_(torch.ones(1).expand(3), name), "in one place"),
                (lambda: ringlet.ops.broadcast_(torch.ones(1), 7, name), "root rank 7"),
                (lambda: ringlet.ops.all_gather_into_tensor(torch.ones(3), torch.ones(1), name),
                 "3 elements are not 2 times 1"),
            ):
                try:
                    call()
                    raise AssertionError(f"no error with {text!r}")
                except (RuntimeError, ValueError) as error:
                    assert text in str(error), error
            gloo = dist.new_group(backend="gloo")
            with unittest.TestCase().assertRaisesRegex(ValueError, "has another backend"):
                ringlet.ops.all_reduce_(torch.ones(1), gloo.group_name)
            tensor = torch.ones(1)
            ringlet.ops.all_reduce_(tensor, name)
            assert tensor.item() == size

        on_ranks(2, body, SOON)

    def test_direct_calls_equal_pytorchs(self):
        """Calls of plain tensors and texts bypass PyTorch's generic callable."""

        def body(rank, size):
            name, check = the_group(), unittest.TestCase()
            operator = ringlet.ops.all_reduce_
            check.assertEqual(type(operator._op), type(len), "the direct callable")
            check.assertEqual(type(operator.default._op), type(len), "the direct callable")

            def reduced(call, kind=torch.ones):
                tensor = kind(2)
                check.assertIsNone(call(tensor))
                return tensor.tolist()

            parameter = lambda size: torch.nn.Parameter(torch.ones(size), requires_grad=False)
            check.assertEqual(reduced(lambda t: operator(t, name)), [2.0, 2.0])
            check.assertEqual(reduced(lambda t: operator.default(t, name, "max")), [1.0, 1.0])
            check.assertEqual(reduced(lambda t: operator(t, group_name=name)), [2.0, 2.0])
            check.assertEqual(reduced(lambda t: operator(op="min", group_name=name, tensor=t)), [1.0, 1.0])
            check.assertEqual(reduced(lambda t: operator(t, name), parameter), [2.0, 2.0])
            for wrong, text in (((), "missing value for argument 'tensor'"),
                                ((1, name), "Expected a value of type 'Tensor'"),
                                ((torch.ones(1),), "missing value for argument 'group_name'"),
                                ((torch.ones(1), name, "sum", 1), "at most 3"),
                                ((torch.ones(1), name, None), "Expected a value of type 'str'")):
                with check.assertRaisesRegex(RuntimeError, text):
                    operator(*wrong)
            with check.assertRaisesRegex(RuntimeError, "broadcast_"):
                ringlet.ops.broadcast_(torch.ones(1), 1 << 70, name)

        on_ranks(2, body, SOON)

    def test_modes_and_tools_see_direct_calls(self):
        def body(rank, size):
            name, check = the_group(), unittest.TestCase()
            operator = ringlet.ops.all_reduce_

            class Functions(torch.overrides.TorchFunctionMode):
                def __torch_function__(self, function, kinds, arguments=(), named=None):
                    seen.append(str(function))
                    return function(*arguments, **(named or {}))

            class Dispatches(torch.utils._python_dispatch.TorchDispatchMode):
                def __torch_dispatch__(self, function, kinds, arguments=(), named=None):
                    seen.append(str(function))
                    return function(*arguments, **(named or {}))

            for mode, wanted in ((Functions, "ringlet.all_reduce_"), (Dispatches, "ringlet.all_reduce_.default")):
                seen, tensor = [], torch.ones(1)
                with mode():
                    operator(tensor, name)
                check.assertEqual(seen, [wanted])
                check.assertEqual(tensor.item(), size)
            with torch._subclasses.FakeTensorMode():
                operator(torch.ones(3), name)  # only on this rank: no data is sent
            with torch.profiler.profile() as profile:
                operator(torch.ones(1), name)
            check.assertIn("ringlet::all_reduce_", [event.key for event in profile.key_averages()])
            warnings.simplefilter("ignore", DeprecationWarning)
            traced = torch.jit.trace(lambda x: operator(x, name) or x + 1, (torch.zeros(2),))
            check.assertIn("ops.ringlet.all_reduce_", traced.code)
            check.assertEqual(scripted(torch.ones(2), name).tolist(), [3.0, 3.0])
            weight = torch.ones(2, requires_grad=True)
            copy = weight * 1
            operator(copy, name)
            check.assertEqual(copy.tolist(), [2.0, 2.0])

        on_ranks(2, body, SOON)

    def test_calls_that_differ_are_an_error_on_both_ranks(self):
        def body(rank, size):
            with unittest.TestCase().assertRaisesRegex(dist.DistBackendError, "all_reduce"):
                ringlet.ops.all_reduce_(torch.ones(8 + rank), the_group())

        on_ranks(2, body, SOON)

    def test_operators_compile_and_export(self):
        def body(rank, size):
            name = the_group()

            def layer(x, weight):
                y = x @ weight
                torch.ops.ringlet.all_reduce_(y, name)
                torch.ops.ringlet.barrier(name)
                gathered = torch.empty(2 * y.shape[0], y.shape[1])
                torch.ops.ringlet.all_gather_into_tensor(gathered, y, name)
                return gathered.relu()

            ringlet.ops  # loads the extension
            x, weight = torch.ones(2, 3) * (rank + 1), torch.ones(3, 4)
            wanted = [[9.0] * 4] * 4
            assert layer(x, weight).tolist() == wanted
            compiled = torch.compile(layer, backend="aot_eager", fullgraph=True)
            assert compiled(x, weight).tolist() == wanted

            class Module(torch.nn.Module):
                def forward(self, x, weight):
                    return layer(x, weight)

            exported = torch.export.export(Module(), (x, weight))
            assert "ringlet.barrier" in str(exported.graph)
            assert exported.module()(x, weight).tolist() == wanted

        on_ranks(2, body, SOON)


if __name__ == "__main__":
    unittest.main()
