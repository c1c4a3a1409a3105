// The extension ringlet._torch_2_x._C: the only source that includes PyTorch's headers.
#include <pybind11/chrono.h>

#include "comm/service/fork_guard.hpp"
#include "pytorch/backend.hpp"
#include "pytorch/operator_calls.hpp"
#include "pytorch/operators.hpp"
#include "pytorch/symmetric.hpp"
#include "pytorch/window.hpp"

namespace ringlet::torch_api {
namespace {

Milliseconds Whole(std::chrono::duration<float> seconds) {
  return std::chrono::ceil<Milliseconds>(std::chrono::duration<double>(seconds));
}

/// The entry point for init_process_group and new_group.
c10::intrusive_ptr<c10d::Backend> Create(const c10d::DistributedBackendOptions& torch_options,
                                         const py::object& given) {
  auto options = given.is_none() || !py::isinstance<BackendOptions>(given)
                     ? c10::make_intrusive<BackendOptions>()
                     : c10::make_intrusive<BackendOptions>(given.cast<const BackendOptions&>());
  options->timeout = Whole(torch_options.timeout);
  // PyTorch's default means that the caller of new_group passed no timeout.
  const bool is_default = torch_options.global_ranks_in_group.empty();
  if (!is_default && options->timeout == kBackendDefaultTimeout)
    options->timeout = LiveGroups::The().TimeoutOfDefault().value_or(options->timeout);
  CopyReconfigure(torch_options, *options);
  SetGroup<c10d::Backend::Options>(
      *options, torch_options.group_id,
      {torch_options.global_ranks_in_group.begin(), torch_options.global_ranks_in_group.end()});
  auto backend = c10::make_intrusive<RingletBackend>(torch_options.store, torch_options.group_rank,
                                                     torch_options.group_size, std::move(options));
  if (is_default) LiveGroups::The().SetDefault(backend->life());
  return backend;
}

/// Called at the end of the program.
void EndAll() {
  LiveGroups::The().EndAll();
  TensorMemory::The().Trim();
}

c10::intrusive_ptr<BackendOptions> MakeOptions(Milliseconds timeout, Milliseconds init_timeout,
                                               std::int64_t ranks_per_root) {
  auto options = c10::make_intrusive<BackendOptions>(timeout);
  options->init_timeout = init_timeout;
  options->ranks_per_root = ranks_per_root;
  return options;
}

}  // namespace
}  // namespace ringlet::torch_api

