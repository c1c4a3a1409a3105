// InProcessBuffers: buffers of ranks that are threads of one process. Other ranks use them without
// mapping or registration, and only need to know when the memory belongs to its caller again.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/value/bytes.hpp"
#include "base/wire/handshake.hpp"

namespace ringlet::collective {

/// A communicator has one per process. The pointers never leave the process, so no other process
/// can make this one access wrong memory.
class InProcessBuffers {
 public:
  explicit InProcessBuffers(std::uint32_t ranks) : entries_(ranks) {}

  struct Pair {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
  };

  /// Opens the buffers of `rank` to the other ranks. Only `rank` calls Open and Close.
  void Open(std::uint32_t rank, Pair pair);
  /// Closes the buffers. No rank uses them after the return. Waits for ranks that use them, which
  /// takes as long as processing a chunk.
  void Close(std::uint32_t rank);
  /// Called by a peer that has seen the post of the operation, which follows Open.
  Pair pair(std::uint32_t rank) const { return entries_[rank].pair; }

  /// Access to the buffers of all `ranks`. Not granted if one of them has closed its buffers.
  class Visit {
   public:
    Visit(InProcessBuffers& buffers, const std::vector<std::uint32_t>& ranks);
    bool granted() const { return granted_; }
    std::uint32_t closed() const { return closed_; }  ///< the rank that has closed its buffers

   private:
    std::vector<std::shared_lock<std::shared_mutex>> locks_;
    bool granted_ = true;
    std::uint32_t closed_ = 0;
  };

 private:
  struct Entry {
    std::shared_mutex mutex;  // a rank that uses the buffers holds it shared
    bool open = false;
    Pair pair;
  };
  std::vector<Entry> entries_;
};

/// The buffers of all communicators of a process. Any thread.
class InProcessBuffersTable {
 public:
  /// Returns the table through which the ranks of a communicator in this process find each other's
  /// buffers. The same for all of them. \param secret of the communicator
  std::shared_ptr<InProcessBuffers> Of(const Secret& secret, std::uint32_t ranks);

 private:
  std::mutex mutex_;
  std::map<Secret, std::weak_ptr<InProcessBuffers>> buffers_;
};

}  // namespace ringlet::collective
