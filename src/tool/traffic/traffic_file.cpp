#include "tool/traffic/traffic_file.hpp"

#include <fmt/format.h>

#include "base/value/json_object.hpp"
#include "base/value/text.hpp"
#include "collective/call/call.hpp"

namespace ringlet::cli {
namespace {

constexpr std::uint64_t kTrafficVersion = 1;
constexpr std::size_t kTrafficTextMax = 256;

TrafficFileLink ReadLink(JsonObject& link) {
  TrafficFileLink read{.host = link.Text("host"),
                       .from = link.Text("from"),
                       .to = link.Text("to"),
                       .kind = link.Text("kind"),
                       .mb_per_s = link.Small("mb_per_s"),
                       .measured_bytes = link.Number("measured_bytes"),
                       .planned_bytes = link.Number("planned_bytes")};
  if (read.mb_per_s == 0) link.Refuse("a link lacks its width");
  if (link.Has("nominal_mb_per_s")) read.nominal_mb_per_s = link.Small("nominal_mb_per_s");
  return read;
}

TrafficFileCall ReadCall(JsonObject& call) {
  TrafficFileCall read{.function = call.Text("function"),
                       .count = call.Number("count"),
                       .bytes = call.Number("bytes"),
                       .calls = call.Number("calls")};
  if (!collective::CallKindNamed(read.function))
    call.Refuse(
        fmt::format("{} is not a function", Quoted(Printable(read.function, kTrafficTextMax))));
  if (call.Has("algorithm"))
    read.algorithm = {.name = call.Text("algorithm"),
                      .protocol = call.Text("protocol"),
                      .channels = call.Small("channels"),
                      .predicted_ns = call.Number("predicted_ns"),
                      .nccl_name = call.OptionalText("nccl_algorithm"),
                      .nccl_predicted_ns = call.OptionalNumber("nccl_predicted_ns"),
                      .slowed_ns = call.OptionalNumber("slowed_ns")};
  read.slower_calls = call.OptionalNumber("slower_calls");
  return read;
}

TrafficFile ReadRank(JsonObject& rank) {
  TrafficFile file;
  if (rank.Number("version") != kTrafficVersion)
    rank.Refuse(fmt::format("version is not {}", kTrafficVersion));
  file.communicator = rank.Text("communicator");
  file.rank = rank.Small("rank");
  file.ranks = rank.Small("ranks");
  if (file.rank >= file.ranks || file.ranks > kTrafficFilesMax)
    rank.Refuse(fmt::format("rank {} is not one of {}", file.rank, file.ranks));
  file.host = rank.Text("host");
  file.host_identity = rank.Text("host_identity");
  file.gpu = rank.Text("gpu");
  rank.ForEach("links", [&](JsonObject& link) { file.links.push_back(ReadLink(link)); });
  rank.ForEach("calls", [&](JsonObject& call) { file.calls.push_back(ReadCall(call)); });
  return file;
}

}  // namespace

Result<TrafficFile> ParseTrafficFile(const std::string& path, std::string_view text) {
  auto file = ReadJson(text,
                       {Code::kInvalidArgument,
                        fmt::format("{} is not a file that a rank writes into RINGLET_TRAFFIC_DIR",
                                    Printable(path, kTrafficPathShown))},
                       ReadRank);
  if (!file.ok()) file.error().message += "; name a folder with only such files";
  return file;
}

}  // namespace ringlet::cli
