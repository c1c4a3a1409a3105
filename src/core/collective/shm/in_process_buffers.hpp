// The buffers of ranks that are threads of one process: they need no mapping and no registration,
// only to know when the memory is the caller's again.
#pragma once
#include <cstdint>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "base/value/bytes.hpp"

namespace ringlet::collective {

/// One for a communicator and process. Pointers stay in the process: no other can make this one
/// read or write where it should not.
class InProcessBuffers {
 public:
  explicit InProcessBuffers(std::uint32_t ranks) : entries_(ranks) {}

  struct Pair {
    const std::byte* input = nullptr;
    std::byte* output = nullptr;
  };

  /// Lets the others at the buffers of `rank`, by which this is called, as are the next two.
  void Open(std::uint32_t rank, Pair pair);
  /// No rank uses them when this returns, nor will one. Waits for ranks that use them, which takes
  /// as long as working through a chunk.
  void Close(std::uint32_t rank);
  /// Read by a peer that has seen the post of the operation, after Open.
  Pair pair(std::uint32_t rank) const { return entries_[rank].pair; }

  /// Presence at the buffers of all of `ranks`. Empty when one of them has closed its own.
  class Visit {
   public:
    Visit(InProcessBuffers& buffers, const std::vector<std::uint32_t>& ranks);
    bool granted() const { return granted_; }
    std::uint32_t closed() const { return closed_; }  ///< ranks that refused

   private:
    std::vector<std::shared_lock<std::shared_mutex>> locks_;
    bool granted_ = true;
    std::uint32_t closed_ = 0;
  };

 private:
  struct Entry {
    std::shared_mutex mutex;  // shared: a rank uses the buffers
    bool open = false;
    Pair pair;
  };
  std::vector<Entry> entries_;
};

}  // namespace ringlet::collective
