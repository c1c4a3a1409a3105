// Names of value types in help texts. help/description.cpp explains each.
#pragma once

namespace ringlet::cli {

inline constexpr const char* kSizeType = "SIZE";
inline constexpr const char* kTimeType = "TIME";
inline constexpr const char* kRateType = "RATE";
inline constexpr const char* kNumbersType = "NUMBERS";
inline constexpr const char* kSecondsType = "SECONDS";
inline constexpr const char* kFileType = "FILE";
inline constexpr const char* kFolderType = "DIR";
inline constexpr const char* kMachineType = "MACHINE";
inline constexpr const char* kPartType = "PART";
inline constexpr const char* kChangeType = "CHANGE";

}  // namespace ringlet::cli
