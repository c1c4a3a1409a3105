"""Tests ringlet.ray: ray.util.collective with the backend "ringlet", among three actors.

    python ray_group.py [-v]
"""
import concurrent.futures
import os
import unittest

os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")

import numpy  # noqa: E402
import ray  # noqa: E402
import torch  # noqa: E402
from ray.util import collective  # noqa: E402
from ray.util.collective.types import ReduceOp  # noqa: E402

import ringlet.ray  # noqa: E402

SIZE = 3
COUNT = 100_000  # elements: Ray stores an array of this size in memory that actors share


@ray.remote(num_cpus=0.1)
class Actor:
    def __init__(self, rank):
        self.rank = rank
        ringlet.ray.register()
        ringlet.ray.register()

    def begin(self, group):
        collective.init_collective_group(SIZE, self.rank, "ringlet", group)

    def end(self, group):
        collective.destroy_collective_group(group)

    def own(self):
        return torch.tensor([self.rank + 1.0, 2.0])

    def all_operations(self, group):
        found = {}
        for name, op in (("sum", ReduceOp.SUM), ("product", ReduceOp.PRODUCT), ("min", ReduceOp.MIN), ("max", ReduceOp.MAX)):
            found[name] = self.own()
            collective.allreduce(found[name], group, op)
        found["array"] = numpy.arange(3) + self.rank
        collective.allreduce(found["array"], group)
        found["reduce"] = self.own()
        collective.reduce(found["reduce"], 1, group)
        found["broadcast"] = self.own()
        collective.broadcast(found["broadcast"], 2, group)
        found["allgather"] = [torch.zeros(2) for _ in range(SIZE)]
        collective.allgather(found["allgather"], self.own(), group)
        found["reducescatter"] = torch.zeros(2)
        collective.reducescatter(found["reducescatter"], [self.own() * (k + 1) for k in range(SIZE)], group)
        collective.barrier(group)
        found["message"] = self.own()
        if self.rank == 0:
            collective.send(found["message"], 2, group)
        elif self.rank == 2:
            collective.recv(found["message"], 0, group)
        return {name: numpy.array([each.tolist() for each in value]).tolist() if isinstance(value, list) else value.tolist()
                for name, value in found.items()}

    def types_and_shapes(self, group):
        """Calls that a Communicator refuses: decision 154."""
        found = {}
        for name, value in (("int16", torch.tensor([20000 + self.rank, self.rank], dtype=torch.int16)),
                            ("bool", torch.tensor([self.rank == 2, False])),
                            ("complex", torch.tensor([1j, self.rank]))):
            collective.allreduce(value, group)
            found[name] = value.tolist()
        matrix = torch.full((2, 2), float(self.rank))
        collective.allreduce(matrix[:, 0], group)
        found["column"] = matrix.tolist()
        sparse = torch.sparse_coo_tensor([[self.rank]], [1.0], (SIZE,))
        collective.allreduce(sparse, group)
        found["sparse"] = sparse.to_dense().tolist()
        rows = [torch.zeros(k + 1) for k in range(SIZE)]
        collective.allgather(rows, torch.full((self.rank + 1,), float(self.rank)), group)
        found["allgather"] = [row.tolist() for row in rows]
        row = torch.zeros(self.rank + 1)
        collective.reducescatter(row, [torch.full((k + 1,), float(k)) for k in range(SIZE)], group)
        found["reducescatter"] = row.tolist()
        return found

    def use_two_threads(self, group):
        """Rank 0 receives in one thread while it sends in another. Ray's transfers of tensors
        also use a thread of their own.
        """
        value = self.own()
        if self.rank == 0:
            with concurrent.futures.ThreadPoolExecutor() as pool:
                received = pool.submit(collective.recv, value, 2, group)
                collective.send(self.own(), 2, group)
                received.result()
        elif self.rank == 2:
            collective.recv(value, 0, group)
            collective.send(value + 1, 0, group)
        return value.tolist()

    def refusal(self, call):
        try:
            call()
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def refuse(self, group):
        return self.refusal(lambda: collective.allreduce(torch.zeros(1, device="meta"), group))

    def write_to(self, array, group):
        """Returns the refusals of the calls that write to the array, and the sums of those that read it."""
        targets = [array] * SIZE
        other = (self.rank + 1) % SIZE
        refused = [self.refusal(call) for call in (
            lambda: collective.allreduce(array, group), lambda: collective.reduce(array, self.rank, group),
            lambda: collective.allgather(targets, torch.zeros(len(array)), group),
            lambda: collective.broadcast(array, other, group),
            lambda: collective.reducescatter(array, targets, group), lambda: collective.recv(array, other, group))]
        rows = [torch.zeros(len(array), dtype=torch.float64) for _ in range(SIZE)]
        collective.allgather(rows, array, group)
        received = array if self.rank == 0 else numpy.zeros(len(array))
        collective.broadcast(received, 0, group)
        reduced = numpy.zeros(len(array)) if self.rank == 1 else array
        collective.reduce(reduced, 1, group)
        return refused, sum(rows).sum().item(), received.sum(), reduced.sum()


