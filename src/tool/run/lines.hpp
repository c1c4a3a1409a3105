// Splits a stream of text into lines, so that the output of several streams does not mix.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

class LineCutter {
 public:
  /// Maximum size of a line. A longer line is returned in pieces of this size, because a program
  /// without newlines must not exhaust memory.
  static constexpr std::size_t kLineBytesMax = 16'384;

  /// Returns the lines that end within `bytes`, without their newlines.
  std::vector<std::string> Push(std::string_view bytes);
  /// Returns the rest of a last line without a newline; empty if there is none.
  std::string Finish() { return std::exchange(partial_, {}); }

 private:
  std::string partial_;
};

}  // namespace ringlet::cli
