#include "emulate/host/host_cuda.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "os/fs/file_tree.hpp"
#include "os/fs/shared_library.hpp"
#include "os/process/env.hpp"
#include "topology/xml/xml_reader.hpp"

namespace ringlet::cuda {
namespace {

/// Limits the stored sentences; later new ones are not reported.
constexpr std::size_t kSentencesMax = 1000;

thread_local CudaCode last_error = CudaCode::kSuccess;

// A single write, so that lines of several processes do not mix.
void PrintLine(std::string_view sentence) {
  const std::string line = fmt::format("ringlet emulate: {}\n", sentence);
  [[maybe_unused]] const auto written = ::write(STDERR_FILENO, line.data(), line.size());
}

std::uint64_t PhysicalBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES), bytes = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && bytes > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(bytes)
             : 0;
}

// Makes this library's symbols global. A user's library needs ringlet_host_kernel, which is not
// global if the program loaded this library as a dependency of a Python module.
void ShowOurSymbols() {
  Dl_info self{};
  if (::dladdr(reinterpret_cast<const void*>(&ringlet_host_kernel), &self) == 0) return;
  // The reference stays, because kernels are called until the process ends.
  ::dlopen(self.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
}

Result<Emulation> EmulationOf(const EnvMap& environment) {
  const auto path = environment.find(kMachineVariable);
  if (path == environment.end() || path->second.empty())
    return ReadEmulation(environment, PhysicalBytes());
  RINGLET_TRY_ASSIGN(const os::FileTree files, os::FileTree::Open("/"));
  RINGLET_TRY_ASSIGN(const std::string text, files.Read(path->second, topology::kXmlBytesMax));
  RINGLET_TRY_ASSIGN(const topology::HostView view, topology::ViewFromXml(text, path->second));
  return ReadEmulation(environment, PhysicalBytes(), &view);
}

HostCuda* MakeHost() {
  const EnvMap environment = os::ReadEnvironment();
  auto emulation = EmulationOf(environment);
  if (!emulation.ok()) {
    PrintLine(emulation.error().message);
    std::_Exit(1);
  }
  auto visible = VisibleDevices(environment, emulation->machine);
  return new HostCuda(*std::move(emulation), std::move(visible));
}

}  // namespace

HostCuda::HostCuda(Emulation emulation, std::vector<std::uint32_t> visible)
    : emulation_(std::move(emulation)),
      visible_(std::move(visible)),
      memory_(static_cast<std::uint32_t>(visible_.size()), emulation_.memory_bytes) {}

MemoryInfo HostCuda::InfoOf(std::uint32_t number) const {
  MemoryInfo info{.free = emulation_.memory_bytes - AllocatedOn(number),
                  .total = emulation_.memory_bytes};
  if (emulation_.memory_of_model) info.total = std::max(info.total, machine()[number].memory_bytes);
  return info;
}

std::uint64_t HostCuda::AllocatedOn(std::uint32_t number) const {
  const auto device = std::ranges::find(visible_, number);
  if (device == visible_.end()) return 0;
  const MemoryInfo info = memory_.InfoOf(static_cast<std::uint32_t>(device - visible_.begin()));
  return info.total - info.free;
}

Kernels& HostCuda::kernels() {
  std::call_once(kernels_loaded_, [this] { LoadKernels(); });
  return kernels_;
}

void HostCuda::LoadKernels() {
  if (emulation_.kernels.empty()) return;
  ShowOurSymbols();
  for (const std::string& path : emulation_.kernels) {
    const auto library = os::SharedLibrary::Open(path, os::SharedLibrary::Unloading::kForEver);
    if (!library.ok()) PrintOnce(library.error().message);
  }
}

Answer HostCuda::EnablePeer(std::uint32_t from, std::uint32_t to) {
  if (to >= devices())
    return {CudaCode::kInvalidDevice, fmt::format("device {} does not exist", to)};
  if (from == to) return {CudaCode::kInvalidDevice, "a device cannot be its own peer"};
  if (Peer(from, to) == PeerPath::kNone)
    return {CudaCode::kPeerAccessUnsupported,
            fmt::format("on this machine device {} cannot reach device {}", from, to)};
  const std::lock_guard lock(mutex_);
  if (!peers_.emplace(from, to).second)
    return {CudaCode::kPeerAccessAlreadyEnabled,
            fmt::format("device {} already has access to device {}", from, to)};
  return Done();
}

