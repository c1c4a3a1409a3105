"""Random programs over torch.distributed, as plain values that can be printed, cut and replayed.

A program is {"seed", "size", "groups": [ranks of a group ...], "ops": [operation ...]}. Group 0 is
the world. Each operation is a dictionary. Its `id` is drawn once and determines its values, so an
operation keeps them when others are cut away. All ranks run the operations in their order. One with
"wait" is called asynchronously; each rank waits for it after this number of further operations, at
its own place.
"""
import random

INTEGERS = ["uint8", "int8", "int16", "int32", "int64"]
FLOATS = ["float16", "bfloat16", "float32", "float64"]
COMPLEX = ["complex64", "complex128"]
ODD = ["uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2"]  # not on every backend
# "reachable": in memory that the ranks of a host share (ringlet.empty)
LAYOUTS = ["dense", "turned", "strided", "offset", "columns", "reachable", "inference"]
# Around sizes at which Ringlet's algorithms and PyTorch's own parts change, and primes.
COUNTS = [0, 1, 1, 2, 3, 5, 7, 13, 31, 64, 97, 127, 128, 129, 1000, 1021, 1024, 4093, 4096, 4099,
          8191, 16384, 16411, 32749, 65536, 65537, 131101]

# Weights. actions.py has the implementation of each, reference.py its result.
KINDS = {
    "all_reduce": 10, "all_reduce_coalesced": 2, "all_reduce_sparse": 1, "broadcast": 8, "reduce": 5,
    "all_gather": 6, "all_gather_uneven": 1, "all_gather_into_tensor": 5, "all_gather_coalesced": 2,
    "gather": 4, "scatter": 4, "reduce_scatter": 4, "reduce_scatter_tensor": 5, "all_to_all": 4,
    "all_to_all_single": 6, "barrier": 3, "send": 8, "batch": 4, "coalescing": 3, "then": 5,
    "objects": 4, "new_group": 1, "late": 2, "functional": 5, "set_timeout": 1, "refused": 1, "broken": 1,
}
REDUCING = {"all_reduce", "all_reduce_coalesced", "reduce", "reduce_scatter", "reduce_scatter_tensor",
            "coalescing", "then", "all_reduce_sparse", "functional"}
ROOTED = {"broadcast", "reduce", "gather", "scatter", "objects"}
OBJECTS = ["broadcast_object_list", "all_gather_object", "gather_object", "scatter_object_list",
           "send_object_list"]
FUNCTIONS = ["all_reduce", "all_gather_tensor", "reduce_scatter_tensor", "all_to_all_single", "broadcast",
             "all_reduce_coalesced"]
# The end of a separate group: incompatible calls, and an abort.
BREAKS = ["sizes", "types", "operations", "roots", "abort"]
NEVER_ASYNC = {"objects", "new_group", "then", "coalescing", "late", "functional", "set_timeout", "refused", "broken"}


def reductions_of(type_):
    if type_ == "bool":
        return ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
    if type_ in INTEGERS + ["uint32", "uint64"]:
        return ["SUM", "PRODUCT", "MIN", "MAX", "BAND", "BOR", "BXOR"]
    if type_ in COMPLEX:
        return ["SUM", "AVG"]
    return ["SUM", "PRODUCT", "MIN", "MAX", "AVG", "PREMUL_SUM"]


def draw_type(rng, kind):
    if kind == "all_reduce_sparse":
        return "float32"
    types = ["bool"] + INTEGERS * 2 + FLOATS * 3 + COMPLEX
    if kind not in REDUCING:
        types += ODD + ["uint16"]
    elif kind in ("all_reduce", "reduce", "reduce_scatter_tensor"):
        types += ["uint32", "uint64"]
    return rng.choice(types)


