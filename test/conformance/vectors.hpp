// Reads test/fixtures: NCCL's answers on generated machines, and results on real ones.
#pragma once
#include <cctype>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace ringlet::test {

/// \param name  of a file, relative to the fixtures
inline std::string Contents(const std::string& name) {
  std::ifstream file(std::string(RINGLET_FIXTURES) + "/" + name);
  if (!file.good()) throw std::runtime_error("no fixture " + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline nlohmann::json ReadVector(const std::string& name) {
  return nlohmann::json::parse(Contents("topo-vectors/" + name));
}

/// Returns the findings of NCCL 2.30 on real machines.
inline nlohmann::json ReadResults() {
  return nlohmann::json::parse(Contents("topologies/nccl-2.30-results.json"));
}

inline std::uint32_t MbPerS(const nlohmann::json& gb_per_s) {
  return static_cast<std::uint32_t>(std::lround(gb_per_s.get<double>() * 1000));
}

/// Returns the machines and numbers of hosts with a vector.
inline std::vector<std::string> Vectors() {
  return {"c2c-pair.1host.json",           "cubemesh8-sm70.1host.json",
          "cubemesh8-sm70.2host.json",     "gpu2-nic2.2host.json",
          "gpu2-nic6.2host.json",          "gpu4-nic3.2host.json",
          "gpu4-nic4.2host.json",          "mnnvl-2x4.1host.mnnvl.json",
          "mnnvl-2x4.2host.mnnvl.json",    "nic-on-cpu.2host.json",
          "nvswitch8-sm100.1host.json",    "nvswitch8-sm100.2host.json",
          "nvswitch8-sm80-amd.1host.json", "nvswitch8-sm80-amd.2host.json",
          "nvswitch8-sm90.1host.json",     "nvswitch8-sm90.2host.json",
          "pcie-gen6.2host.json",          "pcie12-2persw.2host.json",
          "pcie16-2persw.1host.json",      "pcie16-4persw.1host.json",
          "pcie4-1nic.1host.json",         "pcie4-1nic.2host.json",
          "pcie8-2sockets.1host.json",     "pcie8-2sockets.2host.json",
          "unknown-cpu-vendor.2host.json"};
}

/// \param info  testing::TestParamInfo<std::string>
template <typename Info>
std::string VectorName(const Info& info) {
  std::string name = info.param;
  for (char& letter : name)
    if (!std::isalnum(static_cast<unsigned char>(letter))) letter = '_';
  return name;
}

}  // namespace ringlet::test
