#include "frontends/cli/report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr char kRecordSeparator = 0x1e;

Json Raw(const Measurement& measured) {
  Json json{{"time_us", measured.time_us}, {"p99_us", measured.p99_us}, {"wrong", nullptr}};
  if (measured.wrong) json["wrong"] = *measured.wrong;
  return json;
}

Measurement MeasurementOf(const Json& json) {
  Measurement measured{json.at("time_us").get<double>(), json.at("p99_us").get<double>(), {}};
  if (!json.at("wrong").is_null()) measured.wrong = json.at("wrong").get<std::uint64_t>();
  return measured;
}

Json Shown(std::size_t bytes, const Measurement& measured, std::uint32_t ranks) {
  Json json{{"time_us", measured.time_us},
            {"p99_us", measured.p99_us},
            {"algbw_gb_s", AlgorithmBandwidth(bytes, measured)},
            {"busbw_gb_s", BusBandwidth(bytes, measured, ranks)},
            {"wrong", nullptr}};
  if (measured.wrong) json["wrong"] = *measured.wrong;
  return json;
}

// The library throws where a member is missing or of another type.
WorkerMessage MessageOf(const Json& json) {
  if (json.contains("links")) return Formed{json.at("links").get<std::string>()};
  return Row{.bytes = json.at("size").get<std::size_t>(),
             .count = json.at("count").get<std::size_t>(),
             .out_of_place = MeasurementOf(json.at("out_of_place")),
             .in_place = MeasurementOf(json.at("in_place"))};
}

}  // namespace

double AlgorithmBandwidth(std::size_t bytes, const Measurement& measured) {
  return measured.time_us > 0 ? static_cast<double>(bytes) / measured.time_us / 1e3 : 0;
}

double BusBandwidth(std::size_t bytes, const Measurement& measured, std::uint32_t ranks) {
  return AlgorithmBandwidth(bytes, measured) * 2 * (ranks - 1) / ranks;
}

double MeanBusBandwidth(const BenchReport& report) {
  if (report.rows.empty()) return 0;
  double sum = 0;
  for (const Row& row : report.rows)
    sum += BusBandwidth(row.bytes, row.out_of_place, report.ranks) +
           BusBandwidth(row.bytes, row.in_place, report.ranks);
  return sum / 2 / static_cast<double>(report.rows.size());
}

std::uint64_t WrongElements(const BenchReport& report) {
  std::uint64_t wrong = 0;
  for (const Row& row : report.rows)
    wrong += row.out_of_place.wrong.value_or(0) + row.in_place.wrong.value_or(0);
  return wrong;
}

Status Verdict(const BenchReport& report, std::size_t sizes) {
  if (report.rows.size() != sizes)
    return Error{Code::kProtocol, fmt::format("rank 0 ended after it had reported {} of {} sizes",
                                              report.rows.size(), sizes)};
  if (const std::uint64_t wrong = WrongElements(report); wrong != 0)
    return Error{Code::kProtocol, fmt::format("{} elements are wrong", wrong)};
  return Ok();
}

std::string ToJson(const BenchReport& report) {
  Json rows = Json::array();
  for (const Row& row : report.rows) {
    Json json{{"size", row.bytes}, {"count", row.count}};
    json.update(Shown(row.bytes, row.out_of_place, report.ranks));
    json["in_place"] = Shown(row.bytes, row.in_place, report.ranks);
    rows.push_back(std::move(json));
  }
  const Json json{{"op", "all_reduce"},       {"ranks", report.ranks},
                  {"links", report.links},    {"type", Name(report.type)},
                  {"redop", Name(report.op)}, {"mean_busbw_gb_s", MeanBusBandwidth(report)},
                  {"rows", std::move(rows)}};
  return json.dump(2) + "\n";
}

std::string ToLine(const WorkerMessage& message) {
  Json json;
  if (const auto* formed = std::get_if<Formed>(&message)) {
    json = {{"links", formed->links}};
  } else {
    const Row& row = std::get<Row>(message);
    json = {{"size", row.bytes},
            {"count", row.count},
            {"out_of_place", Raw(row.out_of_place)},
            {"in_place", Raw(row.in_place)}};
  }
  return kRecordSeparator + json.dump();
}

Result<std::optional<WorkerMessage>> ParseLine(std::string_view line) {
  if (!line.starts_with(kRecordSeparator)) return std::optional<WorkerMessage>();
  try {
    return std::optional(MessageOf(Json::parse(line.substr(1))));
  } catch (const Json::exception& e) {
    return Error{Code::kProtocol, fmt::format("a worker's report cannot be read: {}", e.what())};
  }
}

}  // namespace ringlet::cli