def draw_shape(rng, count):
    """Returns a shape of this number of elements; 1 may also have no dimension at all."""
    if count == 0:
        return rng.choice([[0], [0, 3], [2, 0]])
    if count == 1:
        return rng.choice([[], [1], [1, 1]])
    for divisor in rng.sample([2, 3, 4, 7, 13], 5):
        if count % divisor == 0 and rng.random() < 0.5:
            return [count // divisor, divisor]
    return [count]


def draw_operation(rng, id_, groups):
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    group = rng.choice([0, 0, 0] + list(range(len(groups))))
    members = groups[group]
    if len(members) < 2 and kind in ("send", "batch"):
        kind, group, members = "all_reduce", 0, groups[0]
    op = {"id": id_, "kind": kind, "group": group, "type": draw_type(rng, kind)}
    count = rng.choice(COUNTS)
    if kind in ("all_reduce_coalesced", "all_gather_coalesced", "coalescing", "all_gather_uneven"):
        count = min(count, 4099)
    op["shape"] = draw_shape(rng, count)
    op["layout"] = rng.choice(LAYOUTS + ["dense"] * 4)
    if kind in REDUCING:
        op["reduction"] = "SUM" if kind == "all_reduce_sparse" else rng.choice(reductions_of(op["type"]))
    if kind in ROOTED:
        op["root"] = rng.randrange(len(members))
    if kind == "send":
        op["from"], op["to"] = rng.sample(range(len(members)), 2)
        op["how"] = rng.choice(["send", "isend", "isend"])
        op["from_anybody"] = rng.random() < 0.25
    if kind == "then":
        op["then"] = rng.choice(["all_reduce", "all_reduce_async", "broadcast", "send", "chain"])
        op["other_group"] = rng.choice(range(len(groups)))
    if kind == "objects":
        op["what"] = rng.choice(OBJECTS)
    if kind == "functional":
        op["what"] = rng.choice(FUNCTIONS)
        op["reduction"] = rng.choice([each for each in reductions_of(op["type"]) if each in ("SUM", "MIN", "MAX")]
                                     or ["SUM"])
    if kind == "broken":
        op["what"] = rng.choice(BREAKS)
    if kind == "all_to_all_single":
        op["splits"] = rng.choice(["equal", "unequal"])
    if kind == "coalescing":
        op["what"] = rng.choice(["all_reduce", "all_gather_into_tensor", "reduce_scatter_tensor"])
    if kind in ("all_gather_into_tensor",):
        op["in_place"] = rng.random() < 0.3
    if kind not in NEVER_ASYNC and rng.random() < 0.5:
        op["wait"] = rng.randrange(6)
        op["future"] = rng.random() < 0.3
    return op


def draw_groups(rng, size):
    groups = [list(range(size))]
    for _ in range(rng.randrange(3)):
        groups.append(sorted(rng.sample(range(size), rng.randint(1, size))))
    return groups


def draw(seed, operations=25):
    rng = random.Random(seed)
    size = rng.choice([1, 2, 2, 3, 3, 4, 5])
    groups = draw_groups(rng, size)
    ops = [draw_operation(rng, seed * 1000 + i, groups) for i in range(operations)]
    return {"seed": seed, "size": size, "groups": groups, "ops": ops}


def smaller(op):
    """Yields simpler versions of an operation, the simplest first."""
    for key in ("wait", "future", "in_place", "from_anybody"):
        if op.get(key):
            yield {k: v for k, v in op.items() if k != key} | ({} if key == "wait" else {key: False})
    if op["layout"] != "dense":
        yield op | {"layout": "dense"}
    count = 1
    for length in op["shape"]:
        count *= length
    for fewer in (1, 2, count // 2, count - 1):
        if 0 < fewer < count:
            yield op | {"shape": [fewer]}
    if len(op["shape"]) > 1:
        yield op | {"shape": [count]}
    if op["type"] not in ("float32",) and op.get("reduction", "SUM") in reductions_of("float32"):
        yield op | {"type": "float32"}
    if op.get("reduction", "SUM") != "SUM":
        yield op | {"reduction": "SUM"}
    if op["group"] != 0 and op["kind"] not in ROOTED | {"send"}:
        yield op | {"group": 0}


def without_rank(program, rank):
    """Returns the program with one rank fewer, as far as it is valid without that one."""
    def moved(old):
        return old - (old > rank)

    groups = [[moved(r) for r in ranks if r != rank] for ranks in program["groups"]]
    ops = []
    for op in program["ops"]:
        old = program["groups"][op["group"]]
        if not groups[op["group"]] or not groups[op.get("other_group", 0)]:
            continue
        op = dict(op)
        lost = False
        if rank in old:
            for key in ("root", "from", "to"):
                if key in op:
                    lost = lost or old[op[key]] == rank
                    op[key] -= op[key] > old.index(rank)
        if not lost and not (op["kind"] in ("send", "batch") and len(groups[op["group"]]) < 2):
            ops.append(op)
    groups = [ranks or [0] for ranks in groups]  # their numbers stay
    return program | {"size": program["size"] - 1, "groups": groups, "ops": ops}
