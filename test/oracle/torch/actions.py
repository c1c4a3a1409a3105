"""Runs one rank's part of a program, and compares the results with the reference."""
import os
from datetime import timedelta

import numpy as np
import ringlet
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functions

import reference as ref


class Wrong(Exception):
    """The result of a rank differs from the reference."""


def product(shape):
    count = 1
    for length in shape:
        count *= length
    return count


def to_tensor(type_, values, shape):
    type_ = getattr(torch, type_)
    tensor = torch.from_numpy(np.array(values)).reshape(shape)
    return tensor if tensor.dtype == type_ else tensor.to(type_)


class Laid:
    """A tensor of some layout inside memory that must otherwise stay unchanged."""

    def __init__(self, layout, filled):
        count, shape = filled.numel(), list(filled.shape)

        def room(n):
            ones = torch.full((n * filled.dtype.itemsize,), 1, dtype=torch.uint8)
            if layout == "reachable":
                ones = ringlet.empty(len(ones), dtype=torch.uint8).copy_(ones)
            return ones.view(filled.dtype)

        self.inference = layout == "inference"
        if self.inference:
            with torch.inference_mode():
                self.whole = room(2 * count)
                self.tensor = self.whole[:2 * count:2].view(shape) if len(shape) < 2 else (
                    self.whole.view(*shape, 2)[..., 1])
                self.tensor.copy_(filled)
        elif layout == "turned" and len(shape) == 2:
            self.whole = room(count)
            self.tensor = self.whole.view(shape[::-1]).t()
        elif layout == "strided":
            self.whole = room(2 * count + 1)
            self.tensor = self.whole[:2 * count:2].view(shape) if len(shape) < 2 else (
                self.whole[:2 * count].view(*shape, 2)[..., 0])
        elif layout == "offset":
            self.whole = room(count + 8)
            self.tensor = self.whole[5:5 + count].view(shape)
        elif layout == "columns" and len(shape) >= 1:
            self.whole = room(product(shape[:-1]) * (shape[-1] + 3))
            self.tensor = self.whole.view(*shape[:-1], shape[-1] + 3)[..., 1:1 + shape[-1]]
        else:
            self.whole = room(count)
            self.tensor = self.whole.view(shape)
        if not self.inference:
            self.tensor.copy_(filled)
        self.before = self.bytes().clone()

    def bytes(self):
        return self.whole.view(torch.uint8)

    def check_rest(self, what):
        """Returns the memory around the tensor, which is overwritten here."""
        kept = self.tensor.clone()
        around = self.bytes().clone().view(self.whole.dtype)
        with torch.inference_mode(self.inference):
            self.whole.view(torch.uint8).copy_(self.before)
            self.tensor.copy_(kept)
        if not torch.equal(self.bytes(), around.view(torch.uint8)):
            raise Wrong(f"{what}: memory beside the tensor was written")


def raw(tensor):
    return tensor.reshape(-1).clone(memory_format=torch.contiguous_format).view(torch.uint8)


def same(got, want):
    return got.shape == want.shape and (got.numel() == 0 or torch.equal(raw(got), raw(want)))


def near(type_, got, want):
    """Returns true within one unit in the last place of an average."""
    exact = torch.complex128 if type_.startswith("complex") else torch.float64
    got, want = got.to(exact), torch.from_numpy(np.array(want)).reshape(got.shape).to(exact)
    kind = getattr(torch, type_)
    unit = torch.finfo(kind).eps
    return bool(((got - want).abs() <= unit * want.abs() + torch.finfo(kind).tiny).all())


