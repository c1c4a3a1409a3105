"""Predictions by libringlet.so.0."""

import ctypes

from ringlet._library import load


class _Request(ctypes.Structure):
    """RingletPredictionRequest of src/core/c_api/predict.hpp."""

    _fields_ = [("xml", ctypes.c_char_p), ("name", ctypes.c_char_p), ("hosts", ctypes.c_uint32),
                ("operation", ctypes.c_char_p), ("bytes", ctypes.c_uint64), ("flows", ctypes.c_int32)]  # fmt: skip


def predict_json(xml, name, hosts, op, size, flows):
    """Returns the JSON of a prediction. Raises ValueError for an invalid argument or topology."""
    library = load()
    predict, free = library.ringlet_predict, library.free
    predict.argtypes, predict.restype = [ctypes.POINTER(_Request), ctypes.POINTER(ctypes.c_int32)], ctypes.c_void_p
    free.argtypes, free.restype = [ctypes.c_void_p], None
    failed = ctypes.c_int32()
    request = _Request(xml.encode(), name.encode(), hosts, op.encode(), size, flows)
    text = predict(ctypes.byref(request), ctypes.byref(failed))
    if text is None:
        raise MemoryError("ringlet: no memory for a prediction")
    try:
        found = ctypes.string_at(text).decode()
    finally:
        free(text)
    if failed:
        raise ValueError(found)
    return found
