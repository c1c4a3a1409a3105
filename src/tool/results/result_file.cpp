#include "tool/results/result_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/value/text.hpp"

namespace ringlet::cli {
namespace {

using Json = nlohmann::ordered_json;

/// One object of a file, read key by key. The first error is kept; reads give nothing then.
class ResultReader {
 public:
  ResultReader(const Json& json, std::string place, std::optional<std::string>& wrong)
      : json_(json), place_(std::move(place)), wrong_(wrong) {
    if (!json.is_object()) Refuse("is no object");
  }

  /// null and a key that is missing are the same.
  const Json* Find(const char* key) {
    known_.insert(key);
    if (!json_.is_object() || !json_.contains(key) || json_.at(key).is_null()) return nullptr;
    return &json_.at(key);
  }
  bool Has(const char* key) { return Find(key) != nullptr; }

  std::string Text(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr || found->is_string()) return found == nullptr ? "" : std::string(*found);
    Refuse(fmt::format("{} is no text", key));
    return "";
  }
  std::optional<double> Number(const char* key) {
    const Json* const found = Find(key);
    if (found == nullptr) return std::nullopt;
    if (found->is_number()) return found->get<double>();
    Refuse(fmt::format("{} is no number", key));
    return std::nullopt;
  }
  std::vector<std::string> Texts(const char* key) {
    std::vector<std::string> texts;
    for (const Json& one : List(key)) {
      if (one.is_string())
        texts.push_back(one.get<std::string>());
      else
        Refuse(fmt::format("{} holds what is no text", key));
    }
    return texts;
  }
  const Json& List(const char* key) {
    static const Json kNone = Json::array();
    const Json* const found = Find(key);
    if (found == nullptr || found->is_array()) return found == nullptr ? kNone : *found;
    Refuse(fmt::format("{} is no list", key));
    return kNone;
  }
  void Need(const char* key) {
    if (!Has(key)) Refuse(fmt::format("{} is missing", key));
  }
  /// Each key has been asked for.
  void RefuseOthers() {
    for (const auto& [key, value] : json_.items())
      if (known_.count(key) == 0) Refuse(fmt::format("{} is no key of it", Quoted(key)));
  }
  void Refuse(const std::string& why) {
    if (!wrong_) wrong_ = fmt::format("{}: {}", place_, why);
  }

 private:
  const Json& json_;
  std::string place_;
  std::optional<std::string>& wrong_;
  std::set<std::string, std::less<>> known_;
};

using Wrong = std::optional<std::string>;

ResultRow RowFrom(const Json& json, const std::string& place, Wrong& wrong) {
  ResultReader in(json, place, wrong);
  in.Need("size");
  ResultRow row{.bytes = static_cast<std::uint64_t>(in.Number("size").value_or(0)),
                .us = in.Number("time_us"),
                .peers = {}};
  if (const Json* const placed = in.Find("in_place"); placed != nullptr && !row.us)
    row.us = ResultReader(*placed, place + ".in_place", wrong).Number("time_us");
  const Json* const peers = in.Find("peers");
  if (peers == nullptr) return row;
  for (const auto& [name, peer] : peers->items())
    if (const auto us = ResultReader(peer, place + ".peers." + name, wrong).Number("time_us"))
      row.peers[name] = *us;
  return row;
}

ResultRun RunFrom(const Json& json, const std::string& place, Wrong& wrong) {
  ResultReader in(json, place, wrong);
  for (const char* key : {"op", "ranks", "rows"}) in.Need(key);
  ResultRun run{.operation = in.Text("op"),
                .ranks = static_cast<std::uint32_t>(in.Number("ranks").value_or(0)),
                .layout = in.Text("layout"),
                .peers = in.Texts("peers"),
                .rows = {},
                .note = in.Texts("note")};
  for (const Json& row : in.List("rows"))
    run.rows.push_back(RowFrom(row, fmt::format("{}.rows[{}]", place, run.rows.size()), wrong));
  return run;
}

/// 1,234 as people write it.
std::string WithCommas(std::string digits) {
  const std::size_t begin = digits.starts_with('-') ? 1 : 0;
  for (std::size_t at = digits.size(); at > begin + 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string CellFrom(const Json& json, const std::string& place, Wrong& wrong) {
  if (json.is_null()) return "";
  if (json.is_string()) return json.get<std::string>();
  if (json.is_number_integer()) return WithCommas(json.dump());
  if (json.is_number()) return json.dump();
  if (!wrong) wrong = fmt::format("{}: a cell is a text, a number or null", place);
  return "";
}

ResultTable TableFrom(const Json& json, const std::string& place, Wrong& wrong) {
  ResultReader in(json, place, wrong);
  for (const char* key : {"columns", "rows"}) in.Need(key);
  ResultTable table{.title = in.Text("title"),
                    .columns = in.Texts("columns"),
                    .rows = {},
                    .note = in.Texts("note")};
  for (const Json& row : in.List("rows")) {
    std::vector<std::string>& cells = table.rows.emplace_back();
    const std::string at = fmt::format("{}.rows[{}]", place, table.rows.size() - 1);
    if (!row.is_array() || row.size() != table.columns.size())
      in.Refuse(fmt::format("rows[{}] is not as long as columns", table.rows.size() - 1));
    for (const Json& cell : row) cells.push_back(CellFrom(cell, at, wrong));
  }
  in.RefuseOthers();
  return table;
}

ResultFile FileFrom(const Json& json, Wrong& wrong) {
  ResultReader in(json, "the file", wrong);
  for (const char* key : {"what", "where", "when"}) in.Need(key);
  if (!in.Has("runs") && !in.Has("tables")) in.Refuse("runs and tables are missing; one is needed");
  ResultFile file{.what = in.Text("what"),
                  .where = in.Text("where"),
                  .when = in.Text("when"),
                  .beside = in.Texts("beside"),
                  .commit = in.Text("commit"),
                  .command = in.Text("command"),
                  .order = in.Number("order").value_or(0),
                  .note = in.Texts("note"),
                  .after = in.Texts("after"),
                  .runs = {},
                  .tables = {}};
  if (in.Has("self")) file.self = in.Text("self");
  for (const Json& run : in.List("runs"))
    file.runs.push_back(RunFrom(run, fmt::format("runs[{}]", file.runs.size()), wrong));
  for (const Json& table : in.List("tables"))
    file.tables.push_back(TableFrom(table, fmt::format("tables[{}]", file.tables.size()), wrong));
  in.RefuseOthers();
  return file;
}

}  // namespace

Result<ResultFile> ParseResultFile(const std::string& path, std::string_view text) {
  const Json json = Json::parse(text, nullptr, false);
  Wrong wrong;
  if (json.is_discarded()) wrong = "it is no JSON";
  ResultFile file = wrong ? ResultFile() : FileFrom(json, wrong);
  if (!wrong) return file;
  return Error{Code::kInvalidArgument, fmt::format("{} is no file of results: {}", path, *wrong)};
}

}  // namespace ringlet::cli
