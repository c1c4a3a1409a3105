// The extension for a version of PyTorch. Only this source includes PyTorch's headers.
//
// It registers operators and uses no symbol of Python, so one file serves all versions of Python.
// ringlet._backend loads it, and alone calls the operators of `ringlet_backend`. PyTorch releases
// Python's lock before it calls an operator.
#include "comm/service/fork_guard.hpp"
#include "pytorch/backend.hpp"
#include "pytorch/operators.hpp"
#include "pytorch/symmetric.hpp"
#include "pytorch/window.hpp"

namespace ringlet::torch_api {
namespace {

using Group = c10::intrusive_ptr<c10d::ProcessGroup>;

/// Prepares for groups. \param functions  of Python
void Prepare(at::IntArrayRef functions) {
  Python::Use(functions);
  (void)comm::ForkGuard();  // maps a page in advance, so that no group waits for it
  comm::ProcessFacts::CacheHostFacts();
  OfferSymmetricMemory();
}

/// Operators take process groups, but not stores and backends. So Python takes the backend from the
/// group that brought the store.
void SetBackend(const Group& carrier, c10::intrusive_ptr<RingletBackend> backend) {
  carrier->setBackend(c10::DeviceType::CPU, c10d::ProcessGroup::BackendType::CUSTOM,
                      std::move(backend));
}

c10::intrusive_ptr<BackendOptions> MakeOptions(std::int64_t timeout_ms,
                                               std::int64_t init_timeout_ms,
                                               std::int64_t ranks_per_root) {
  auto options = c10::make_intrusive<BackendOptions>(Milliseconds(timeout_ms));
  options->init_timeout = Milliseconds(init_timeout_ms);
  options->ranks_per_root = ranks_per_root;
  return options;
}

/// Creates the backend for init_process_group and new_group. \param carrier  has the store, rank
/// and size of the group, and receives the backend \param name  of the group \param ranks  in the
/// default group, of this group's members; empty for the default group itself
void Create(const Group& carrier, std::int64_t timeout_ms, std::int64_t init_timeout_ms,
            std::int64_t ranks_per_root, std::string_view name, at::IntArrayRef ranks,
            bool enable_reconfigure) {
  auto options = MakeOptions(timeout_ms, init_timeout_ms, ranks_per_root);
  // PyTorch's default means that the caller of new_group passed no timeout.
  if (!ranks.empty() && options->timeout == kBackendDefaultTimeout)
    options->timeout = LiveGroups::The().TimeoutOfDefault().value_or(options->timeout);
  SetReconfigure(*options, enable_reconfigure);
  SetGroup<c10d::Backend::Options>(*options, std::string(name), {ranks.begin(), ranks.end()});
  auto backend = c10::make_intrusive<RingletBackend>(carrier->getStore(), carrier->getRank(),
                                                     carrier->getSize(), std::move(options));
  if (ranks.empty()) LiveGroups::The().SetDefault(backend->life());
  SetBackend(carrier, std::move(backend));
}

/// Creates a backend for a caller that makes the process group itself, such as torchft.
/// \param kind  the name that the backend reports
void CreateNamed(const Group& carrier, std::int64_t timeout_ms, std::string_view kind) {
  SetBackend(carrier,
             c10::make_intrusive<RingletBackend>(
                 carrier->getStore(), carrier->getRank(), carrier->getSize(),
                 MakeOptions(timeout_ms, 0, BackendOptions().ranks_per_root), std::string(kind)));
}

/// Returns timeout_ms, init_timeout_ms and ranks_per_root of a group's backend; nothing if the
/// backend is another.
std::vector<std::int64_t> OptionsOf(const Group& group) {
  const auto given = group->getBackend(c10::DeviceType::CPU);
  const auto backend = c10::dynamic_intrusive_pointer_cast<RingletBackend>(given);
  if (!backend) return {};
  const auto& options = *backend->life().options();
  return {options.timeout.count(), options.init_timeout.count(), options.ranks_per_root};
}

/// Creates a tensor in memory that the other ranks of the host can reach.
at::Tensor Allocate(std::int64_t bytes) {
  return ReachableTensor(bytes, at::kByte);
}

/// Returns the first address at which groups of this process listen.
std::string FirstReachableAddress() {
  const auto address = ReachableAddress();
  TORCH_CHECK(address.ok(), "ringlet: ", address.error().message);
  return *address;
}

/// Ends all remaining process groups at the end of the program.
void EndAll() {
  LiveGroups::The().EndAll();
  TensorMemory::The().Trim();
}

}  // namespace
}  // namespace ringlet::torch_api

/// Raises the exception of the last PythonRaised. ringlet._python calls it, with Python's lock.
extern "C" __attribute__((visibility("default"))) void ringlet_raise_again() {
  if (const auto& last = ringlet::torch_api::PythonRaised::Last()) last->Raise();
}

TORCH_LIBRARY(ringlet_backend, library) {
  namespace api = ringlet::torch_api;
#define RINGLET_GROUP "__torch__.torch.classes.c10d.ProcessGroup"
  library.def("prepare(int[] functions) -> ()", &api::Prepare);
  library.def("create(" RINGLET_GROUP
              " carrier, int timeout_ms, int init_timeout_ms, int ranks_per_root, "
              "str name, int[] ranks, bool enable_reconfigure) -> ()",
              &api::Create);
  library.def("create_named(" RINGLET_GROUP " carrier, int timeout_ms, str kind) -> ()",
              &api::CreateNamed);
  library.def("options(" RINGLET_GROUP " group) -> int[]", &api::OptionsOf);
#undef RINGLET_GROUP
  library.def("allocate(int bytes) -> Tensor", &api::Allocate);
  library.def("reachable_address() -> str", &api::FirstReachableAddress);
  library.def("end_all() -> ()", &api::EndAll);
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
