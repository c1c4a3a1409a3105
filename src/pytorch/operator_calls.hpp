// Fast path from Python to the operators torch.ops.ringlet through PyTorch's dispatcher. Included
// by module.cpp only.
//
// PyTorch's own path searches all overloads for each call by the schema, and boxes each argument.
// That takes 2 to 3 us, several times the duration of a small all-reduce. A call with only
// positional tensors, texts and numbers avoids that; all others take PyTorch's path. The
// dispatcher, and so autograd, profilers, fake tensors and other modes, sees both in the same way.
#pragma once
#include <ATen/PythonTorchFunctionTLS.h>
#include <ATen/core/LegacyTypeDispatch.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <c10/core/impl/LocalDispatchKeySet.h>
#include <torch/csrc/Exceptions.h>
#include <torch/csrc/autograd/python_variable.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "pytorch/operators.hpp"

namespace ringlet::torch_api {

/// Converts an argument from Python to the operator's type. Returns false for another type.
inline bool Take(PyObject* given, at::Tensor& taken) {
  if (!THPVariable_CheckExact(given)) return false;
  taken = THPVariable_Unpack(given);
  return true;
}
inline bool Take(PyObject* given, std::string_view& taken) {
  if (!PyUnicode_CheckExact(given)) return false;
  Py_ssize_t bytes = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(given, &bytes);
  if (text == nullptr) return PyErr_Clear(), false;
  taken = std::string_view(text, static_cast<std::size_t>(bytes));
  return true;
}
inline bool Take(PyObject* given, std::int64_t& taken) {
  if (!PyLong_CheckExact(given)) return false;
  taken = PyLong_AsLongLong(given);
  if (taken == -1 && PyErr_Occurred() != nullptr) return PyErr_Clear(), false;
  return true;
}

inline bool NeedsGrad(const at::Tensor& tensor) {
  return tensor.requires_grad();
}
template <typename Other>
bool NeedsGrad(const Other& /*other*/) {
  return false;
}

/// \tparam kName  "ringlet::NAME"
/// \tparam kGivenMin  arguments from this index on are optional; the default is "sum"
template <const char* kName, std::size_t kGivenMin, typename... Arguments>
class OperatorCall {
 public:
  /// Returns the callable for Python. \param generic  PyTorch's callable; keeps a reference to it
  static py::object Of(const py::object& generic) {
    static PyMethodDef method = {kName + std::string_view(kName).rfind(':') + 1,
                                 reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&Run)),
                                 METH_FASTCALL | METH_KEYWORDS, nullptr};
    const py::object module = py::getattr(generic, "__module__", py::none());
    return py::reinterpret_steal<py::object>(
        PyCFunction_NewEx(&method, generic.ptr(), module.ptr()));
  }

 private:
  using Taken = std::tuple<std::decay_t<Arguments>...>;

  static PyObject* Run(PyObject* generic, PyObject* const* given, Py_ssize_t count,
                       PyObject* names) {
    Taken taken;
    if (names != nullptr || at::impl::torch_function_mode_enabled() ||
        !TakeAll(given, static_cast<std::size_t>(count), taken,
                 std::index_sequence_for<Arguments...>()))
      return PyObject_Vectorcall(generic, given, static_cast<std::size_t>(count), names);
    HANDLE_TH_ERRORS
    const py::gil_scoped_release without_python;
    // Autograd would be called with boxed arguments, without any effect. It stays enabled for modes
    // and function transforms, which are keys of the thread.
    std::optional<at::AutoDispatchBelowAutograd> below_autograd;
    if (c10::impl::tls_local_dispatch_key_set().included_ == c10::default_included_set &&
        !std::apply(AnyNeedsGrad, taken))
      below_autograd.emplace();
    static const auto operation = c10::Dispatcher::singleton()
                                      .findSchemaOrThrow(kName, "")
                                      .template typed<void(Arguments...)>();
    std::apply([&](auto&... each) { operation.call(each...); }, taken);
    END_HANDLE_TH_ERRORS
    Py_RETURN_NONE;
  }

  static bool AnyNeedsGrad(const std::decay_t<Arguments>&... each) {
    return (NeedsGrad(each) || ...);
  }
  template <std::size_t... kAt>
  static bool TakeAll(PyObject* const* given, std::size_t count, Taken& taken,
                      std::index_sequence<kAt...>) {
    if (count < kGivenMin || count > sizeof...(Arguments)) return false;
    return (TakeOne<kAt>(given, count, std::get<kAt>(taken)) && ...);
  }
  template <std::size_t kAt, typename Type>
  static bool TakeOne(PyObject* const* given, std::size_t count, Type& taken) {
    if constexpr (kAt >= kGivenMin)
      if (kAt >= count) return taken = "sum", true;
    return Take(given[kAt], taken);
  }
};

/// Returns the fast callable of an operator by its name; `generic` itself if it is missing.
inline py::object DirectCall(std::string_view name, const py::object& generic) {
  using Tensor = const at::Tensor&;
  using Text = std::string_view;
  static constexpr char kAllReduce[] = "ringlet::all_reduce_";
  static constexpr char kBroadcast[] = "ringlet::broadcast_";
  static constexpr char kAllGather[] = "ringlet::all_gather_into_tensor";
  static constexpr char kReduceScatter[] = "ringlet::reduce_scatter_tensor";
  static constexpr char kBarrier[] = "ringlet::barrier";
  using Make = py::object (*)(const py::object&);
  const std::array<std::pair<std::string_view, Make>, 5> makers{{
      {"all_reduce_", &OperatorCall<kAllReduce, 2, Tensor, Text, Text>::Of},
      {"broadcast_", &OperatorCall<kBroadcast, 3, Tensor, std::int64_t, Text>::Of},
      {"all_gather_into_tensor", &OperatorCall<kAllGather, 3, Tensor, Tensor, Text>::Of},
      {"reduce_scatter_tensor", &OperatorCall<kReduceScatter, 3, Tensor, Tensor, Text, Text>::Of},
      {"barrier", &OperatorCall<kBarrier, 1, Text>::Of},
  }};
  for (const auto& [known, make] : makers)
    if (known == name) return make(generic);
  return generic;
}

}  // namespace ringlet::torch_api