class Groups(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")
        cls.actors = [Actor.remote(rank) for rank in range(SIZE)]

    @classmethod
    def tearDownClass(cls):
        ray.shutdown()

    def on_all(self, method, *arguments):
        return ray.get([getattr(actor, method).remote(*arguments) for actor in self.actors], timeout=120)

    def test_two_groups_run_all_operations_and_can_be_recreated(self):
        for group in ("first", "second", "first"):
            with self.subTest(group):
                self.on_all("begin", group)
                for rank, found in enumerate(self.on_all("all_operations", group)):
                    own = [[each + 1.0, 2.0] for each in range(SIZE)]
                    self.assertEqual(found, {
                        "sum": [6, 6], "product": [6, 8], "min": [1, 2], "max": [3, 2], "array": [3, 6, 9],
                        "reduce": [6, 6] if rank == 1 else own[rank], "broadcast": own[2], "allgather": own,
                        "reducescatter": [6 * (rank + 1)] * 2, "message": own[0] if rank == 2 else own[rank]})
                self.on_all("end", group)

    def test_types_layouts_and_unequal_parts_are_accepted(self):
        self.on_all("begin", "types")
        for rank, found in enumerate(self.on_all("types_and_shapes", "types")):
            self.assertEqual(found, {
                "int16": [60003 - 65536, 3], "bool": [True, False], "complex": [3j, 3],
                "column": [[3, rank], [3, rank]], "sparse": [1, 1, 1],
                "allgather": [[0], [1, 1], [2, 2, 2]], "reducescatter": [3 * rank] * (rank + 1)})
        self.on_all("end", "types")

    def test_two_threads_of_an_actor_send_and_receive_in_one_group(self):
        self.on_all("begin", "threads")
        self.assertEqual(self.on_all("use_two_threads", "threads"), [[2, 3], [2, 2], [1, 2]])
        self.on_all("end", "threads")

    def test_an_array_of_the_object_store_is_read_and_never_written(self):
        self.on_all("begin", "store")
        kept = ray.put(numpy.ones(COUNT))
        for refused, gathered, received, reduced in self.on_all("write_to", kept, "store"):
            self.assertEqual(len(refused), 6)
            for error in refused:
                self.assertRegex(error, "^ValueError: .* read-only.*pass array.copy")
            self.assertEqual((gathered, received), (SIZE * COUNT, COUNT))
            self.assertIn(reduced, (COUNT, (SIZE - 1) * COUNT))
        self.assertEqual(ray.get(kept).sum(), COUNT)
        self.on_all("end", "store")

    def test_a_tensor_on_another_device_is_refused(self):
        self.on_all("begin", "refusing")
        for said in self.on_all("refuse", "refusing"):
            self.assertRegex(said, "meta")
        self.on_all("end", "refusing")


if __name__ == "__main__":
    unittest.main()
