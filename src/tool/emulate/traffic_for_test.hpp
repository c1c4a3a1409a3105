// The traffic files of two ranks on a machine with two GPUs and a NIC.
#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tool/traffic/traffic_report.hpp"

namespace ringlet::cli {

/// A link on a host that carried the planned bytes.
inline TrafficFileLink LinkForTest(std::string host, std::string from, std::string to,
                                   std::string kind, std::uint32_t mb_per_s, std::uint64_t bytes) {
  return {.host = std::move(host),
          .from = std::move(from),
          .to = std::move(to),
          .kind = std::move(kind),
          .mb_per_s = mb_per_s,
          .measured_bytes = bytes,
          .planned_bytes = bytes};
}

inline TrafficFileCall AllReduceForTest(std::uint64_t calls) {
  return {.function = "all_reduce",
          .count = 1000,
          .bytes = 4000,
          .calls = calls,
          .algorithm = CallAlgorithm{"Ring", "LL128", 2, 8000}};
}

/// The files of rank 0 on host "b" and rank 1 on host "a". Each sends 4000 bytes to the other.
inline std::vector<std::pair<std::string, TrafficFile>> TrafficForTest() {
  const auto file = [](std::uint32_t rank, const std::string& host, const std::string& own,
                       const std::string& other) {
    return TrafficFile{.communicator = "c",
                       .rank = rank,
                       .ranks = 2,
                       .host = host,
                       .host_identity = own,
                       .gpu = "DEV/0-1000",
                       .links = {LinkForTest(own, "DEV/0-1000", "NIC/0-2000", "PCI", 24'000, 4000),
                                 LinkForTest(own, "NIC/0-2000", "NET/0-0", "NET", 12'500, 4000),
                                 LinkForTest(other, "NET/0-0", "NIC/0-2000", "NET", 12'500, 4000)},
                       .calls = {AllReduceForTest(1)}};
  };
  return {{"t/c-0.json", file(0, "b", "beef", "cafe")},
          {"t/c-1.json", file(1, "a", "cafe", "beef")}};
}

/// Returns the text of a file as a rank writes it.
inline std::string TextForTest(const TrafficFile& file) {
  using nlohmann::json;
  json links = json::array(), calls = json::array();
  for (const TrafficFileLink& link : file.links) {
    links.push_back({{"host", link.host},
                     {"from", link.from},
                     {"to", link.to},
                     {"kind", link.kind},
                     {"mb_per_s", link.mb_per_s},
                     {"measured_bytes", link.measured_bytes},
                     {"planned_bytes", link.planned_bytes}});
    if (link.nominal_mb_per_s > 0) links.back()["nominal_mb_per_s"] = link.nominal_mb_per_s;
  }
  for (const TrafficFileCall& call : file.calls) {
    json& one = calls.emplace_back(json{{"function", call.function},
                                        {"count", call.count},
                                        {"bytes", call.bytes},
                                        {"calls", call.calls}});
    if (call.slower_calls > 0) one["slower_calls"] = call.slower_calls;
    if (!call.algorithm) continue;
    one["algorithm"] = call.algorithm->name;
    one["protocol"] = call.algorithm->protocol;
    one["channels"] = call.algorithm->channels;
    one["predicted_ns"] = call.algorithm->predicted_ns;
    if (call.algorithm->slowed_ns > 0) one["slowed_ns"] = call.algorithm->slowed_ns;
    if (call.algorithm->nccl_name.empty()) continue;
    one["nccl_algorithm"] = call.algorithm->nccl_name;
    one["nccl_predicted_ns"] = call.algorithm->nccl_predicted_ns;
  }
  return json{{"version", 1},
              {"communicator", file.communicator},
              {"rank", file.rank},
              {"ranks", file.ranks},
              {"node", 0},
              {"host", file.host},
              {"host_identity", file.host_identity},
              {"gpu", file.gpu},
              {"links", links},
              {"calls", calls}}
      .dump();
}

}  // namespace ringlet::cli
