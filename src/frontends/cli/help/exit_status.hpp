// The exit statuses of the tool, in one place.
#pragma once
#include <array>
#include <string_view>

#include "frontends/cli/command.hpp"

namespace ringlet::cli {

inline constexpr int kExitDone = 0;
inline constexpr int kExitCannotStart = 127;  ///< as a shell says it
inline constexpr int kExitSignalled = 128;    ///< and the number of the signal

struct ExitStatusMeaning {
  std::string_view status;
  std::string_view meaning;
};

/// For `ringlet help exit-codes`.
inline constexpr std::array kExitStatusMeanings = {
    ExitStatusMeaning{"0", "the command succeeded"},
    ExitStatusMeaning{"1", "the command failed, a check found an error, or topo diff a difference"},
    ExitStatusMeaning{"2", "the command line, a setting or an input file is invalid"},
    ExitStatusMeaning{"N", "run: the first rank that failed exited with N"},
    ExitStatusMeaning{"127", "run: the program cannot be started"},
    ExitStatusMeaning{"128+N", "run, bench: signal N ended a rank or the command"},
};

}  // namespace ringlet::cli
