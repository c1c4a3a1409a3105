// Paths of files below test/fixtures.
#pragma once
#include <filesystem>
#include <string>

namespace ringlet::topology {

inline std::string FixturePath(const std::string& file) {
  const std::filesystem::path source = std::filesystem::absolute(__FILE__);
  return (source.parent_path().parent_path().parent_path() / "test/fixtures" / file).string();
}

}  // namespace ringlet::topology
