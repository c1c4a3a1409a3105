// Where the buffers of ranks lie that are threads of one process: they need no mapping and no
// registration, only to know when the memory is the caller's again.
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
  /// Nobody is at them any more when this returns, nor will be. Waits for whoever is, which is as
  /// long as it takes to work through a chunk.
  void Close(std::uint32_t rank);
  /// Read by a peer that has seen the post of the operation, after Open.
  Pair pair(std::uint32_t rank) const { return entries_[rank].pair; }

  /// Presence at the buffers of all of `ranks`. Empty when one of them has closed its own.
  class Visit {
   public:
    Visit(InProcessBuffers& buffers, const std::vector<std::uint32_t>& ranks);
    bool granted() const { return granted_; }
    std::uint32_t closed() const { return closed_; }  ///< who refused

   private:
    std::vector<std::shared_lock<std::shared_mutex>> locks_;
    bool granted_ = true;
    std::uint32_t closed_ = 0;
  };

 private:
  struct Entry {
    std::shared_mutex mutex;  // shared: somebody is at the buffers
    bool open = false;
    Pair pair;
  };
  std::vector<Entry> entries_;
};

}  // namespace ringlet::collective
