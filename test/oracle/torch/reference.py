"""Computes the expected result of an operation on each rank: plain loops over numpy arrays, in
double precision, and exact for integers. Shares nothing with the library.

Values are numpy arrays of the widest type of their kind (int64, uint64, float64, complex128, bool).
Each element type of PyTorch converts to and from them without loss.
"""
import zlib

import numpy as np

WIDTHS = {"uint8": 8, "int8": 8, "int16": 16, "int32": 32, "int64": 64, "uint16": 16, "uint32": 32,
          "uint64": 64}


FACTOR = 0.5  # of PREMUL_SUM


def kind_of(type_):
    if type_ == "bool":
        return "bool"
    if type_ in WIDTHS:
        return "unsigned" if type_.startswith("u") else "signed"
    return "complex" if type_.startswith("complex") else "float"


def wrapped(type_, values):
    """Wraps exact values to a type of this number of bits."""
    bits = WIDTHS[type_]
    values = values.astype(np.uint64)
    if bits < 64:
        values = values & np.uint64((1 << bits) - 1)
    if kind_of(type_) == "unsigned":
        return values
    sign = np.uint64(1 << (bits - 1))
    return ((values ^ sign) - sign).view(np.int64)


def drawn(type_, count, *key):
    """Returns the values of one tensor; the same on every rank."""
    rng = np.random.RandomState(zlib.crc32(repr(key).encode()))
    kind = kind_of(type_)
    if kind == "bool":
        return rng.randint(0, 2, count).astype(bool)
    if kind in ("signed", "unsigned"):
        bits = rng.randint(0, 1 << 32, (2, count)).astype(np.uint64)
        return wrapped(type_, bits[0] << np.uint64(32) | bits[1])
    # Small integers and halves: sums are exact in every type, and so are products of a few.
    small = rng.choice([-2.0, -1.0, -0.5, 0.5, 1.0, 1.0, 2.0], count)
    if kind == "complex":
        return small + 1j * rng.choice([-2.0, -1.0, 0.5, 1.0], count)
    return small


def reduced(type_, reduction, inputs):
    """Reduces the inputs of all ranks, elementwise."""
    if reduction == "PREMUL_SUM":
        return FACTOR * reduced(type_, "SUM", inputs)
    kind, total = kind_of(type_), inputs[0].copy()
    for values in inputs[1:]:
        with np.errstate(over="ignore"):
            if kind == "bool":
                total = {"SUM": np.logical_or, "MAX": np.logical_or, "BOR": np.logical_or,
                         "PRODUCT": np.logical_and, "MIN": np.logical_and,
                         "BAND": np.logical_and, "BXOR": np.logical_xor}[reduction](total, values)
            else:
                total = {"SUM": np.add, "AVG": np.add, "PRODUCT": np.multiply, "MIN": np.minimum,
                         "MAX": np.maximum, "BAND": np.bitwise_and, "BOR": np.bitwise_or,
                         "BXOR": np.bitwise_xor}[reduction](total, values)
        if kind in ("signed", "unsigned"):
            total = wrapped(type_, total)
    return total / len(inputs) if reduction == "AVG" else total


def parts_of(id_, size, rows):
    """Returns the number of rows from each rank to each: a matrix, with zeros among them."""
    rng = np.random.RandomState(id_ % (1 << 32))
    return rng.randint(0, max(rows, 1) + 1, (size, size))


def split_count(id_, size, count):
    """Returns counts that differ from rank to rank."""
    return [(count * (rank + 1 + id_ % 3)) % (count + 3) for rank in range(size)]


def objects_of(id_, rank):
    return {"of": rank, "list": list(range((id_ + rank) % 5)), "text": "x" * (id_ * (rank + 3) % 3000)}
