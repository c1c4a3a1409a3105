// Output that depends on the terminal: colors and the width of tables.
#pragma once
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/settings/env_map.hpp"

namespace ringlet::cli {

/// Returns true if the user allows colors: NO_COLOR is not set and TERM is not "dumb".
bool WantsColors(const EnvMap& environment);
/// Returns true if output to `stream` has colors.
bool HasColors(std::FILE* stream);

/// Returns `text` in bold red if `colors` is true.
std::string Highlighted(std::string_view text, bool colors);

/// Returns the width of the terminal at `stream`; 0 for other files, which means unlimited.
std::size_t ColumnsOf(std::FILE* stream);

/// Cuts each line of `text` that is too long and ends it with an ellipsis. 0: unlimited.
std::string Fitted(std::string_view text, std::size_t columns);

/// Prints `text` on standard output. If that is a terminal, cuts lines to its width.
void PrintFitted(std::string_view text);

/// Narrows lines of the table of `ringlet bench`. Removes columns with equal values in all rows,
/// and, if the table is still too wide, those of one placement. 0: no change.
/// \param in_place  the placement to keep
std::string NarrowedRows(std::string_view rows, std::size_t columns, bool in_place);
/// Narrows the head, with a table that begins after a line "#".
std::string NarrowedHead(std::string_view head, std::size_t columns, bool in_place);

}  // namespace ringlet::cli
