// This rank among the members of a group that changes.
#pragma once
#include <cstdint>
#include <set>
#include <string>

#include "pytorch/store/membership.hpp"

namespace ringlet::torch_api {

/// Not safe from several threads.
class OwnMember {
 public:
  /// The name of this rank for the next change of members. The first call draws its part that no
  /// other rank has. Errors  as SharedProcess
  Result<MemberHandle> Handle() const;
  /// Marks the number of a change of members as used. False: it was used before.
  bool UseNumber(std::int64_t number);
  /// The members have changed: other ranks refuse the handles from before.
  void CountChange() { ++generation_; }

 private:
  mutable std::string member_;  // empty before the first call of Handle
  std::uint64_t generation_ = 0;
  std::set<std::int64_t> used_numbers_;
};

}  // namespace ringlet::torch_api
