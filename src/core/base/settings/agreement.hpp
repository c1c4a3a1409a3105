// Finds ranks with settings that wrongly differ: a digest detects it, a short list names the
// setting.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings/settings.hpp"
#include "base/value/bytes.hpp"

namespace ringlet {

/// Equal on two ranks if their settings that must agree are equal. Every member sends this.
std::uint64_t AgreementDigest(const Settings& settings);

/// The settings that must agree, with name, value and the variable that set it. A rank sends them
/// if its digest differs, so that the error can name them. Has no secret. At most
/// kAgreementBytesMax.
Bytes EncodeAgreement(const Settings& settings);
inline constexpr std::size_t kAgreementBytesMax = 16 * 1024;

struct SettingDifference {
  struct SettingOnRank {
    std::string value = {};     ///< empty if that rank's version does not know the setting
    std::string variable = {};  ///< that set it, "NCCL_ALGO in /etc/nccl.conf"; empty for a default
    bool operator==(const SettingOnRank&) const = default;
  };
  std::string name;  ///< "RINGLET_TREE_ARITY"
  SettingOnRank mine, theirs;
  bool operator==(const SettingDifference&) const = default;
};

/// `NCCL_ALGO in /etc/nccl.conf is "RING" on rank 1 and "" on rank 0 by default`.
/// \param here, there  the names of the two ranks
std::string ToText(const SettingDifference& difference, std::string_view here,
                   std::string_view there);

/// The settings that differ between `mine` and the encoded ones of another rank.
/// Errors  kProtocol  `theirs` was not written by EncodeAgreement.
Result<std::vector<SettingDifference>> CompareAgreement(const Settings& mine, View theirs);

}  // namespace ringlet
