// The address of data in the memory of another process. Ranks that were forked, or that run without
// address randomisation, have the same addresses for different memory: so this is no pointer, does
// not become one, and cannot be compared, neither with one nor with another of its kind.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ringlet {

class RemoteAddress {
 public:
  RemoteAddress() = default;
  /// As that process has told it. Outside input.
  explicit RemoteAddress(std::uint64_t told) : told_(told) {}
  /// Of this process's memory, to be told to others.
  static RemoteAddress Of(const void* here) {
    return RemoteAddress(reinterpret_cast<std::uintptr_t>(here));
  }

  RemoteAddress operator+(std::size_t bytes) const { return RemoteAddress(told_ + bytes); }
  RemoteAddress operator-(std::size_t bytes) const { return RemoteAddress(told_ - bytes); }
  /// The address that other processes, or the kernel, understand.
  std::uint64_t told() const { return told_; }

  bool operator==(const RemoteAddress&) const = delete;

 private:
  std::uint64_t told_ = 0;
};

}  // namespace ringlet
