"""What the extension for PyTorch needs from Python: addresses of functions.

The extension has no symbol of Python, so that one file loads into each version. The functions belong
to the stable ABI, except PyGILState_Check, which each version from 3.4 on exports.
"""

import ctypes

_NAMES = ("Py_IsInitialized", "PyGILState_Check", "PyGILState_Ensure", "PyGILState_Release",
          "PyGILState_GetThisThreadState", "PyEval_SaveThread", "PyEval_RestoreThread", "PyErr_CheckSignals",
          "PyErr_Fetch", "PyErr_Restore", "Py_IncRef", "Py_DecRef", "PyObject_GetAttrString",
          "PyObject_SetAttrString")  # fmt: skip


@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t)
def _write_line(text, size):
    from ringlet._python_line import python_line  # on first use, because few programs need it

    line = (python_line() or "").encode(errors="replace")[: size - 1]
    ctypes.memmove(text, line + b"\0", len(line) + 1)


def functions(extension):
    """Returns the addresses in the order of Python::StableAbi in src/pytorch/execution/python.hpp.

    extension: the loaded library, a ctypes.PyDLL.
    """

    raise_again = extension.ringlet_raise_again

    class Raising(BaseException):
        """PyTorch creates it for an exception that a signal handler raised during a wait."""

        def __new__(cls, *arguments):
            raise_again()
            raise RuntimeError("ringlet: the exception of a signal handler is missing")

    functions.kept = Raising  # the extension keeps its address only
    pointers = [*(getattr(ctypes.pythonapi, name) for name in _NAMES), _write_line]
    return [*(ctypes.c_void_p.from_buffer(pointer).value for pointer in pointers), id(Raising)]
