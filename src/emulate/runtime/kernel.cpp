// Kernels: registration by compiled programs at startup, and launches.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "emulate/host/device_facts.hpp"
#include "emulate/host/launch.hpp"
#include "emulate/runtime/call.hpp"

namespace ringlet::cuda {
namespace {

/// The configuration of a launch <<<...>>> for the kernel's stub function.
struct PushedLaunch {
  Dim3 grid, block;
  std::size_t shared_bytes;
  ringletStream_t stream;
};
thread_local std::vector<PushedLaunch> pushed;

LaunchShape ShapeOf(Dim3 grid, Dim3 block, std::size_t shared_bytes) {
  return {.grid = {grid.x, grid.y, grid.z},
          .block = {block.x, block.y, block.z},
          .shared_bytes = shared_bytes};
}

Answer FromKernels(const Error& error) {
  Host().PrintOnce(error.message);
  return {CudaCode::kInvalidDeviceFunction, error.message};
}

PreparedLaunch Prepare(const void* stub, const LaunchShape& shape, void** arguments,
                       ringletStream_t stream) {
  const auto kernel = Host().kernels().Find(stub);
  if (!kernel.ok()) return {.answer = FromKernels(kernel.error()), .work = {}};
  return PrepareLaunch(*kernel, shape, arguments, stream, CurrentDevice());
}

Answer Launch(const void* stub, const LaunchShape& shape, void** arguments,
              ringletStream_t stream) {
  PreparedLaunch launch = Prepare(stub, shape, arguments, stream);
  return launch.answer.ok() ? Enqueue(stream, std::move(launch.work)) : launch.answer;
}

Answer CheckKernel(const void* stub) {
  if (Host().kernels().NameOf(stub)) return Done();
  return {CudaCode::kInvalidDeviceFunction,
          fmt::format("{} is not a kernel of this program", fmt::ptr(stub))};
}

Answer Occupancy(int* blocks, const void* stub, int threads, std::size_t shared_bytes) {
  if (blocks == nullptr) return IsNull("numBlocks");
  if (const Answer known = CheckKernel(stub); !known.ok()) return known;
  if (threads <= 0) return Invalid("blockSize is not positive");
  const CapabilityLimits& limits = LimitsOf(Host().FactsOf(CurrentIndex()).capability);
  const std::size_t each = shared_bytes + static_cast<std::size_t>(limits.shared_bytes_reserved);
  const std::size_t by_shared =
      static_cast<std::size_t>(limits.shared_bytes_per_processor) / std::max<std::size_t>(each, 1);
  *blocks = threads > kThreadsPerBlockMax
                ? 0
                : static_cast<int>(std::min<std::size_t>(
                      {static_cast<std::size_t>(limits.threads_per_processor / threads),
                       static_cast<std::size_t>(limits.blocks_per_processor), by_shared}));
  return Done();
}

Answer WriteHandle(const void** handle, const void* stub) {
  if (handle == nullptr) return IsNull("the handle");
  if (const Answer known = CheckKernel(stub); !known.ok()) return known;
  *handle = stub;  // launches pass it again
  return Done();
}

}  // namespace

RINGLET_CUDA_FUNCTION void** __cudaRegisterFatBinary(void* binary) {
  return new void*(binary);
}

RINGLET_CUDA_FUNCTION void __cudaRegisterFatBinaryEnd(void**) {}

RINGLET_CUDA_FUNCTION void __cudaUnregisterFatBinary(void** handle) {
  delete handle;
}

RINGLET_CUDA_FUNCTION char __cudaInitModule(void**) {
  return 1;
}

RINGLET_CUDA_FUNCTION void __cudaRegisterFunction(void**, const char* stub, char*, const char* name,
                                                  int, void*, void*, void*, void*, int*) {
  if (name != nullptr) Host().kernels_as_they_are().Bind(stub, name);
}

RINGLET_CUDA_FUNCTION void __cudaRegisterVar(void**, char* variable, char*, const char*, int,
                                             std::size_t bytes, int, int) {
  // An error means that the library was loaded twice and the variable is known.
  static_cast<void>(Host().memory().Register(variable, bytes, MemoryKind::kVariable, 0));
}

RINGLET_CUDA_FUNCTION unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block,
                                                           std::size_t shared_bytes,
                                                           ringletStream_t stream) {
  pushed.push_back({grid, block, shared_bytes, stream});
  return 0;
}

RINGLET_CUDA_FUNCTION int __cudaPopCallConfiguration(Dim3* grid, Dim3* block,
                                                     std::size_t* shared_bytes, void* stream) {
  constexpr int kMissingConfiguration = 52;
  if (pushed.empty()) return kMissingConfiguration;
  *grid = pushed.back().grid;
  *block = pushed.back().block;
  *shared_bytes = pushed.back().shared_bytes;
  *static_cast<ringletStream_t*>(stream) = pushed.back().stream;
  pushed.pop_back();
  return 0;
}

