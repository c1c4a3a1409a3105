// The emulated machine of this process: what libcudart, libcuda and libnvidia-ml have in common.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "emulate/host/cuda_code.hpp"
#include "emulate/host/emulation.hpp"
#include "emulate/host/kernels.hpp"
#include "emulate/host/log_listeners.hpp"
#include "emulate/host/memory.hpp"
#include "emulate/host/shared_events.hpp"
#include "emulate/host/user_object.hpp"
#include "ringlet/export.hpp"

namespace ringlet::cuda {

/// One for each process. All methods from any thread.
class RINGLET_API HostCuda {
 public:
  HostCuda(Emulation emulation, std::vector<std::uint32_t> visible);

  /// Devices that this process sees; fewer than there are where CUDA_VISIBLE_DEVICES says so.
  std::uint32_t devices() const { return static_cast<std::uint32_t>(visible_.size()); }
  /// The number among all devices.
  std::uint32_t GlobalNumber(std::uint32_t device) const { return visible_[device]; }
  const MachineFacts& machine() const { return emulation_.machine; }
  /// \param device  as this process counts
  const CudaDeviceFacts& FactsOf(std::uint32_t device) const { return machine()[visible_[device]]; }
  /// The memory of a device of the machine: all of its model's, of which only the share of this
  /// process can be free.
  /// \param number  among all devices
  MemoryInfo InfoOf(std::uint32_t number) const;
  /// The bytes that this process has allocated there.
  std::uint64_t AllocatedOn(std::uint32_t number) const;

  Memory& memory() { return memory_; }
  /// With the functions of the user's libraries, which are loaded at the first call.
  Kernels& kernels();
  /// Without: for the functions that those libraries call.
  Kernels& kernels_as_they_are() { return kernels_; }

  UserObjects& user_objects() { return user_objects_; }
  LogListeners& log_listeners() { return log_listeners_; }
  SharedEvents& shared_events() { return shared_events_; }

  /// Peer access: what the machine's driver would grant, and what a program has enabled. It changes
  /// nothing: every device reaches all memory.
  /// \param from, to  as this process counts
  PeerWay Peer(std::uint32_t from, std::uint32_t to) const {
    return machine().Peer(visible_[from], visible_[to]);
  }
  Answer EnablePeer(std::uint32_t from, std::uint32_t to);
  Answer DisablePeer(std::uint32_t from, std::uint32_t to);

  /// Tells the sentence of an answer to the listeners, and says it where the log is on.
  void Note(std::string_view function, const Answer& answer);
  /// Says a sentence on standard error, once.
  void SayOnce(const std::string& sentence);

 private:
  void LoadKernels();

  const Emulation emulation_;
  const std::vector<std::uint32_t> visible_;
  Memory memory_;
  Kernels kernels_;
  UserObjects user_objects_;
  LogListeners log_listeners_;
  SharedEvents shared_events_;
  std::once_flag kernels_loaded_;
  std::mutex mutex_;
  std::set<std::string, std::less<>> said_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> peers_;
};

/// The one of this process, made at the first call from its environment. An environment that does
/// not parse ends the process with the reason: CUDA's first call has no place for it.
RINGLET_API HostCuda& Host();

/// The end of a function that the host does not have: says its name once.
/// \return kNotSupported
RINGLET_API CudaCode RefuseFunction(std::string_view library, std::string_view function);

/// The error of this thread, as cudaGetLastError has it.
RINGLET_API void SetLastError(CudaCode code);
RINGLET_API CudaCode LastError();
/// LastError, which is then success.
RINGLET_API CudaCode TakeLastError();

}  // namespace ringlet::cuda
