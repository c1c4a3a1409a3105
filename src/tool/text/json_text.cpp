#include "tool/text/json_text.hpp"

#include <nlohmann/json.hpp>

namespace ringlet::cli {

std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout) {
  constexpr int kIndent = 2, kOneLine = -1;
  return json.dump(layout == JsonLayout::kLine ? kOneLine : kIndent, ' ', false,
                   nlohmann::ordered_json::error_handler_t::replace) +
         "\n";
}

}  // namespace ringlet::cli
