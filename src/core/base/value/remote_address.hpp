// The address of data in the memory of another process. Forked ranks, and ranks without address
// randomisation, have equal addresses for different memory. So a RemoteAddress cannot become a
// pointer, and cannot be compared with a pointer or another RemoteAddress.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ringlet {

class RemoteAddress {
 public:
  RemoteAddress() = default;
  /// The address as that process sent it. Outside input.
  explicit RemoteAddress(std::uint64_t told) : told_(told) {}
  /// The address of this process's memory, to send to other processes.
  static RemoteAddress Of(const void* here) {
    return RemoteAddress(reinterpret_cast<std::uintptr_t>(here));
  }

  RemoteAddress operator+(std::size_t bytes) const { return RemoteAddress(told_ + bytes); }
  RemoteAddress operator-(std::size_t bytes) const { return RemoteAddress(told_ - bytes); }
  /// The address for other processes and the kernel.
  std::uint64_t told() const { return told_; }

  bool operator==(const RemoteAddress&) const = delete;

 private:
  std::uint64_t told_ = 0;
};

}  // namespace ringlet
