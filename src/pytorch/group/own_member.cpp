#include "pytorch/group/own_member.hpp"

#include <fmt/format.h>

#include <atomic>

#include "pytorch/tensors/process.hpp"

namespace ringlet::torch_api {

// Combines the process's hash with a count of groups, which is unique among ranks.
Result<MemberHandle> OwnMember::Handle() const {
  static std::atomic<std::uint64_t> count{0};
  if (member_.empty()) {
    RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
    member_ = fmt::format("{:016x}.{}", process->facts().process_hash, ++count);
  }
  return MemberHandle{member_, generation_};
}

bool OwnMember::UseNumber(std::int64_t number) {
  return used_numbers_.insert(number).second;
}

}  // namespace ringlet::torch_api
