// A directory that a test fills. It is removed at the end of the test.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace ringlet::os {

class TempTree {
 public:
  TempTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ringlet_XXXXXX").string();
    root_ = mkdtemp(pattern.data()) == nullptr ? "" : pattern;
    EXPECT_NE(root_, "");
  }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() {
    std::error_code ignored;
    std::filesystem::remove_all(root_, ignored);
  }

  TempTree& Write(std::string_view path, std::string_view content) {
    const std::filesystem::path at = Make(path);
    std::ofstream(at, std::ios::binary) << content;
    return *this;
  }
  TempTree& Link(std::string_view path, std::string_view target) {
    std::filesystem::create_symlink(target, Make(path));
    return *this;
  }
  TempTree& Directory(std::string_view path) {
    std::filesystem::create_directories(std::filesystem::path(root_) / path);
    return *this;
  }
  const std::string& root() const { return root_; }
  std::string At(std::string_view path) const { return root_ + "/" + std::string(path); }

 private:
  std::filesystem::path Make(std::string_view path) {
    const std::filesystem::path at = std::filesystem::path(root_) / path;
    std::filesystem::create_directories(at.parent_path());
    return at;
  }

  std::string root_;
};

}  // namespace ringlet::os
