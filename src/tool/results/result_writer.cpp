#include "tool/results/result_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "os/fs/write_file.hpp"
#include "tool/input/topo_source.hpp"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kResultBytesMax = std::size_t{16} << 20;

Json NewResult(const ResultHead& head) {
  return {{"what", "Collectives and messages"},
          {"where", head.where},
          {"when", head.when},
          {"beside", Json::array()},
          {"commit", nullptr},
          {"command", head.command},
          {"runs", Json::array()}};
}

/// Errors  kInvalidArgument
Result<Json> ResultOf(const std::string& path, std::string_view file, const ResultHead& head) {
  if (file.empty()) return NewResult(head);
  Json there = Json::parse(file, nullptr, false);
  const auto text = [&](const char* key) {
    const auto found = there.is_object() ? there.find(key) : there.end();
    return found != there.end() && found->is_string() ? found->get<std::string>() : "";
  };
  const auto is_list = [&](const char* key) {
    return there.contains(key) && there[key].is_array();
  };
  if (text("what").empty() || !is_list("beside") || !is_list("runs"))
    return Error{Code::kInvalidArgument,
                 fmt::format("{} is not a file of results: name another file", path)};
  if (text("where") != head.where || text("when") != head.when)
    return Error{Code::kInvalidArgument,
                 fmt::format("{} has results of {}, {}; name another file for {}, {}", path,
                             text("when"), text("where"), head.when, head.where)};
  return there;
}

}  // namespace

Result<std::string> WithRun(const std::string& path, std::string_view file, const ResultHead& head,
                            const std::string& run) {
  RINGLET_TRY_ASSIGN(Json result, ResultOf(path, file, head));
  Json added = Json::parse(run);
  if (!head.layout.empty()) added["layout"] = head.layout;
  result["runs"].push_back(std::move(added));
  Json& beside = result["beside"];
  for (const std::string& peer : head.beside)
    if (std::find(beside.begin(), beside.end(), Json(peer)) == beside.end()) beside.push_back(peer);
  return JsonText(result);
}

Status AddResult(const std::string& path, const ResultHead& head, const BenchReport& report) {
  std::string before;
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) {
    RINGLET_TRY_ASSIGN(before, ReadUserFile(path, kResultBytesMax));
  }
  RINGLET_TRY_ASSIGN(const std::string text, WithRun(path, before, head, ToJson(report)));
  return os::WriteFile(path, text);
}

}  // namespace ringlet::cli
