// A synthetic machine with its paths, for tests of the search.
#pragma once
#include <gtest/gtest.h>

#include <memory>
#include <string_view>

#include "topo/edit/synthetic.hpp"
#include "topology/paths/paths.hpp"

namespace ringlet::plan {

/// Parses topology::ParseSynthetic's words. All GPUs are ranks.
class MachineForTest {
 public:
  explicit MachineForTest(std::string_view words)
      : MachineForTest(topology::ParseSynthetic(words).value()) {}
  explicit MachineForTest(const topology::HostView& view)
      : graph_(std::make_unique<topology::Graph>(
            topology::Build({&view, 1}, {}, {.gpus = topology::GpuRanks::kAll}).value())),
        paths_(topology::FindPaths(*graph_, 0, {}).value()) {}

  const topology::Paths& paths() const { return paths_; }

 private:
  std::unique_ptr<topology::Graph> graph_;
  topology::Paths paths_;
};

}  // namespace ringlet::plan
