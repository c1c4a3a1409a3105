// Writes a tar archive: small trees of small files, for `ringlet topo gather`.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace ringlet::discovery {

struct TarEntry {
  enum class Kind : std::uint8_t { kFile, kFolder, kLink };
  Kind kind = Kind::kFile;
  std::string path;     ///< without a slash at either end
  std::string content;  ///< of a file; for a link, its target
  bool operator==(const TarEntry&) const = default;
};

/// Returns an archive in ustar form, with GNU's records for names of more than 100 bytes. Every tar
/// program can read it. Entries keep their order, are owned by root and dated 1970, so equal
/// entries give equal bytes.
std::string ToTar(const std::vector<TarEntry>& entries);

}  // namespace ringlet::discovery
