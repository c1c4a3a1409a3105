// Judges a topology file before jobs run on its machine: mistakes of the file, defects of the
// machine, the paths between its GPUs, and the bandwidth of the channels over several such hosts.
//
//   ./topology dgx-h100.xml 4       four hosts; an error ends the program with status 1
//
// Build: c++ -std=c++17 topology.cpp $(pkg-config --cflags --libs ringlet-topology)
#include <ringlet/topology.hpp>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

using ringlet::topology::Device;
using ringlet::topology::DevicePaths;
using ringlet::topology::Topology;

bool PrintFaults(const Topology& machine) {
  bool is_bad = false;
  for (const auto& finding : Lint(machine))
    if (finding.severity != ringlet::topology::Severity::kNote)
      std::printf("%s\n", TextOf(finding).c_str());
  for (const auto& defect : Check(machine)) {
    std::printf("%s: %s; %s\n", defect.name.c_str(), defect.reason.c_str(), defect.cure.c_str());
    is_bad = is_bad || defect.severity == ringlet::topology::Severity::kError;
  }
  return is_bad;
}

ringlet::Status PrintPaths(const Topology& machine) {
  RINGLET_TRY_ASSIGN(const std::vector<Device> devices, machine.Devices());
  RINGLET_TRY_ASSIGN(const DevicePaths paths, DevicePaths::Find(machine));
  for (const Device& from : devices) {
    if (from.type != Device::Type::kGpu) continue;
    std::printf("%-6s", from.name.c_str());
    for (const Device& to : devices) {
      if (to.type != Device::Type::kGpu) continue;
      RINGLET_TRY_ASSIGN(const auto path, paths.Between(from.name, to.name));
      std::printf(" %s", path.type.c_str());
    }
    std::printf("\n");
  }
  return ringlet::Ok();
}

ringlet::Result<bool> Run(const char* file, std::uint32_t hosts) {
  RINGLET_TRY_ASSIGN(const Topology machine, Topology::Load(file));
  const bool is_bad = PrintFaults(machine);
  RINGLET_TRY(PrintPaths(machine));
  ringlet::topology::ChannelRequest request;
  request.hosts = hosts;
  RINGLET_TRY_ASSIGN(const auto planned, PlanChannels(machine, request));
  std::printf("%u ranks: %u rings, %g GB/s together\n", planned.ranks, planned.rings,
              planned.ring_gb_per_s);
  return is_bad;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s FILE [HOSTS]\n", argv[0]);
    return 2;
  }
  const auto hosts = static_cast<std::uint32_t>(argc > 2 ? std::atoi(argv[2]) : 1);
  const ringlet::Result<bool> is_bad = Run(argv[1], hosts);
  if (!is_bad.ok()) std::fprintf(stderr, "%s\n", is_bad.error().message.c_str());
  return is_bad.ok() && !*is_bad ? 0 : 1;
}
