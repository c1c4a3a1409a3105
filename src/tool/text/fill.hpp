// Paragraphs in lines of at most so many columns. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ringlet::cli {

inline constexpr std::size_t kPageColumns = 100;

/// `text` with a newline at its end. A blank ends a line where the next word does not fit; a
/// Markdown link, [text](target), is one word. Lines after the first begin with `indent`.
std::string Filled(std::string_view text, std::size_t columns, std::string_view indent = "");

}  // namespace ringlet::cli