PYBIND11_MODULE(_C, module) {
  (void)ringlet::comm::ForkGuard();  // maps a page in advance, so that no group waits for it
  namespace api = ringlet::torch_api;
  py::module_::import("torch.distributed");
  ringlet::comm::ProcessFacts::CacheHostFacts();
  const py::object torch_backend =
      py::module_::import("torch._C._distributed_c10d").attr("Backend");

  py::class_<api::BackendOptions, c10d::Backend::Options, c10::intrusive_ptr<api::BackendOptions>>(
      module, "Options", "The options of a Ringlet process group.")
      .def(py::init(&api::MakeOptions), py::kw_only(), py::arg("timeout") = kBackendDefaultTimeout,
           py::arg("init_timeout") = api::Milliseconds(0), py::arg("ranks_per_root") = 128)
      .def_readwrite("init_timeout", &api::BackendOptions::init_timeout)
      .def_readwrite("ranks_per_root", &api::BackendOptions::ranks_per_root);

  py::class_<api::RingletBackend, c10d::Backend, c10::intrusive_ptr<api::RingletBackend>>(
      module, "ProcessGroupRinglet", "The backend of a process group on Ringlet's communicators.")
      .def(py::init([](const c10::intrusive_ptr<c10d::Store>& store, int rank, int size,
                       api::Milliseconds timeout, std::string name) {
             return c10::make_intrusive<api::RingletBackend>(
                 store, rank, size, c10::make_intrusive<api::BackendOptions>(timeout),
                 std::move(name));
           }),
           py::arg("store"), py::arg("rank"), py::arg("size"),
           py::arg("timeout") = kBackendDefaultTimeout, py::arg("name") = "ringlet",
           py::call_guard<py::gil_scoped_release>())
      .def_property_readonly("options",
                             [](api::RingletBackend& backend) { return backend.life().options(); })
      .def(
          "monitored_barrier",
          [](api::RingletBackend& backend, api::Milliseconds timeout, bool wait_all_ranks) {
            c10d::BarrierOptions options;
            options.timeout = timeout;
            backend.monitoredBarrier(options, wait_all_ranks);
          },
          py::arg("timeout") = c10d::kUnsetTimeout, py::arg("wait_all_ranks") = false,
          py::call_guard<py::gil_scoped_release>());

  module.def(
      "allocate", [](std::int64_t bytes) { return api::ReachableTensor(bytes, at::kByte); },
      py::arg("bytes"), "A tensor of bytes in memory that the other ranks of the host can reach.");
  module.def(
      "reachable_address",
      [] {
        const auto address = api::ReachableAddress();
        TORCH_CHECK(address.ok(), "ringlet: ", address.error().message);
        return *address;
      },
      "The first address at which groups of this process listen.");
  module.def("create", &api::Create, "Makes a process group; PyTorch calls it.");
  module.def("offer_symmetric_memory", &api::OfferSymmetricMemory,
             "Registers this allocator with torch.distributed._symmetric_memory for CPUs, unless "
             "it already has one. Returns False if this PyTorch does not support that.");
  module.def("direct_call", &api::DirectCall, py::arg("name"), py::arg("generic"),
             "A faster equivalent of PyTorch's callable `generic` for an operator.");
  // Without Python's lock, because hooks wait for threads that take it.
  module.def("end_all", &api::EndAll, py::call_guard<py::gil_scoped_release>(),
             "Ends all remaining process groups.");
}

TORCH_LIBRARY(ringlet, library) {
  library.def("all_reduce_(Tensor(a!) tensor, str group_name, str op='sum') -> ()");
  library.def("broadcast_(Tensor(a!) tensor, int root, str group_name) -> ()");
  library.def("all_gather_into_tensor(Tensor(a!) output, Tensor input, str group_name) -> ()");
  library.def(
      "reduce_scatter_tensor(Tensor(a!) output, Tensor input, str group_name, str op='sum') -> ()");
  library.def(
      "all_to_all_single(Tensor(a!) output, Tensor input, str group_name, "
      "int[]? output_splits=None, int[]? input_splits=None) -> ()");
  library.def("barrier(str group_name) -> ()");
}

// A barrier takes no tensors that could select a kernel.
TORCH_LIBRARY_IMPL(ringlet, CompositeExplicitAutograd, library) {
  library.impl("barrier", &ringlet::torch_api::BarrierOperator);
}

TORCH_LIBRARY_IMPL(ringlet, CPU, library) {
  namespace api = ringlet::torch_api;
  library.impl("all_reduce_", &api::AllReduceOperator);
  library.impl("broadcast_", &api::BroadcastOperator);
  library.impl("all_gather_into_tensor", &api::AllGatherOperator);
  library.impl("reduce_scatter_tensor", &api::ReduceScatterOperator);
  library.impl("all_to_all_single", &api::AllToAllOperator);
}

TORCH_LIBRARY_IMPL(ringlet, Meta, library) {
  namespace api = ringlet::torch_api;
  using Text = std::string_view;
  using Tensor = const at::Tensor&;
  using Lengths = at::OptionalIntArrayRef;
  library.impl("all_reduce_", &api::NothingToCompute<Tensor, Text, Text>);
  library.impl("broadcast_", &api::NothingToCompute<Tensor, std::int64_t, Text>);
  library.impl("all_gather_into_tensor", &api::NothingToCompute<Tensor, Tensor, Text>);
  library.impl("reduce_scatter_tensor", &api::NothingToCompute<Tensor, Tensor, Text, Text>);
  library.impl("all_to_all_single", &api::NothingToCompute<Tensor, Tensor, Text, Lengths, Lengths>);
}
