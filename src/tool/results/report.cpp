#include "tool/results/report.hpp"

#include <fmt/format.h>

#include "base/value/json_object.hpp"
#include "tool/text/json_text.hpp"
#include "tool/text/plural.hpp"

namespace ringlet::cli {
namespace {

constexpr char kRecordSeparator = 0x1e;

Json Raw(const Measurement& measured) {
  Json json{{"time_us", measured.time_us},
            {"p99_us", measured.p99_us},
            {"cpu_us", measured.cpu_us},
            {"wrong", nullptr}};
  if (measured.wrong) json["wrong"] = *measured.wrong;
  return json;
}

std::optional<Measurement> IfThere(JsonObject& row, const char* name) {
  std::optional<Measurement> measured;
  if (!row.Has(name)) return measured;
  row.Within(name, [&](JsonObject& json) {
    measured = {json.Real("time_us"), json.Real("p99_us"), json.Real("cpu_us"), {}};
    if (!json.IsNull("wrong")) measured->wrong = json.Number("wrong");
  });
  return measured;
}

Json Shown(const BenchReport& report, std::size_t bytes, const Measurement& measured) {
  Json json = Raw(measured);
  json["algbw_gb_s"] = AlgorithmBandwidth(bytes, measured);
  json["busbw_gb_s"] = BusBandwidth(report, bytes, measured);
  return json;
}

// The first placement is in the row itself, as in nccl-tests' table.
Json RowJson(const BenchReport& report, const Row& row) {
  Json json{{"size", row.bytes}, {"count", row.count}};
  if (row.out_of_place) json.update(Shown(report, row.bytes, *row.out_of_place));
  if (row.in_place) json["in_place"] = Shown(report, row.bytes, *row.in_place);
  for (const auto& [name, measured] : row.peers) {
    json["peers"][name] = Shown(report, row.bytes, measured);
    json["peers"][name]["ratio"] = measured.time_us / row.first().time_us;
  }
  return json;
}

std::optional<WorkerMessage> ReadMessage(JsonObject& json) {
  if (json.Has("links")) return Formed{json.Text("links")};
  return Row{.bytes = json.Number("size"),
             .count = json.Number("count"),
             .out_of_place = IfThere(json, "out_of_place"),
             .in_place = IfThere(json, "in_place"),
             .peers = {}};
}

}  // namespace

double AlgorithmBandwidth(std::size_t bytes, const Measurement& measured) {
  return measured.time_us > 0 ? static_cast<double>(bytes) / measured.time_us / 1e3 : 0;
}

double BusBandwidth(const BenchReport& report, std::size_t bytes, const Measurement& measured) {
  return AlgorithmBandwidth(bytes, measured) * BusFactor(report.kind, report.ranks);
}

double MeanBusBandwidth(const BenchReport& report) {
  double sum = 0;
  std::size_t measurements = 0;
  for (const Row& row : report.rows)
    for (const auto& one : {row.out_of_place, row.in_place}) {
      if (!one) continue;
      sum += BusBandwidth(report, row.bytes, *one);
      ++measurements;
    }
  return measurements == 0 ? 0 : sum / static_cast<double>(measurements);
}

std::uint64_t WrongElements(const BenchReport& report) {
  std::uint64_t wrong = 0;
  for (const Row& row : report.rows)
    for (const auto& one : {row.out_of_place, row.in_place})
      if (one) wrong += one->wrong.value_or(0);
  return wrong;
}

Status CheckComplete(std::size_t reported, std::size_t sizes) {
  if (reported == sizes) return Ok();
  return Error{Code::kProtocol, fmt::format("rank 0 ended after it had reported {} of {}", reported,
                                            Counted(sizes, "size"))};
}

Status Verdict(const BenchReport& report, std::size_t sizes) {
  RINGLET_TRY(CheckComplete(report.rows.size(), sizes));
  if (const std::uint64_t wrong = WrongElements(report); wrong != 0)
    return Error{Code::kProtocol, Counted(wrong, "wrong element") + " in the results"};
  return Ok();
}

std::string ToJson(const BenchReport& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) rows.push_back(RowJson(report, row));
  Json json{{"op", BenchOperationOf(report.kind).name},
            {"ranks", report.ranks},
            {"links", report.links},
            {"type", Name(report.type)}};
  if (collective::Reduces(report.kind)) json["redop"] = Name(report.op);
  if (collective::HasRoot(report.kind)) json["root"] = report.root;
  if (!report.peers.empty()) json["peers"] = report.peers;
  if (!report.versions.empty()) json["versions"] = report.versions;
  json["mean_busbw_gb_s"] = MeanBusBandwidth(report);
  json["rows"] = std::move(rows);
  return JsonText(json);
}

std::string ToLine(const WorkerMessage& message) {
  Json json;
  if (const auto* formed = std::get_if<Formed>(&message)) {
    json = {{"links", formed->links}};
  } else {
    const Row& row = std::get<Row>(message);
    json = {{"size", row.bytes}, {"count", row.count}};
    if (row.out_of_place) json["out_of_place"] = Raw(*row.out_of_place);
    if (row.in_place) json["in_place"] = Raw(*row.in_place);
  }
  return kRecordSeparator + json.dump();
}

Result<std::optional<WorkerMessage>> ParseLine(std::string_view line) {
  if (!line.starts_with(kRecordSeparator)) return std::optional<WorkerMessage>();
  return ReadJson(line.substr(1), {Code::kProtocol, "a worker's report cannot be read"},
                  ReadMessage);
}

}  // namespace ringlet::cli