RINGLET_CUDA_FUNCTION int cudaLaunchKernel(const void* stub, Dim3 grid, Dim3 block,
                                           void** arguments, std::size_t shared_bytes,
                                           ringletStream_t stream) {
  return Call("cudaLaunchKernel",
              [&] { return Launch(stub, ShapeOf(grid, block, shared_bytes), arguments, stream); });
}

RINGLET_CUDA_FUNCTION int cudaLaunchKernelExC(const LaunchConfiguration* configuration,
                                              const void* stub, void** arguments) {
  return Call("cudaLaunchKernelExC", [&]() -> Answer {
    if (configuration == nullptr) return IsNull("config");
    return Launch(stub,
                  ShapeOf(configuration->grid, configuration->block, configuration->shared_bytes),
                  arguments, configuration->stream);
  });
}

// The host function runs the whole grid, so blocks can synchronise.
RINGLET_CUDA_FUNCTION int cudaLaunchCooperativeKernel(const void* stub, Dim3 grid, Dim3 block,
                                                      void** arguments, std::size_t shared_bytes,
                                                      ringletStream_t stream) {
  return Call("cudaLaunchCooperativeKernel",
              [&] { return Launch(stub, ShapeOf(grid, block, shared_bytes), arguments, stream); });
}

RINGLET_CUDA_FUNCTION int cudaGetFuncBySymbol(const void** function, const void* stub) {
  return Call("cudaGetFuncBySymbol", [&] { return WriteHandle(function, stub); });
}

RINGLET_CUDA_FUNCTION int cudaGetKernel(const void** kernel, const void* stub) {
  return Call("cudaGetKernel", [&] { return WriteHandle(kernel, stub); });
}

#if RINGLET_CUDART >= 13
RINGLET_CUDA_FUNCTION int __cudaGetKernel(const void** kernel, const void* stub) {
  return Call("__cudaGetKernel", [&] { return WriteHandle(kernel, stub); });
}

RINGLET_CUDA_FUNCTION int __cudaLaunchKernel(const void* kernel, Dim3 grid, Dim3 block,
                                             void** arguments, std::size_t shared_bytes,
                                             ringletStream_t stream) {
  return Call("cudaLaunchKernel", [&] {
    return Launch(kernel, ShapeOf(grid, block, shared_bytes), arguments, stream);
  });
}
#endif

RINGLET_CUDA_FUNCTION int cudaGraphAddKernelNode(ringletGraphNode_t* node, ringletGraph_t graph,
                                                 const ringletGraphNode_t* needs, std::size_t count,
                                                 const KernelNodeParameters* parameters) {
  return Call("cudaGraphAddKernelNode", [&]() -> Answer {
    if (parameters == nullptr) return IsNull("pNodeParams");
    if (parameters->extra != nullptr)
      return {CudaCode::kNotSupported, "arguments in one buffer (extra) have an unknown layout"};
    PreparedLaunch launch =
        Prepare(parameters->function,
                ShapeOf(parameters->grid, parameters->block, parameters->shared_bytes),
                parameters->arguments, nullptr);
    if (!launch.answer.ok()) return launch.answer;
    return AddNode(node, graph, needs, count, std::move(launch.work));
  });
}

RINGLET_CUDA_FUNCTION int cudaFuncGetAttributes(FunctionAttributes* attributes, const void* stub) {
  return Call("cudaFuncGetAttributes", [&]() -> Answer {
    if (attributes == nullptr) return IsNull("attr");
    if (const Answer known = CheckKernel(stub); !known.ok()) return known;
    const std::uint32_t capability = Host().FactsOf(CurrentIndex()).capability;
    *attributes = {};
    attributes->threads_max = kThreadsPerBlockMax;
    attributes->ptx_version = attributes->binary_version = static_cast<int>(capability);
    attributes->dynamic_shared_bytes_max = LimitsOf(capability).shared_bytes_per_block_opt_in;
    return Done();
  });
}

RINGLET_CUDA_FUNCTION int cudaFuncSetAttribute(const void* stub, int, int) {
  return Call("cudaFuncSetAttribute", [&] { return CheckKernel(stub); });
}

RINGLET_CUDA_FUNCTION int cudaFuncSetCacheConfig(const void* stub, int) {
  return Call("cudaFuncSetCacheConfig", [&] { return CheckKernel(stub); });
}

RINGLET_CUDA_FUNCTION int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks,
                                                                        const void* stub,
                                                                        int threads,
                                                                        std::size_t shared_bytes) {
  return Call("cudaOccupancyMaxActiveBlocksPerMultiprocessor",
              [&] { return Occupancy(blocks, stub, threads, shared_bytes); });
}

RINGLET_CUDA_FUNCTION int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* stub, int threads, std::size_t shared_bytes, unsigned) {
  return Call("cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
              [&] { return Occupancy(blocks, stub, threads, shared_bytes); });
}

}  // namespace ringlet::cuda
