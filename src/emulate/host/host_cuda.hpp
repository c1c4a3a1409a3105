// The emulated machine of this process, shared by libcudart, libcuda and libnvidia-ml.
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

/// A singleton of the process. Any thread may call all methods.
class RINGLET_API HostCuda {
 public:
  HostCuda(Emulation emulation, std::vector<std::uint32_t> visible);

  /// Number of visible devices, which CUDA_VISIBLE_DEVICES may limit.
  std::uint32_t devices() const { return static_cast<std::uint32_t>(visible_.size()); }
  /// Number among all devices.
  std::uint32_t GlobalNumber(std::uint32_t device) const { return visible_[device]; }
  const MachineFacts& machine() const { return emulation_.machine; }
  /// \param device  in this process's numbering
  const CudaDeviceFacts& FactsOf(std::uint32_t device) const { return machine()[visible_[device]]; }
  /// Memory of a device: the total of its model. Only this process's share of it can be free.
  /// \param number  among all devices
  MemoryInfo InfoOf(std::uint32_t number) const;
  /// Bytes that this process has allocated there.
  std::uint64_t AllocatedOn(std::uint32_t number) const;

  Memory& memory() { return memory_; }
  /// Kernels including those of the user's libraries, which the first call loads.
  Kernels& kernels();
  /// Kernels without loading: for functions that those libraries call.
  Kernels& kernels_as_they_are() { return kernels_; }

  UserObjects& user_objects() { return user_objects_; }
  LogListeners& log_listeners() { return log_listeners_; }
  SharedEvents& shared_events() { return shared_events_; }

  /// Peer access that the machine's driver would grant. Every device always reaches all memory.
  /// \param from, to  in this process's numbering
  PeerPath Peer(std::uint32_t from, std::uint32_t to) const {
    return machine().Peer(visible_[from], visible_[to]);
  }
  Answer EnablePeer(std::uint32_t from, std::uint32_t to);
  Answer DisablePeer(std::uint32_t from, std::uint32_t to);

  /// Passes the sentence of an answer to the listeners, and logs it if the log is on.
  void Note(std::string_view function, const Answer& answer);
  /// Writes a sentence to standard error once.
  void PrintOnce(const std::string& sentence);

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

/// The instance of this process, created by the first call from the environment. If the environment
/// does not parse, the process exits with the reason, because CUDA's first call cannot return it.
RINGLET_API HostCuda& Host();

/// Reports an unavailable function by name, once.
/// \return kNotSupported
RINGLET_API CudaCode RefuseFunction(std::string_view library, std::string_view function);

/// The error of this thread, for cudaGetLastError.
RINGLET_API void SetLastError(CudaCode code);
RINGLET_API CudaCode LastError();
/// Returns LastError and resets it to success.
RINGLET_API CudaCode TakeLastError();

}  // namespace ringlet::cuda
