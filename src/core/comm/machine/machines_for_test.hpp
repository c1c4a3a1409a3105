// Ranks on the GPUs of an emulated machine, as threads of the test.
#pragma once
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"
#include "topo/edit/synthetic.hpp"
#include "topology/xml/xml_writer.hpp"

namespace ringlet::comm {

/// Four GPUs on a switch, and a NIC for each pair.
inline constexpr std::string_view kFourGpus =
    "2x(numa: (switch: 2 gpu a100-sxm4 switch, 1 nic 200g))";

class OnMachine : public testing::Test {
 protected:
  OnMachine() {
    files_.Write("machine.xml", ToXml(topology::ParseSynthetic(kFourGpus).value()));
    files_.Directory("traffic");
  }
  std::string PathOf(const std::string& name) const { return files_.root() + "/" + name; }

  /// Returns a process on a host of that machine.
  std::shared_ptr<Process> ProcessOn(const std::string& host, EnvMap more = {}) const {
    more.try_emplace("RINGLET_MACHINE", PathOf("machine.xml"));
    more.try_emplace("RINGLET_PLAN_POLICY", "compat");
    more["RINGLET_HOSTID"] = host;
    return ProcessWith(more);
  }

  /// Runs `ranks` ranks on so many hosts, the same number on each, host after host.
  void RunOn(std::uint32_t hosts, std::uint32_t ranks, const EnvMap& more,
             const RankBody& body) const {
    RunRanks(
        ranks,
        [&](std::uint32_t rank) {
          EnvMap environment = more;
          environment["RINGLET_LOCAL_RANK"] = std::to_string(rank % (ranks / hosts));
          return ProcessOn("host-" + std::to_string(rank / (ranks / hosts)), environment);
        },
        body);
  }

  os::TempTree files_;
};

}  // namespace ringlet::comm
