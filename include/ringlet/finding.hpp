// A fault in a topology file: its severity, place, reason and cure. C++17 and later.
#pragma once
#include <cstdint>
#include <string>

namespace ringlet::topology {

enum class Severity : std::uint8_t {
  kNote,     ///< worth knowing
  kWarning,  ///< works, but probably not as intended
  kError,    ///< NCCL would fail, or would see a machine that differs from the real one
};

/// A place in a text. Counts from 1. Line 0: no file, or unknown.
struct TextPosition {
  std::uint32_t line = 0;
  std::uint32_t column = 0;  ///< in bytes
};

struct Finding {
  Severity severity = Severity::kError;
  std::string rule;  ///< a stable name for scripts: "nvlink-self-loop"
  std::string file;  ///< the name that the reader received; empty: no file
  TextPosition at;
  std::string path;  ///< of the element: "system/cpu[0]/pci[0000:07:00.0]/gpu"
  std::string reason;
  std::string cure;  ///< empty: none is known
};

}  // namespace ringlet::topology
