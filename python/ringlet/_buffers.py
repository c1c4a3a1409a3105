"""Memory of callers: checks it, and finds its address, number of elements and type.

Takes NumPy arrays, objects with Python's buffer protocol, and tensors of the CPU over DLPack. Needs
neither NumPy nor torch.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, NamedTuple, Optional, Tuple

# ncclDataType_t, by NumPy's names.
TYPES = {"int8": 0, "uint8": 1, "int32": 2, "uint32": 3, "int64": 4, "uint64": 5, "float16": 6, "float32": 7,
         "float64": 8, "bfloat16": 9, "float8_e4m3fn": 10, "float8_e5m2": 11}  # fmt: skip
UINT8 = TYPES["uint8"]
_ITEM_BYTES = (1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1)
_KINDS = {**dict.fromkeys("bhilqn", "int"), **dict.fromkeys("BHILQNc", "uint"), **dict.fromkeys("efd", "float"),
          "?": "bool"}  # fmt: skip
# DLDataTypeCode.
_DLPACK_KINDS = {0: "int", 1: "uint", 2: "float", 4: "bfloat", 10: "float8_e4m3fn", 12: "float8_e5m2"}
_DLPACK_HOSTS = (1, 3, 11)  # kDLCPU, kDLCUDAHost, kDLROCMHost
_DLPACK_READ_ONLY = 1

# Takes the address of a writable, contiguous buffer of any size, and keeps the buffer alive. It is the
# fastest way in Python: a fifth of the time of ndarray.ctypes.data.
pointer_to = (ctypes.c_char * 0).from_buffer

#: ncclDataType_t of NumPy's types in native byte order, filled by `numpy_types`.
NUMPY_CODES: dict[Any, int] = {}


class Buffer(NamedTuple):
    pointer: Any  # an argument for ctypes that keeps the memory alive
    elements: int
    code: Optional[int]  # None: a type without arithmetic
    item_bytes: int
    type_name: str


def numpy_types() -> Any:
    """Returns NumPy if the program has imported it, and then fills NUMPY_CODES."""
    numpy = sys.modules.get("numpy")
    if numpy is not None and not NUMPY_CODES and hasattr(numpy, "dtype"):
        # The buffer protocol does not have the types of ml_dtypes, so the fast path is not for them.
        NUMPY_CODES.update({numpy.dtype(name): code for name, code in TYPES.items() if code < TYPES["bfloat16"]})
    return numpy


class _PyBuffer(ctypes.Structure):
    _fields_ = [("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t),
                ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int), ("ndim", ctypes.c_int),
                ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
                ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p)]  # fmt: skip


class _Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("byte_offset", ctypes.c_uint64)]  # fmt: skip


class _Versioned(ctypes.Structure):
    _fields_ = [("major", ctypes.c_uint32), ("minor", ctypes.c_uint32), ("context", ctypes.c_void_p),
                ("deleter", ctypes.c_void_p), ("flags", ctypes.c_uint64), ("tensor", _Tensor)]  # fmt: skip


class _Address(ctypes.c_void_p):
    """An address that keeps its owner alive."""

    owner: Any


def _address(value: Optional[int], owner: Any) -> _Address:
    address = _Address(value)
    address.owner = owner
    return address


_get_buffer = ctypes.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
_release_buffer = ctypes.pythonapi.PyBuffer_Release
_release_buffer.argtypes = [ctypes.POINTER(_PyBuffer)]
_release_buffer.restype = None
_capsule_pointer = ctypes.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule_pointer.restype = ctypes.c_void_p


def _not_contiguous(name: str, writable: bool) -> ValueError:
    cure = (f"receive into a contiguous buffer and copy it into {name}" if writable
            else f"pass a contiguous copy, such as numpy.ascontiguousarray({name})")
    return ValueError(f"{name} is not contiguous in the order of C: {cure}")


def _read_only(name: str) -> ValueError:
    return ValueError(f"{name} is read-only, and the call writes to it: pass a writable buffer, such as a bytearray "
                      "or a copy of the array")


def _objects(name: str) -> TypeError:
    return TypeError(f"{name} contains Python objects: use the methods for objects, such as all_gather_object")


def _of_numpy(array: Any, name: str, writable: bool) -> Buffer:
    array = sys.modules["numpy"].asarray(array)
    kind = array.dtype
    if kind.hasobject:
        raise _objects(name)
    if not array.flags.c_contiguous:
        raise _not_contiguous(name, writable)
    if writable and not array.flags.writeable:
        raise _read_only(name)
    pointer: Any = None
    if array.flags.writeable:
        # As bytes, because some types are not part of the buffer protocol.
        pointer = pointer_to(array.reshape(-1).view("u1")) if kind.itemsize else None
    else:
        pointer = _address(array.__array_interface__["data"][0], array)
    return Buffer(pointer, array.size, TYPES.get(kind.name) if kind.isnative else None, kind.itemsize, str(kind))


def _of_view(view: memoryview, name: str, writable: bool) -> Buffer:
    form = view.format.lstrip("@=" + ("<" if sys.byteorder == "little" else ">"))
    if "O" in form:
        raise _objects(name)
    if not view.c_contiguous:
        raise _not_contiguous(name, writable)
    if writable and view.readonly:
        raise _read_only(name)
    pointer: Any = None
    if view.readonly:
        raw = _PyBuffer()
        _get_buffer(view, raw, 0)
        pointer = _address(raw.buf, view)  # the view keeps the memory
        _release_buffer(raw)
    else:
        pointer = pointer_to(view)
    kind = f"{_KINDS[form]}{8 * view.itemsize}" if form in _KINDS else f"format {view.format}"
    kind = "bool" if kind == "bool8" else kind
    return Buffer(pointer, view.nbytes // view.itemsize if view.itemsize else 0, TYPES.get(kind), view.itemsize, kind)


def _capsule_of(tensor: Any, name: str) -> Any:
    try:
        device = tensor.__dlpack_device__()
        if device[0] in _DLPACK_HOSTS:
            try:
                return tensor.__dlpack__(max_version=(1, 0))
            except TypeError:  # of a library before DLPack 1.0
                return tensor.__dlpack__()
    except Exception as error:
        raise TypeError(f"{name} cannot be shared over DLPack: {error}") from error
    raise TypeError(f"{name} is on the DLPack device {tuple(map(int, device))}, and Ringlet takes memory of the CPU: "
                    "copy it to the CPU first")


def _of_dlpack(tensor: Any, name: str, writable: bool) -> Buffer:
    capsule = _capsule_of(tensor, name)  # frees its tensor at its end
    if '"dltensor_versioned"' in repr(capsule):
        versioned = _Versioned.from_address(_capsule_pointer(capsule, b"dltensor_versioned"))
        found, read_only = versioned.tensor, bool(versioned.flags & _DLPACK_READ_ONLY)
    else:
        found = _Tensor.from_address(_capsule_pointer(capsule, b"dltensor"))
        # DLPack before 1.0 lacks a flag for read-only memory. torch exports writable tensors, JAX read-only arrays.
        read_only = not type(tensor).__module__.startswith("torch")
    count, contiguous = 1, True
    for axis in reversed(range(found.ndim)):
        contiguous &= not found.strides or found.shape[axis] == 1 or found.strides[axis] == count
        count *= found.shape[axis]
    if not contiguous and count:
        raise _not_contiguous(name, writable)
    if writable and read_only:
        raise _read_only(name)
    kind = _DLPACK_KINDS.get(found.code, f"DLPack type {found.code} of ")
    kind = kind if kind in TYPES else f"{kind}{found.bits}"
    code = TYPES.get(kind) if found.lanes == 1 else None
    data = found.data + found.byte_offset if found.data else None
    return Buffer(_address(data, capsule), count, code, (found.bits * found.lanes + 7) // 8, kind)


def describe(value: Any, name: str, writable: bool = False) -> Buffer:
    """Returns the memory of `value`. Raises TypeError or ValueError, which name the argument."""
    numpy = numpy_types()
    if numpy is not None and isinstance(value, numpy.ndarray):
        return _of_numpy(value, name, writable)
    try:
        view = memoryview(value)
    except (TypeError, ValueError, BufferError):
        if not hasattr(value, "__dlpack__"):
            raise TypeError(f"{name} is {type(value).__name__}, and has neither Python's buffer protocol nor DLPack: "
                            "pass an array, or use the methods for objects, such as all_gather_object") from None
        return _of_dlpack(value, name, writable)
    return _of_view(view, name, writable)


def as_bytes(buffer: Buffer) -> Buffer:
    """Returns the buffer as bytes, to move types that have no arithmetic."""
    if buffer.code is not None:
        return buffer
    return buffer._replace(elements=buffer.elements * buffer.item_bytes, code=UINT8, item_bytes=1)


def shape_of(value: Any) -> Optional[Tuple[int, ...]]:
    """Returns the shape of an array or a tensor; None for other buffers."""
    shape = getattr(value, "shape", None)
    return None if shape is None or isinstance(value, memoryview) else tuple(shape)


def allocate(value: Any, like: Optional[Buffer], shape: Tuple[int, ...]) -> Any:
    """Returns a new array for results of `value`, which `like` describes unless it is a NumPy array: a
    tensor of torch for one, else NumPy's.
    """
    if like is None:
        return sys.modules["numpy"].empty(shape, value.dtype)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return value.new_empty(shape, requires_grad=False)
    try:
        import numpy
    except ModuleNotFoundError:
        raise TypeError("recv is missing, and NumPy, which would allocate it, is not installed: pass recv, or "
                        "install numpy") from None
    try:
        kind = numpy.asarray(memoryview(value)).dtype
    except (TypeError, ValueError, BufferError):  # a type that the buffer protocol does not have
        kind = value.dtype if isinstance(value, numpy.ndarray) else _kind_of(like)
    return numpy.empty(shape, kind)


def _kind_of(like: Buffer) -> Any:
    name = next((each for each, code in TYPES.items() if code == like.code), f"V{like.item_bytes}")
    if like.code is None or like.code < TYPES["bfloat16"]:
        return name
    import ml_dtypes

    return getattr(ml_dtypes, name)
