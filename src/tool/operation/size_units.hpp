// The units that ParseSize reads, for help texts and messages.
#pragma once
#include <string_view>

namespace ringlet::cli {

inline constexpr std::string_view kSizeUnitsHelp =
    "K, M, G or KiB, MiB, GiB are powers of 1024; kB, MB, GB of 1000";

}  // namespace ringlet::cli
