// One rank's part of one call: its buffers before, the call, and the checks afterwards.
#pragma once
#include <nccl.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memory.hpp"
#include "program.hpp"

namespace oracle {

class Prepared {
 public:
  /// \param call  as all ranks but `odd_rank` make it
  Prepared(std::uint64_t seed, const Call& call, int n, int self, ncclComm_t comm, Heap& heap);

  /// Puts the call on this stream, to run after BeforeEnd.
  void On(cudaStream_t stream) { stream_ = stream; }
  /// Makes the call. `grouped`: a group is open.
  ncclResult_t Issue(bool grouped);
  /// Call it after the issue of all calls, before the group ends. It sets the value that the
  /// running call reads.
  void BeforeEnd() { scalar_ = scalar_when_run_; }
  /// The faults in memory. `succeeded`: checks the output; otherwise only the rest.
  std::optional<std::string> Check(bool succeeded) const;
  std::uint64_t Digest() const;

  const Call& call() const { return call_; }
  bool odd() const { return odd_; }
  int self() const { return self_; }
  ncclComm_t comm() const { return comm_; }

 private:
  /// A piece of memory with guards before and behind.
  struct Region {
    std::byte* block = nullptr;
    std::size_t offset = 0, bytes = 0;
    std::vector<std::byte> before = {};

    std::byte* payload() const { return block + offset; }
  };

  Region Make(std::size_t bytes, Heap& heap) const;
  void PlaceBuffers(Heap& heap);
  bool InPlace() const;
  std::optional<std::string> CheckRegion(const Region& region, bool succeeded) const;
  ncclResult_t IssueMessages(bool grouped);
  ncclResult_t IssueReduction(bool grouped);
  ncclCollConfig_t Config() const;
  ncclResult_t SelectedReduction(ncclRedOp_t op, void* recv);
  ncclResult_t IssueSelected(const void* send, void* recv);
  ncclResult_t Reduction(ncclRedOp_t op);
  int Peer(int shift) const { return ((self_ + shift) % n_ + n_) % n_; }

  static constexpr std::size_t kGuard = 64;

  std::uint64_t seed_;
  Call call_;
  int n_, self_;
  ncclComm_t comm_;
  cudaStream_t stream_ = nullptr;
  bool odd_ = false;
  std::vector<Region> regions_;
  std::byte* send_ = nullptr;
  std::byte* recv_ = nullptr;
  std::size_t in_bytes_, out_bytes_;
  std::uint64_t scalar_ = 0;  ///< of a pre-multiplied sum, at the address known to the library
  std::uint64_t scalar_when_run_ = 0;
};

}  // namespace oracle
