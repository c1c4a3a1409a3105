// The place in a Python program at which a thread is. Included by module.cpp only.
#pragma once
#include <torch/extension.h>

#include <string>

namespace ringlet::torch_api {

/// The place from which this thread came here, outside of PyTorch and Ringlet, with the calls that
/// led there, or the words that it does not come from Python. It takes Python's lock: not from
/// inside a turn, for which a thread with the lock may wait. Cost  some microseconds
inline std::string PythonLine() {
  const std::string none = "not called from Python";
  if (!Py_IsInitialized() || PyGILState_GetThisThreadState() == nullptr) return none;
  const py::gil_scoped_acquire gil;
  try {
    const py::object line = py::module_::import("ringlet._python_line").attr("python_line")();
    return line.is_none() ? none : line.cast<std::string>();
  } catch (const std::exception&) {
    return none;  // another error is on its way to the caller, and counts
  }
}

}  // namespace ringlet::torch_api