Answer HostCuda::DisablePeer(std::uint32_t from, std::uint32_t to) {
  if (to >= devices())
    return {CudaCode::kInvalidDevice, fmt::format("device {} does not exist", to)};
  const std::lock_guard lock(mutex_);
  if (peers_.erase({from, to}) == 0)
    return {CudaCode::kPeerAccessNotEnabled,
            fmt::format("device {} does not have access to device {}", from, to)};
  return Done();
}

void HostCuda::Note(std::string_view function, const Answer& answer) {
  if (answer.code == CudaCode::kNotReady) return;
  if (!emulation_.verbose && !log_listeners_.any()) return;
  const std::string sentence =
      fmt::format("{}: {}: {}", function, NameOf(static_cast<int>(answer.code)), answer.sentence);
  if (emulation_.verbose) PrintLine(sentence);
  log_listeners_.NotifyListeners(CudaLogLevel::kError, sentence);
}

void HostCuda::PrintOnce(const std::string& sentence) {
  const std::lock_guard lock(mutex_);
  if (said_.size() < kSentencesMax && said_.insert(sentence).second) PrintLine(sentence);
}

HostCuda& Host() {
  // Never destroyed, because threads of the program may call until the process ends.
  static HostCuda* const host = MakeHost();
  return *host;
}

CudaCode RefuseFunction(std::string_view library, std::string_view function) {
  const std::string sentence =
      fmt::format("{} of {} does not exist on the host: the call fails", function, library);
  Host().PrintOnce(sentence);
  Host().log_listeners().NotifyListeners(CudaLogLevel::kError, sentence);
  return CudaCode::kNotSupported;
}

void SetLastError(CudaCode code) {
  if (code != CudaCode::kSuccess) last_error = code;
}

CudaCode LastError() {
  return last_error;
}

CudaCode TakeLastError() {
  return std::exchange(last_error, CudaCode::kSuccess);
}

}  // namespace ringlet::cuda

extern "C" {

RINGLET_API void ringlet_host_kernel(const char* name, ringlet_host_kernel_function function) {
  const ringlet::Status done = ringlet::cuda::Host().kernels_as_they_are().Register(
      name == nullptr ? "" : name, function, std::nullopt);
  if (!done.ok()) ringlet::cuda::Host().PrintOnce(done.error().message);
}

RINGLET_API void ringlet_host_kernel_sized(const char* name, ringlet_host_kernel_function function,
                                           const size_t* sizes, size_t count) {
  const bool fits = count <= ringlet::cuda::kParametersMax && (sizes != nullptr || count == 0);
  std::vector<std::size_t> copied;
  if (fits) copied.assign(sizes, sizes + count);
  const ringlet::Status done = ringlet::cuda::Host().kernels_as_they_are().Register(
      name == nullptr || !fits ? "" : name, function, std::move(copied));
  if (!done.ok()) ringlet::cuda::Host().PrintOnce(done.error().message);
}

// Called by ncclMemAlloc and ncclMemFree, because the program sees their memory as device memory.
RINGLET_API void ringlet_host_memory(void* begin, size_t bytes, int device, int present) {
  ringlet::cuda::Memory& memory = ringlet::cuda::Host().memory();
  // An error means that the memory is known already, or is removed already, so it can be ignored.
  static_cast<void>(present != 0 ? memory.Register(begin, bytes, ringlet::cuda::MemoryKind::kOfNccl,
                                                   0, static_cast<std::uint32_t>(device))
                                 : memory.Unregister(begin, ringlet::cuda::MemoryKind::kOfNccl));
}

// Called by communicators: converts a visible device to NVML's number; -1 if it does not exist.
RINGLET_API int ringlet_host_device_number(int device) {
  const ringlet::cuda::HostCuda& host = ringlet::cuda::Host();
  const bool is_there = device >= 0 && static_cast<std::uint32_t>(device) < host.devices();
  return is_there ? static_cast<int>(host.GlobalNumber(static_cast<std::uint32_t>(device))) : -1;
}

// Called by the stub libraries, which are in C.
RINGLET_API void ringlet_refuse_function(const char* library, const char* function) {
  ringlet::cuda::RefuseFunction(library, function);
}

}  // extern "C"
