// Cuts a stream of text into lines, so that several streams can be shown without mixing.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringlet::cli {

class LineCutter {
 public:
  /// A longer line is given out in pieces of this size: a program that writes no newline at all
  /// must not fill our memory.
  static constexpr std::size_t kLineBytesMax = 16'384;

  /// The lines that end within `bytes`, without their newlines.
  std::vector<std::string> Push(std::string_view bytes);
  /// The rest of a last line that has no newline; empty if there is none.
  std::string Finish() { return std::exchange(partial_, {}); }

 private:
  std::string partial_;
};

}  // namespace ringlet::cli
