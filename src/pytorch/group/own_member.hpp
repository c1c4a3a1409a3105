// This rank as a member of a group that changes.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "pytorch/store/membership.hpp"

namespace ringlet::torch_api {

/// Not thread-safe.
class OwnMember {
 public:
  /// Returns the name of this rank for the next change of members. The first call creates its
  /// unique part. Errors  as SharedProcess
  Result<MemberHandle> Handle() const;
  /// Marks the number of a change of members as used. Returns false if it was used before.
  bool UseNumber(std::int64_t number);
  /// Records a change of members. Other ranks refuse earlier handles.
  void CountChange() { ++generation_; }

 private:
  mutable std::string member_;  // empty before the first call of Handle
  std::uint64_t generation_ = 0;
  std::set<std::int64_t> used_numbers_;
};

}  // namespace ringlet::torch_api
