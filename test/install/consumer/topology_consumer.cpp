// Uses only the library of topologies.
#include <ringlet/topology.hpp>

#include <cstdio>

int main() {
  using ringlet::topology::Topology;
  const auto machine = Topology::Describe("2x(numa: 2 gpu, 1 nic)");
  if (!machine.ok()) return 1;
  const auto planned = PlanChannels(*machine);
  const auto refused = Topology::Parse("<system", "cut.xml");
  if (!planned.ok() || planned->ranks != 4 || refused.ok()) return 1;
  std::printf("%s: %s\n", ringlet::CodeName(refused.error().code), refused.error().message.c_str());
  return 0;
}
