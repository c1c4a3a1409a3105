// Ranks whose settings differ where they must not: found by one number, named by a few bytes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "base/settings/settings.hpp"
#include "base/value/bytes.hpp"

namespace ringlet {

/// Equal on two ranks when their settings that must agree are equal. Every member sends this.
std::uint64_t AgreementDigest(const Settings& settings);

/// The settings that must agree, by name and value: sent by those whose digest differs, so that the
/// difference can be named. Holds no secret. At most kAgreementBytesMax.
Bytes EncodeAgreement(const Settings& settings);
inline constexpr std::size_t kAgreementBytesMax = 16 * 1024;

struct SettingDifference {
  std::string name;    ///< "RINGLET_TREE_ARITY"
  std::string mine;    ///< "" where this version does not know the setting
  std::string theirs;  ///< "" where theirs does not
  bool operator==(const SettingDifference&) const = default;
};

/// "RINGLET_TREE_ARITY is 8 here and 4 there".
std::string ToString(const SettingDifference& difference);

/// The settings in which `mine` differs from the encoded ones of another rank; empty when none
/// does.
/// Errors  kProtocol  `theirs` is not what EncodeAgreement writes.
Result<std::vector<SettingDifference>> CompareAgreement(const Settings& mine, View theirs);

}  // namespace ringlet
