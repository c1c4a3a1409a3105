#include "frontends/cli/emulate/traffic_file.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "collective/call/call.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t kTrafficVersion = 1;
constexpr std::uint64_t kTrafficMax32 = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kTrafficTextMax = 256;

/// One object, read key by key. The first error is kept; what cannot be read is empty.
class TrafficObject {
 public:
  TrafficObject(const Json& json, std::string& wrong) : json_(json), wrong_(wrong) {}

  bool Has(const char* key) const { return json_.is_object() && json_.contains(key); }

  std::uint64_t Number(const char* key,
                       std::uint64_t most = std::numeric_limits<std::uint64_t>::max()) {
    const Json* const found = Find(key);
    if (found == nullptr) return 0;
    if (found->is_number_unsigned() && found->get<std::uint64_t>() <= most)
      return found->get<std::uint64_t>();
    return Refuse(fmt::format("{} is no number from 0 to {}", key, most)), 0;
  }
  std::uint32_t Small(const char* key) {
    return static_cast<std::uint32_t>(Number(key, kTrafficMax32));
  }

  std::string Text(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr) return {};
    if (found->is_string() && found->get_ref<const std::string&>().size() <= kTrafficTextMax)
      return found->get<std::string>();
    return Refuse(fmt::format("{} is no text of at most {} bytes", key, kTrafficTextMax)), "";
  }

  /// \param read  takes an object of the list
  template <class Read>
  void ForEach(const char* key, const Read& read) {
    const Json* const found = Find(key);
    if (found == nullptr) return;
    if (!found->is_array()) return Refuse(fmt::format("{} is no list", key));
    for (const Json& one : *found) {
      TrafficObject object(one, wrong_);
      read(object);
    }
  }

  void Refuse(std::string why) {
    if (wrong_.empty()) wrong_ = std::move(why);
  }

 private:
  const Json* Find(const char* key) {
    if (Has(key)) return &json_.at(key);
    Refuse(fmt::format("{} is missing", key));
    return nullptr;
  }

  const Json& json_;
  std::string& wrong_;
};

TrafficFileLink ReadLink(TrafficObject& link) {
  TrafficFileLink read{.host = link.Text("host"),
                       .from = link.Text("from"),
                       .to = link.Text("to"),
                       .kind = link.Text("kind"),
                       .mb_per_s = link.Small("mb_per_s"),
                       .measured_bytes = link.Number("measured_bytes"),
                       .planned_bytes = link.Number("planned_bytes")};
  if (read.mb_per_s == 0) link.Refuse("a link has no width");
  if (link.Has("nominal_mb_per_s")) read.nominal_mb_per_s = link.Small("nominal_mb_per_s");
  return read;
}

std::string OptionalText(TrafficObject& object, const char* key) {
  return object.Has(key) ? object.Text(key) : "";
}
std::uint64_t OptionalNumber(TrafficObject& object, const char* key) {
  return object.Has(key) ? object.Number(key) : 0;
}

TrafficFileCall ReadCall(TrafficObject& call) {
  TrafficFileCall read{.function = call.Text("function"),
                       .count = call.Number("count"),
                       .bytes = call.Number("bytes"),
                       .calls = call.Number("calls")};
  if (!collective::CallKindNamed(read.function))
    call.Refuse(
        fmt::format("{} is no function", Quoted(Printable(read.function, kTrafficTextMax))));
  if (call.Has("algorithm"))
    read.algorithm = {.name = call.Text("algorithm"),
                      .protocol = call.Text("protocol"),
                      .channels = call.Small("channels"),
                      .predicted_ns = call.Number("predicted_ns"),
                      .nccl_name = OptionalText(call, "nccl_algorithm"),
                      .nccl_predicted_ns = OptionalNumber(call, "nccl_predicted_ns"),
                      .slowed_ns = OptionalNumber(call, "slowed_ns")};
  read.slower_calls = OptionalNumber(call, "slower_calls");
  return read;
}

TrafficFile ReadRank(TrafficObject& rank) {
  TrafficFile file;
  if (rank.Number("version") != kTrafficVersion)
    rank.Refuse(fmt::format("version is not {}", kTrafficVersion));
  file.communicator = rank.Text("communicator");
  file.rank = rank.Small("rank");
  file.ranks = rank.Small("ranks");
  if (file.rank >= file.ranks || file.ranks > kTrafficFilesMax)
    rank.Refuse(fmt::format("there is no rank {} of {}", file.rank, file.ranks));
  file.host = rank.Text("host");
  file.host_identity = rank.Text("host_identity");
  file.gpu = rank.Text("gpu");
  rank.ForEach("links", [&](TrafficObject& link) { file.links.push_back(ReadLink(link)); });
  rank.ForEach("calls", [&](TrafficObject& call) { file.calls.push_back(ReadCall(call)); });
  return file;
}

}  // namespace

Result<TrafficFile> ParseTrafficFile(const std::string& path, std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  std::string wrong = json.is_object() ? "" : "it is no JSON object";
  TrafficObject rank(json, wrong);
  TrafficFile file = ReadRank(rank);
  if (wrong.empty()) return file;
  return Error{Code::kInvalidArgument,
               fmt::format("{} is not what a rank leaves in RINGLET_TRAFFIC_DIR: {}; name a folder "
                           "that holds such files alone",
                           Printable(path, kTrafficPathShown), wrong)};
}

}  // namespace ringlet::cli
