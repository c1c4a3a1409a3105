// The properties that depend on whether a stream is a terminal: colours and the width of tables.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/settings/env_map.hpp"

namespace ringlet::cli {

/// Whether colours are wanted on a terminal: NO_COLOR is not set and TERM is not "dumb".
bool WantsColors(const EnvMap& environment);
/// Whether to write colours to `stream`.
bool HasColors(std::FILE* stream);

/// `text` in bold red, if that is wanted.
std::string Alarming(std::string_view text, bool colors);

/// Of the terminal that `stream` is; 0 where it is none, which means any width.
std::size_t ColumnsOf(std::FILE* stream);

/// `text` with each line that has more columns cut, with an ellipsis as its end. 0: unlimited.
std::string Fitted(std::string_view text, std::size_t columns);

/// Prints `text` on standard output, cut to the width of the terminal where that is one.
void PrintFitted(std::string_view text);

/// Lines of the table of `ringlet bench` without the columns that are the same in each row, and, if
/// it is still too wide, without those of one placement. 0: as they are.
/// \param in_place  the placement that stays
std::string NarrowedRows(std::string_view rows, std::size_t columns, bool in_place);
/// The same for the head, whose table begins after a line "#".
std::string NarrowedHead(std::string_view head, std::size_t columns, bool in_place);

}  // namespace ringlet::cli
