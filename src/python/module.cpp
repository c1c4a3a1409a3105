// The extension ringlet._native: functions that do not need PyTorch.
#define PY_SSIZE_T_CLEAN  // text lengths are Py_ssize_t
#include <Python.h>

#include <string>

#include "comm/machine/prediction.hpp"

namespace ringlet::python {
namespace {

/// predict(xml, name, hosts, operation, bytes, flows): the JSON of a prediction. ringlet.predict
/// checks the numbers. Releases Python's lock. Errors  ValueError  as comm::PredictionJson
PyObject* Predict(PyObject* /*module*/, PyObject* arguments) {
  const char *xml = nullptr, *name = nullptr, *operation = nullptr;
  Py_ssize_t xml_bytes = 0;
  unsigned int hosts = 0;
  unsigned long long bytes = 0;
  int flows = 0;
  if (PyArg_ParseTuple(arguments, "s#sIsKp", &xml, &xml_bytes, &name, &hosts, &operation, &bytes,
                       &flows) == 0)
    return nullptr;
  const comm::PredictionRequest request{
      .xml = std::string(xml, static_cast<std::size_t>(xml_bytes)),
      .name = name,
      .hosts = hosts,
      .operation = operation,
      .bytes = bytes,
      .flows = flows != 0};
  PyThreadState* const unlocked = PyEval_SaveThread();
  const auto json = comm::PredictionJson(request);
  PyEval_RestoreThread(unlocked);
  if (json.ok())
    return PyUnicode_FromStringAndSize(json->data(), static_cast<Py_ssize_t>(json->size()));
  PyErr_SetString(PyExc_ValueError, ("ringlet: " + json.error().message).c_str());
  return nullptr;
}

PyMethodDef methods[] = {
    {"predict", &Predict, METH_VARARGS, "Predicts the time of a collective on GPUs, as JSON."},
    {nullptr, nullptr, 0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT,
                          "_native",
                          "Functions of Ringlet that work without PyTorch.",
                          -1,
                          methods,
                          nullptr,
                          nullptr,
                          nullptr,
                          nullptr};

}  // namespace
}  // namespace ringlet::python

PyMODINIT_FUNC PyInit__native() {
  return PyModule_Create(&ringlet::python::definition);
}
