// Wraps paragraphs into lines of limited width. Pure.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>

namespace ringlet::cli {

inline constexpr std::size_t kPageColumns = 100;

/// Returns `text` with a final newline, wrapped at blanks. A Markdown link, [text](target), is one
/// word. Lines after the first begin with `indent`.
std::string Filled(std::string_view text, std::size_t columns, std::string_view indent = "");

}  // namespace ringlet::cli
