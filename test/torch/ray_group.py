"""Tests ringlet.ray: ray.util.collective with the backend "ringlet", among three actors.

    python ray_group.py [-v]
"""
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

    def refuse(self, group):
        try:
            collective.allreduce(torch.zeros(1, device="meta"), group)
        except Exception as error:
            return f"{type(error).__name__}: {error}"


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

    def test_a_tensor_on_another_device_is_refused(self):
        self.on_all("begin", "refusing")
        for said in self.on_all("refuse", "refusing"):
            self.assertRegex(said, "meta")
        self.on_all("end", "refusing")


if __name__ == "__main__":
    unittest.main()
