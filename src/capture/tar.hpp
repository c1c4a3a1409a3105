// Makes a tar archive: small trees of small files, for `ringlet topo gather`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ringlet::discovery {

struct TarEntry {
  enum class Kind : std::uint8_t { kFile, kFolder, kLink };
  Kind kind = Kind::kFile;
  std::string path;     ///< without a slash at either end
  std::string content;  ///< of a file; of a link where it leads
  bool operator==(const TarEntry&) const = default;
};

/// An archive in ustar form, with GNU's records for names of more than 100 bytes: every tar reads
/// it. Entries come in the order given, owned by root, of the year 1970: the same entries give the
/// same bytes.
std::string ToTar(const std::vector<TarEntry>& entries);

}  // namespace ringlet::discovery
