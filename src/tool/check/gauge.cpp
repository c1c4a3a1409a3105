#include "tool/check/gauge.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/value/text.hpp"
#include "tool/text/json_text.hpp"

namespace ringlet::cli {
namespace {

constexpr std::size_t kGaugeLabelMax = 200;

/// Returns the value of a label in quotes, printable, with the escapes of JSON.
std::string LabelText(std::string_view value) {
  std::string text = JsonText(Printable(value, kGaugeLabelMax), JsonLayout::kLine);
  text.pop_back();  // removes the newline
  return text;
}

}  // namespace

Gauge::Gauge(std::string_view name, std::string_view help)
    : name_(name), text_(fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name)) {}

void Gauge::Add(const std::vector<std::pair<std::string_view, std::string>>& labels,
                std::uint64_t value) {
  std::string words;
  for (const auto& [label, word] : labels)
    words += fmt::format("{}{}={}", words.empty() ? "" : ",", label, LabelText(word));
  text_ += fmt::format("{}{{{}}} {}\n", name_, words, value);
}

}  // namespace ringlet::cli
