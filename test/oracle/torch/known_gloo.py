"""Differences of Gloo from PyTorch's documentation, found with PyTorch 2.13.

Each entry has the defect and the affected operations of a program. The oracle leaves them out, or
changes them, before the program runs on Gloo. All others must agree with the reference.
"""
UNTYPED = {"uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "complex64", "complex128",
           "bool", "int16"}

LEFT_OUT = [
    ("Gloo has no AVG and no PREMUL_SUM", lambda op: op.get("reduction") in ("AVG", "PREMUL_SUM")),
    ("Gloo reduces and moves fewer types", lambda op: op["type"] in UNTYPED),
    ("Gloo has bit operations for integers only", lambda op: op.get("reduction") in ("BAND", "BOR", "BXOR")
     and op["type"].startswith(("float", "bfloat"))),
    ("Gloo gathers equal parts only", lambda op: op["kind"] == "all_gather_uneven"),
    ("Gloo has no coalesced all_gather into tensors of lists", lambda op: op["kind"] in (
        "all_gather_coalesced", "coalescing", "all_reduce_coalesced")),
    ("Gloo refuses or mistakes tensors without elements", lambda op: 0 in op["shape"]),
    ("Gloo takes sizes, types, operations and roots that differ for alike, or dies of them",
     lambda op: op["kind"] == "broken"),
    ("Gloo goes on with other elements after a refusal of some ranks", lambda op: op["kind"] == "refused"),
]
CHANGED = [
    ("Gloo takes the memory of a tensor for its elements, whatever the strides",
     lambda op: op["layout"] != "dense", {"layout": "dense"}),
    ("Not all of Gloo's works have a future", lambda op: op.get("future"), {"future": False}),
    ("Gloo has all_gather_into_tensor out of place only", lambda op: op.get("in_place"), {"in_place": False}),
    ("A callback that waits for its own group can take Gloo's last thread",
     lambda op: op["kind"] == "then", {"kind": "barrier"}),
]


def fit_for_gloo(program):
    ops = []
    for op in program["ops"]:
        if any(concerns(op) for _, concerns in LEFT_OUT):
            continue
        for _, concerns, change in CHANGED:
            if concerns(op):
                op = op | change
        ops.append(op)
    return program | {"ops": ops}
