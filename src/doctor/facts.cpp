#include "doctor/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "base/value/json_object.hpp"

namespace ringlet::doctor {
namespace {

constexpr std::uint64_t kFactsVersion = 1;
constexpr std::size_t kListedMax = 4096;
constexpr std::array<std::string_view, 7> kReaches = {
    "connected", "refused", "timeout", "unreachable", "no port", "stranger", "failed"};

std::string Line(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json ToValue(const InterfaceReport& one) {
  Json json{{"name", one.name},           {"running", one.running},     {"hardware", one.hardware},
            {"mtu_bytes", one.mtu_bytes}, {"addresses", one.addresses}, {"why", one.why}};
  if (one.mbit_per_s) json["mbit_per_s"] = *one.mbit_per_s;
  if (one.place) json["place"] = *one.place;
  return json;
}

Json LimitsValue(const HostFacts& facts) {
  const LimitReport& limits = facts.limits;
  return {{"locked_bytes", limits.locked_bytes},
          {"descriptors", limits.descriptors},
          {"processes", limits.processes},
          {"tasks", limits.tasks},
          {"tasks_used", limits.tasks_used}};
}

Json CpusValue(const CpuReport& cpus) {
  Json json{{"online", cpus.online},
            {"usable", cpus.usable},
            {"usable_mask", cpus.usable_mask},
            {"numa_nodes", cpus.numa_nodes}};
  if (cpus.quota_percent) json["quota_percent"] = *cpus.quota_percent;
  return json;
}

Json PeerMemoryValue(const PeerMemoryReport& memory) {
  Json json{{"permitted", memory.permitted}, {"why", memory.why}};
  if (memory.ptrace_scope) json["ptrace_scope"] = *memory.ptrace_scope;
  return json;
}

Json SettingsValue(const HostFacts& facts) {
  Json list = Json::array();
  for (const auto& [name, setting] : facts.settings)
    list.push_back({{"name", name},
                    {"value", setting.value},
                    {"must_agree", setting.must_agree},
                    {"from", setting.from}});
  return list;
}

Json DefectsValue(const HostFacts& facts) {
  Json list = Json::array();
  for (const MachineDefect& defect : facts.defects)
    list.push_back({{"rule", defect.rule},
                    {"severity", defect.severity},
                    {"where", defect.where},
                    {"reason", defect.reason},
                    {"cure", defect.cure}});
  return list;
}

InterfaceReport ReadInterface(JsonObject& json) {
  InterfaceReport one{.name = json.Text("name"),
                      .running = json.Flag("running"),
                      .hardware = json.Flag("hardware"),
                      .mtu_bytes = json.Small("mtu_bytes"),
                      .mbit_per_s = json.OptionalSmall("mbit_per_s"),
                      .addresses = json.Texts("addresses"),
                      .place = json.OptionalSmall("place"),
                      .why = json.Text("why")};
  return one;
}

void ReadResources(JsonObject& json, HostFacts& facts) {
  json.Within("shm", [&](JsonObject& shm) {
    facts.shm = {.failure = shm.Text("failure"),
                 .bytes = shm.Number("bytes"),
                 .free_bytes = shm.Number("free_bytes")};
  });
  json.Within("limits", [&](JsonObject& limits) {
    facts.limits = {.locked_bytes = limits.Number("locked_bytes"),
                    .descriptors = limits.Number("descriptors"),
                    .processes = limits.Number("processes"),
                    .tasks = limits.Number("tasks"),
                    .tasks_used = limits.Number("tasks_used")};
  });
  json.Within("peer_memory", [&](JsonObject& memory) {
    facts.peer_memory = {.permitted = memory.Flag("permitted"),
                         .why = memory.Text("why"),
                         .ptrace_scope = memory.OptionalSmall("ptrace_scope")};
  });
  json.Within("huge_pages", [&](JsonObject& pages) {
    facts.huge_pages = {.total = pages.Number("total"),
                        .free = pages.Number("free"),
                        .bytes_each = pages.Number("bytes_each"),
                        .transparent = pages.Text("transparent")};
  });
  json.Within("cpus", [&](JsonObject& cpus) {
    facts.cpus = {.online = cpus.Small("online"),
                  .usable = cpus.Small("usable"),
                  .usable_mask = cpus.Text("usable_mask"),
                  .numa_nodes = cpus.Small("numa_nodes"),
                  .quota_percent = cpus.OptionalSmall("quota_percent")};
  });
  json.Within("memory", [&](JsonObject& memory) {
    facts.memory = {.total_bytes = memory.Number("total_bytes"),
                    .available_bytes = memory.Number("available_bytes"),
                    .limit_bytes = memory.Number("limit_bytes"),
                    .used_bytes = memory.Number("used_bytes")};
  });
}

void ReadNetwork(JsonObject& json, HostFacts& facts) {
  constexpr std::uint64_t kPortMax = 65'535;
  json.Within("name", [&](JsonObject& name) {
    facts.name = {.host_name = name.Text("host_name"),
                  .addresses = name.Texts("addresses"),
                  .loopback = name.Flag("loopback"),
                  .failure = name.Text("failure")};
  });
  json.ForEach("interfaces", [&](JsonObject& one) {
    if (facts.interfaces.size() < kListedMax) facts.interfaces.push_back(ReadInterface(one));
  });
  facts.endpoints = json.Texts("endpoints");
  json.Within("ports", [&](JsonObject& ports) {
    facts.ports = {.first = static_cast<std::uint32_t>(ports.Number("first", kPortMax)),
                   .last = static_cast<std::uint32_t>(ports.Number("last", kPortMax)),
                   .used = ports.Small("used"),
                   .failure = ports.Text("failure")};
  });
}

void ReadSoftware(JsonObject& json, HostFacts& facts) {
  facts.kernel = json.Text("kernel");
  facts.libc = json.Text("libc");
  facts.machine = json.Text("machine");
  facts.ringlet = json.Text("ringlet");
  json.ForEach("settings", [&](JsonObject& one) {
    if (facts.settings.size() < kListedMax)
      facts.settings[one.Text("name")] = {.value = one.Text("value"),
                                          .must_agree = one.Flag("must_agree"),
                                          .from = one.Has("from") ? one.Text("from") : ""};
  });
  facts.settings_failure = json.Text("settings_failure");
  facts.rdma = json.Flag("rdma");
  facts.gpus = json.Small("gpus");
  json.ForEach("defects", [&](JsonObject& one) {
    if (facts.defects.size() < kListedMax)
      facts.defects.push_back({.rule = one.Text("rule"),
                               .severity = one.Text("severity"),
                               .where = one.Text("where"),
                               .reason = one.Text("reason"),
                               .cure = one.Text("cure")});
  });
}

Json ToValue(const PairFacts& pair) {
  return {{"from", pair.from},
          {"to", pair.to},
          {"nic", pair.nic},
          {"address", pair.address},
          {"reach", NameOf(pair.reach)},
          {"why", pair.why},
          {"connect_ns", pair.connect_ns},
          {"latency_ns", pair.latency_ns},
          {"bytes_per_s", pair.bytes_per_s},
          {"stalled", pair.stalled},
          {"mtu_bytes", pair.mtu_bytes},
          {"passed_bytes", pair.passed_bytes},
          {"path_mtu_bytes", pair.path_mtu_bytes}};
}

Contact ReadReach(JsonObject& json) {
  const std::string name = json.Text("reach");
  for (std::size_t i = 0; i < kReaches.size(); ++i)
    if (kReaches[i] == name) return static_cast<Contact>(i);
  json.Refuse("reach is not a known value");
  return Contact::kFailed;
}

PairFacts ReadPair(JsonObject& json, std::uint32_t hosts) {
  PairFacts pair{.from = json.Small("from"),
                 .to = json.Small("to"),
                 .nic = json.Small("nic"),
                 .address = json.Text("address"),
                 .reach = ReadReach(json),
                 .why = json.Text("why"),
                 .connect_ns = json.Number("connect_ns"),
                 .latency_ns = json.Number("latency_ns"),
                 .bytes_per_s = json.Number("bytes_per_s"),
                 .stalled = json.Flag("stalled"),
                 .mtu_bytes = json.Small("mtu_bytes"),
                 .passed_bytes = json.Small("passed_bytes"),
                 .path_mtu_bytes = json.Small("path_mtu_bytes")};
  if (pair.from >= hosts || pair.to >= hosts)
    json.Refuse(fmt::format("a pair names host {}, but only {} hosts exist",
                            std::max(pair.from, pair.to), hosts));
  return pair;
}

}  // namespace

std::string_view NameOf(Contact reach) {
  return kReaches[static_cast<std::size_t>(reach)];
}

std::string ToJson(const HostFacts& facts) {
  Json interfaces = Json::array();
  for (const InterfaceReport& one : facts.interfaces) interfaces.push_back(ToValue(one));
  return Line({{"version", kFactsVersion},
               {"host", facts.host},
               {"identity", facts.identity},
               {"kernel", facts.kernel},
               {"libc", facts.libc},
               {"machine", facts.machine},
               {"ringlet", facts.ringlet},
               {"name",
                {{"host_name", facts.name.host_name},
                 {"addresses", facts.name.addresses},
                 {"loopback", facts.name.loopback},
                 {"failure", facts.name.failure}}},
               {"interfaces", interfaces},
               {"endpoints", facts.endpoints},
               {"shm",
                {{"failure", facts.shm.failure},
                 {"bytes", facts.shm.bytes},
                 {"free_bytes", facts.shm.free_bytes}}},
               {"limits", LimitsValue(facts)},
               {"peer_memory", PeerMemoryValue(facts.peer_memory)},
               {"huge_pages",
                {{"total", facts.huge_pages.total},
                 {"free", facts.huge_pages.free},
                 {"bytes_each", facts.huge_pages.bytes_each},
                 {"transparent", facts.huge_pages.transparent}}},
               {"cpus", CpusValue(facts.cpus)},
               {"memory",
                {{"total_bytes", facts.memory.total_bytes},
                 {"available_bytes", facts.memory.available_bytes},
                 {"limit_bytes", facts.memory.limit_bytes},
                 {"used_bytes", facts.memory.used_bytes}}},
               {"ports",
                {{"first", facts.ports.first},
                 {"last", facts.ports.last},
                 {"used", facts.ports.used},
                 {"failure", facts.ports.failure}}},
               {"settings", SettingsValue(facts)},
               {"settings_failure", facts.settings_failure},
               {"rdma", facts.rdma},
               {"gpus", facts.gpus},
               {"defects", DefectsValue(facts)},
               {"ranks", facts.ranks}});
}

Result<HostFacts> ParseHostFacts(std::string_view text) {
  return ReadJson(text, {Code::kProtocol, "the host's answer contains no facts"},
                  [](JsonObject& object) {
                    HostFacts facts;
                    if (object.Number("version") != kFactsVersion)
                      object.Refuse(fmt::format("version is not {}", kFactsVersion));
                    facts.host = object.Text("host");
                    facts.identity = object.Text("identity");
                    facts.ranks = object.Ranks("ranks");
                    ReadSoftware(object, facts);
                    ReadNetwork(object, facts);
                    ReadResources(object, facts);
                    return facts;
                  });
}

std::string ToJson(const std::vector<PairFacts>& pairs) {
  Json list = Json::array();
  for (const PairFacts& pair : pairs) list.push_back(ToValue(pair));
  return Line({{"pairs", list}});
}

Result<std::vector<PairFacts>> ParsePairs(std::string_view text, std::uint32_t hosts) {
  return ReadJson(
      text, {Code::kProtocol, "the host's answer contains no pairs"}, [&](JsonObject& object) {
        std::vector<PairFacts> pairs;
        object.ForEach("pairs", [&](JsonObject& one) { pairs.push_back(ReadPair(one, hosts)); });
        return pairs;
      });
}

}  // namespace ringlet::doctor