class Rank:
    """Runs the operations of a program on one rank."""

    def __init__(self, program, rank, backend):
        self.program, self.rank, self.backend = program, rank, backend
        self.groups = []
        self.pending = []  # (when, index, wait)
        for ranks in program["groups"]:
            whole = len(ranks) == program["size"]
            self.groups.append(dist.group.WORLD if whole and not self.groups else dist.new_group(ranks))

    def run(self):
        for index, op in enumerate(self.program["ops"]):
            self.wait_for([p for p in self.pending if p[0] <= index])
            members = self.program["groups"][op["group"]]
            # Skips groups without this rank, unless the operation creates one: all ranks call it.
            if self.rank not in members and op["kind"] not in ("new_group", "broken"):
                if not (op["kind"] == "then" and self.rank in self.program["groups"][op["other_group"]]):
                    continue
            try:
                self.start(index, op, members)
            except Exception as error:
                raise type(error)(f"operation {index} ({op['kind']}): {error}") from error
        self.wait_for(list(self.pending))

    def wait_for(self, which):
        # The last ones first, because the order of waiting is free.
        for entry in sorted(which, key=lambda p: (-p[1] if p[1] % 2 else p[1])):
            self.pending.remove(entry)
            try:
                entry[2]()
            except Exception as error:
                raise type(error)(f"operation {entry[1]}: {error}") from error

    def start(self, index, op, members):
        action = getattr(self, op["kind"])
        self.op, self.count = op, product(op["shape"])
        self.group, self.members = self.groups[op["group"]], members
        self.size = len(members)
        self.me = members.index(self.rank) if self.rank in members else -1
        self.asynchronous = "wait" in op
        begun = action()
        if begun is None:
            return
        work, check = begun
        if not self.asynchronous:
            return check()

        def finish(use_future=op.get("future")):
            # Some functions of PyTorch return the future at once.
            if use_future and hasattr(work, "get_future"):
                work.get_future().wait()
            else:
                for each in work if isinstance(work, list) else [work]:
                    each.wait()
            check()

        # Each rank waits at a place of its own.
        self.pending.append((index + 1 + (op["wait"] + self.rank) % 6, index, finish))

    # Shared parts of the operations.

    def values(self, member, part=0, count=None, type_=None):
        count = self.count if count is None else count
        return ref.drawn(type_ or self.op["type"], count, self.op["id"], member, part)

    def laid(self, values, shape=None, layout=None):
        shape = self.op["shape"] if shape is None else shape
        return Laid(layout or self.op["layout"], to_tensor(self.op["type"], values, shape))

    def empty(self, shape=None, count=None):
        shape = self.op["shape"] if shape is None else shape
        return self.laid(self.values(1000, 0, product(shape)), shape)

    def reduction(self):
        if self.op["reduction"] == "PREMUL_SUM":
            return dist._make_nccl_premul_sum(ref.FACTOR)
        return getattr(dist.ReduceOp, self.op["reduction"])

    def checked(self, what, *expected, unchanged=(), moved=False):
        """Returns a check of tensors against values, and for other writes."""
        op, me = self.op, self.me
        averaged = op.get("reduction") == "AVG" and not moved

        def check():
            for number, (laid, values) in enumerate(expected):
                name = f"{what} on rank {me} of the group, output {number}"
                got = laid.tensor
                if averaged:
                    fine = near(op["type"], got, values)
                else:
                    fine = same(got, to_tensor(op["type"], values, list(got.shape)))
                if not fine:
                    want = to_tensor(op["type"], values, list(got.shape))
                    raise Wrong(f"{name}: got {got.reshape(-1)[:8]} ..., not {want.reshape(-1)[:8]} ...")
                laid.check_rest(name)
            for laid in unchanged:
                if not torch.equal(laid.bytes(), laid.before):
                    raise Wrong(f"{what} on rank {me} of the group: an input was written")

        return check

    def all_values(self, part=0, count=None):
        return [self.values(member, part, count) for member in range(self.size)]

    # The operations.

    def all_reduce(self):
        mine = self.laid(self.values(self.me))
        work = dist.all_reduce(mine.tensor, self.reduction(), self.group, self.asynchronous)
        want = ref.reduced(self.op["type"], self.op["reduction"], self.all_values())
        return work, self.checked("all_reduce", (mine, want))

    def all_reduce_coalesced(self):
        mine = [self.laid(self.values(self.me, part)) for part in range(3)]
        work = dist.all_reduce_coalesced([each.tensor for each in mine], self.reduction(), self.group,
                                         self.asynchronous)
        want = [ref.reduced(self.op["type"], self.op["reduction"], self.all_values(part))
                for part in range(3)]
        return work, self.checked("all_reduce_coalesced", *zip(mine, want))

    def all_reduce_sparse(self):
        rows = 7 + self.op["id"] % 5

        def of(member):
            values = self.values(member, 0, 3 * (1 + member % 3)).reshape(-1, 3)
            places = [(member * 3 + i * 2 + self.op["id"]) % rows for i in range(len(values))]
            return places, values

        want = np.zeros((rows, 3))
        for member in range(self.size):
            for place, row in zip(*of(member)):
                want[place] += row
        places, values = of(self.me)
        mine = torch.sparse_coo_tensor([places], torch.from_numpy(values).float(), (rows, 3))
        work = dist.all_reduce(mine, dist.ReduceOp.SUM, self.group, self.asynchronous)

        def check():
            if not torch.equal(mine.to_dense(), torch.from_numpy(want).float()):
                raise Wrong(f"sparse all_reduce: {mine.to_dense()} is not {want}")

        return work, check

    def broadcast(self):
        root = self.op["root"]
        mine = self.laid(self.values(root)) if self.me == root else self.empty()
        work = dist.broadcast(mine.tensor, self.members[root], self.group, self.asynchronous)
        return work, self.checked("broadcast", (mine, self.values(root)))

    def reduce(self):
        root = self.op["root"]
        mine = self.laid(self.values(self.me))
        work = dist.reduce(mine.tensor, self.members[root], self.reduction(), self.group,
                           self.asynchronous)
        if self.me != root:
            return work, self.checked("reduce")  # the rest of the tensor is undefined
        want = ref.reduced(self.op["type"], self.op["reduction"], self.all_values())
        return work, self.checked("reduce", (mine, want))

    def all_gather(self):
        mine, outputs = self.laid(self.values(self.me)), [self.empty() for _ in range(self.size)]
        work = dist.all_gather([each.tensor for each in outputs], mine.tensor, self.group,
                               self.asynchronous)
        return work, self.checked("all_gather", *zip(outputs, self.all_values()), unchanged=[mine])

    def all_gather_uneven(self):
        counts = ref.split_count(self.op["id"], self.size, self.count)
        all_values = [self.values(member, 0, counts[member]) for member in range(self.size)]
        mine = self.laid(all_values[self.me], [counts[self.me]])
        outputs = [self.empty([count]) for count in counts]
        work = dist.all_gather([each.tensor for each in outputs], mine.tensor, self.group,
                               self.asynchronous)
        return work, self.checked("all_gather of unequal parts", *zip(outputs, all_values),
                                  unchanged=[mine])

    def all_gather_into_tensor(self):
        shape = [self.size * self.count]
        output = self.laid(self.values(1000, 0, self.size * self.count), shape)
        everything = np.concatenate(self.all_values())
        if self.op.get("in_place") and self.count and output.tensor.is_contiguous() and not output.inference:
            tensor = output.tensor[self.me * self.count:(self.me + 1) * self.count]
            tensor.copy_(to_tensor(self.op["type"], self.values(self.me), [self.count]))
            unchanged = []
        else:
            mine = self.laid(self.values(self.me), [self.count])
            tensor, unchanged = mine.tensor, [mine]
        work = dist.all_gather_into_tensor(output.tensor, tensor, self.group, self.asynchronous)
        return work, self.checked("all_gather_into_tensor", (output, everything), unchanged=unchanged)

    def all_gather_coalesced(self):
        parts = 2
        mine = [self.laid(self.values(self.me, part)) for part in range(parts)]
        outputs = [[self.empty() for _ in range(parts)] for _ in range(self.size)]
        work = dist.all_gather_coalesced([[each.tensor for each in row] for row in outputs],
                                         [each.tensor for each in mine], self.group, self.asynchronous)
        pairs = [(outputs[member][part], self.values(member, part))
                 for member in range(self.size) for part in range(parts)]
        return work, self.checked("all_gather_coalesced", *pairs, unchanged=mine)

    def gather(self):
        root, mine = self.op["root"], self.laid(self.values(self.me))
        outputs = [self.empty() for _ in range(self.size)] if self.me == root else []
        work = dist.gather(mine.tensor, [each.tensor for each in outputs] or None, self.members[root],
                           self.group, self.asynchronous)
        return work, self.checked("gather", *zip(outputs, self.all_values()), unchanged=[mine])

    def scatter(self):
        root, output = self.op["root"], self.empty()
        parts = [self.values(root, part) for part in range(self.size)]
        inputs = [self.laid(values) for values in parts] if self.me == root else []
        work = dist.scatter(output.tensor, [each.tensor for each in inputs] or None,
                            self.members[root], self.group, self.asynchronous)
        return work, self.checked("scatter", (output, parts[self.me]), unchanged=inputs)

    def reduce_scatter(self):
        output = self.empty()
        inputs = [self.laid(self.values(self.me, part)) for part in range(self.size)]
        work = dist.reduce_scatter(output.tensor, [each.tensor for each in inputs], self.reduction(),
                                   self.group, self.asynchronous)
        want = ref.reduced(self.op["type"], self.op["reduction"], self.all_values(self.me))
        return work, self.checked("reduce_scatter", (output, want), unchanged=inputs)

    def reduce_scatter_tensor(self):
        output = self.empty([self.count])
        whole = np.concatenate([self.values(self.me, part) for part in range(self.size)])
        mine = self.laid(whole, [self.size * self.count])
        work = dist.reduce_scatter_tensor(output.tensor, mine.tensor, self.reduction(), self.group,
                                          self.asynchronous)
        want = ref.reduced(self.op["type"], self.op["reduction"], self.all_values(self.me))
        return work, self.checked("reduce_scatter_tensor", (output, want), unchanged=[mine])

    def all_to_all(self):
        outputs = [self.empty() for _ in range(self.size)]
        inputs = [self.laid(self.values(self.me, part)) for part in range(self.size)]
        work = dist.all_to_all([each.tensor for each in outputs], [each.tensor for each in inputs],
                               self.group, self.asynchronous)
        wanted = [self.values(member, self.me) for member in range(self.size)]
        return work, self.checked("all_to_all", *zip(outputs, wanted), unchanged=inputs)

    def all_to_all_single(self):
        width = max(1, self.count // 50)
        if self.op["splits"] == "equal":
            rows = np.full((self.size, self.size), 3)
        else:
            rows = ref.parts_of(self.op["id"], self.size, min(self.count, 6))
        sends, receives = rows[self.me].tolist(), rows[:, self.me].tolist()
        block = lambda a, b: self.values(a, b, int(rows[a, b]) * width)
        whole = np.concatenate([block(self.me, b) for b in range(self.size)])
        want = np.concatenate([block(a, self.me) for a in range(self.size)])
        mine, output = self.laid(whole, [sum(sends), width]), self.empty([sum(receives), width])
        lists = () if self.op["splits"] == "equal" else (receives, sends)
        work = dist.all_to_all_single(output.tensor, mine.tensor, *lists, group=self.group,
                                      async_op=self.asynchronous)
        return work, self.checked("all_to_all_single", (output, want), unchanged=[mine])

    def barrier(self):
        return dist.barrier(self.group, self.asynchronous), lambda: None

    def send(self):
        sender, receiver, tag = self.op["from"], self.op["to"], self.op["id"] % 100_000
        asynchronous = self.asynchronous or self.op["how"] == "isend"
        if self.me == sender:
            mine = self.laid(self.values(sender), layout="dense")
            peer, check = self.members[receiver], self.checked("send", unchanged=[mine])
            if not asynchronous:
                dist.send(mine.tensor, peer, self.group, tag)
                return None, check
            work = dist.isend(mine.tensor, peer, self.group, tag)
        elif self.me == receiver:
            mine = self.empty() if self.backend == "ringlet" else self.laid(self.values(1000), layout="dense")
            peer = None if self.op["from_anybody"] else self.members[sender]
            check = self.checked("recv", (mine, self.values(sender)))
            if not asynchronous:
                source = dist.recv(mine.tensor, peer, self.group, tag)
                if source != self.members[sender]:
                    raise Wrong(f"recv says that rank {source} sent, not {self.members[sender]}")
                return None, check
            work = dist.irecv(mine.tensor, peer, self.group, tag)
        else:
            return None
        if not self.asynchronous:
            work.wait()
        return work, check

    def batch(self):
        right, left = (self.me + 1) % self.size, (self.me - 1) % self.size
        mine, got = self.laid(self.values(self.me), layout="dense"), self.laid(self.values(1000), layout="dense")
        tag = self.op["id"] % 100_000
        works = dist.batch_isend_irecv([
            dist.P2POp(dist.irecv, got.tensor, self.members[left], self.group, tag),
            dist.P2POp(dist.isend, mine.tensor, self.members[right], self.group, tag)])
        if not self.asynchronous:
            for work in works:
                work.wait()
        return works, self.checked("batch_isend_irecv", (got, self.values(left)), unchanged=[mine])

    def coalescing(self):
        what, pairs, calls = self.op["what"], [], []
        reduction = self.op["reduction"]
        for part in range(3):
            if what == "all_reduce":
                mine = self.laid(self.values(self.me, part), layout="dense")
                calls.append(lambda mine=mine: dist.all_reduce(mine.tensor, self.reduction(), self.group))
                pairs.append((mine, ref.reduced(self.op["type"], reduction, self.all_values(part))))
            elif what == "all_gather_into_tensor":
                mine = self.laid(self.values(self.me, part), [self.count], "dense")
                output = self.laid(self.values(1000, 0, self.count * self.size), [self.size * self.count], "dense")
                calls.append(lambda mine=mine, output=output: dist.all_gather_into_tensor(
                    output.tensor, mine.tensor, self.group))
                pairs.append((output, np.concatenate(self.all_values(part))))
            else:
                blocks = [self.values(self.me, 10 * part + to) for to in range(self.size)]
                mine = self.laid(np.concatenate(blocks), [self.size * self.count], "dense")
                output = self.laid(self.values(1000), [self.count], "dense")
                calls.append(lambda mine=mine, output=output: dist.reduce_scatter_tensor(
                    output.tensor, mine.tensor, self.reduction(), self.group))
                pairs.append((output, ref.reduced(self.op["type"], reduction,
                                                  self.all_values(10 * part + self.me))))
        asynchronous = self.op["id"] % 2 == 0
        with dist._coalescing_manager(self.group, async_ops=asynchronous) as manager:
            for call in calls:
                call()
        if asynchronous:
            manager.wait()
        return None, self.checked(f"coalesced {what}", *pairs,
                                  moved=what == "all_gather_into_tensor")

    def then(self):
        """Runs a callback of an all_reduce's future that calls further operations."""
        other = self.groups[self.op["other_group"]]
        others = self.program["groups"][self.op["other_group"]]
        inner_values = [ref.drawn("int64", 5, self.op["id"], "inner", r) for r in others]
        inner = torch.from_numpy(inner_values[others.index(self.rank)].copy()) if self.rank in others else None
        sum_of = lambda: torch.from_numpy(ref.reduced("int64", "SUM", inner_values))

        def callback(future):
            if inner is None:
                return None
            what = self.op["then"]
            if what == "broadcast":
                dist.broadcast(inner, others[-1], other)
                return inner, torch.from_numpy(inner_values[-1].copy())
            if what == "send" and len(others) > 1:
                me, got = others.index(self.rank), torch.zeros(5, dtype=torch.int64)
                sent = dist.isend(inner, others[(me + 1) % len(others)], other, 99)
                dist.recv(got, others[me - 1], other, 99)
                sent.wait()
                return got, torch.from_numpy(inner_values[me - 1].copy())
            if what == "chain":
                future = dist.all_reduce(inner, group=other, async_op=True).get_future()
                for _ in range(3):
                    future = future.then(lambda f: (dist.barrier(other), f.value())[1])
                future.wait()
            elif what == "all_reduce":
                dist.all_reduce(inner, group=other)
            else:
                dist.all_reduce(inner, group=other, async_op=True).get_future().wait()
            return inner, sum_of()

        if self.me < 0:  # only in the other group
            result = callback(None)
            check = lambda: None
        else:
            mine = self.laid(self.values(self.me))
            work = dist.all_reduce(mine.tensor, self.reduction(), self.group, True)
            result = work.get_future().then(callback).wait()
            check = self.checked("all_reduce with a callback", (mine, ref.reduced(
                self.op["type"], self.op["reduction"], self.all_values())))

        def check_both():
            check()
            if result is not None and not torch.equal(*result):
                raise Wrong(f"{self.op['then']} in a callback: {result[0]} is not {result[1]}")

        return None, check_both

    def objects(self):
        what, root, id_ = self.op["what"], self.op["root"], self.op["id"]
        of = lambda member: ref.objects_of(id_, member)
        got = want = None
        if what == "broadcast_object_list":
            got = [of(self.me), self.me] if self.me == root else [None, None]
            dist.broadcast_object_list(got, self.members[root], self.group)
            want = [of(root), root]
        elif what == "all_gather_object":
            got = [None] * self.size
            dist.all_gather_object(got, of(self.me), self.group)
            want = [of(member) for member in range(self.size)]
        elif what == "gather_object":
            got = [None] * self.size if self.me == root else None
            dist.gather_object(of(self.me), got, self.members[root], self.group)
            want = [of(member) for member in range(self.size)] if self.me == root else None
        elif what == "scatter_object_list":
            got = [None]
            given = [of(member) for member in range(self.size)] if self.me == root else None
            dist.scatter_object_list(got, given, self.members[root], self.group)
            want = [of(self.me)]
        elif self.size > 1:
            to = (root + 1) % self.size
            if self.me == root:
                dist.send_object_list([of(root)], self.members[to], self.group)
            elif self.me == to:
                got, want = [None], [of(root)]
                dist.recv_object_list(got, self.members[root], self.group)
        if got != want:
            raise Wrong(f"{what}: {got} is not {want}")

    def late(self):
        """Delays some ranks before the next operations."""
        matrix = torch.ones(120, 120)
        for _ in range((self.op["id"] * (self.rank + 2)) % 40):
            matrix = matrix @ matrix / 120

    def new_group(self):
        ranks = self.members
        group = dist.new_group(ranks)
        if self.rank in ranks:
            one = torch.ones(3)
            dist.all_reduce(one, group=group)
            if one.tolist() != [len(ranks)] * 3:
                raise Wrong(f"all_reduce of a new group: {one}")
            dist.destroy_process_group(group)

    def functional(self):
        """Tests the collectives that return a new tensor and leave the operand unchanged."""
        what, type_, reduction = self.op["what"], self.op["type"], self.op["reduction"]
        name, group = reduction.lower(), self.group
        mine = self.laid(self.values(self.me), [self.count])
        whole = np.concatenate([self.values(self.me, part) for part in range(self.size)])
        if what == "all_reduce":
            got = [functions.all_reduce(mine.tensor, name, group)]
            want = [ref.reduced(type_, reduction, self.all_values())]
        elif what == "all_reduce_coalesced":
            mine = self.laid(self.values(self.me), [self.count])
            got = functions.all_reduce_coalesced([mine.tensor, mine.tensor], name, group)
            want = [ref.reduced(type_, reduction, self.all_values())] * 2
        elif what == "all_gather_tensor":
            got = [functions.all_gather_tensor(mine.tensor, 0, group)]
            want = [np.concatenate(self.all_values())]
        elif what == "broadcast":
            got, want = [functions.broadcast(mine.tensor, self.size - 1, group)], [self.values(self.size - 1)]
        elif what == "reduce_scatter_tensor":
            mine = self.laid(whole, [self.size * self.count])
            got = [functions.reduce_scatter_tensor(mine.tensor, name, 0, group)]
            want = [ref.reduced(type_, reduction, self.all_values(self.me))]
        else:
            mine = self.laid(whole, [self.size * self.count])
            got = [functions.all_to_all_single(mine.tensor, None, None, group)]
            want = [np.concatenate([self.values(member, self.me) for member in range(self.size)])]

        def check():
            for tensor, values in zip(got, want):
                if not same(tensor, to_tensor(type_, values, list(tensor.shape))):
                    raise Wrong(f"functional {what}: got {tensor.reshape(-1)[:8]} ..., not {values[:8]} ...")
            if not torch.equal(mine.bytes(), mine.before):
                raise Wrong(f"functional {what}: its operand was written")

        return None, check

    def set_timeout(self):
        """Continues with another timeout."""
        timeout = timedelta(seconds=20 + self.op["id"] % 7) * int(os.environ.get("ORACLE_SLOW", "1"))
        self.group._get_backend(torch.device("cpu"))._set_default_timeout(timeout) if self.backend == "gloo" else (
            self.group._get_backend(torch.device("cpu")).set_timeout(timeout))
        dist.barrier(self.group)

    def refused(self):
        """An invalid call is an error of all ranks, and the group still works."""
        for call in (lambda: dist.all_to_all_single(torch.zeros(3), torch.zeros(3), [9] * self.size,
                                                    [9] * self.size, group=self.group),
                     lambda: dist.all_reduce(torch.zeros(3), dist.ReduceOp.BAND, group=self.group)):
            try:
                call()
            except (RuntimeError, ValueError):
                continue
            raise Wrong("a call that makes no sense was carried out")
        one = torch.ones(3)
        dist.all_reduce(one, group=self.group)
        if one.tolist() != [self.size] * 3:
            raise Wrong(f"all_reduce after a refusal: {one}")

    def broken(self):
        """Incompatible calls are an error on every rank, soon, and other groups still work."""
        what, ranks, id_ = self.op["what"], self.members, self.op["id"]
        group = dist.new_group(ranks)
        if self.rank not in ranks:
            return
        odd, count = self.me == id_ % self.size, 16 * (1 + id_ % 2000)
        if self.size > 1:
            dist.all_reduce(torch.ones(3), group=group)
            try:
                if what == "abort" and odd:
                    group._get_backend(torch.device("cpu")).abort()
                elif what == "sizes":
                    dist.all_reduce(torch.ones(count + 16 * odd), group=group)
                elif what == "types":
                    dist.all_reduce(torch.ones(count, dtype=torch.int32 if odd else torch.float32), group=group)
                elif what == "operations" and odd:
                    dist.broadcast(torch.ones(count), ranks[0], group)
                elif what == "roots":
                    dist.broadcast(torch.ones(count), ranks[int(odd)], group)
                else:
                    dist.all_reduce(torch.ones(count), group=group)
                # Two roots have no data to wait for, so a later operation reports the error.
                dist.barrier(group)
            except RuntimeError:
                pass
            else:
                raise Wrong(f"{what} that differ were no error on rank {self.me} of the group")
        dist.destroy_process_group(group)
