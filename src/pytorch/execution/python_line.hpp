// The current position of a thread in its Python program. Included by module.cpp only.
#pragma once
#include <torch/extension.h>

#include <string>

namespace ringlet::torch_api {

/// Returns the innermost Python call outside PyTorch and Ringlet, with the calls that led to it, or
/// "not called from Python". Takes Python's lock. Do not call it in a turn: a thread with that lock
/// may wait for the turn. Cost  some microseconds
inline std::string PythonLine() {
  const std::string none = "not called from Python";
  if (!Py_IsInitialized() || PyGILState_GetThisThreadState() == nullptr) return none;
  const py::gil_scoped_acquire gil;
  try {
    const py::object line = py::module_::import("ringlet._python_line").attr("python_line")();
    return line.is_none() ? none : line.cast<std::string>();
  } catch (const std::exception&) {
    return none;  // the caller receives another error, which takes precedence
  }
}

}  // namespace ringlet::torch_api
