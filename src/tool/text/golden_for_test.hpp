// Compares a page of the source tree with the output of the tool.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "tool/tool_run_for_test.hpp"

namespace ringlet::cli {

/// Writes the page first if RINGLET_UPDATE_GOLDENS is set. \param path  from the root of the tree
inline void ExpectPage(const std::string& path, const std::string& made) {
  const std::string file = SourceFile(path);
  if (std::getenv("RINGLET_UPDATE_GOLDENS") != nullptr) std::ofstream(file) << made;
  std::ifstream page(file);
  const std::string kept((std::istreambuf_iterator<char>(page)), std::istreambuf_iterator<char>());
  EXPECT_EQ(kept, made) << "RINGLET_UPDATE_GOLDENS=1 renews " << file;
}

}  // namespace ringlet::cli
