// Formats JSON in the tool's style.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ringlet::cli {

enum class JsonLayout { kIndented, kLine };

/// Returns JSON with a final newline. Replaces bytes that are not UTF-8, for example of file names.
std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout = JsonLayout::kIndented);

}  // namespace ringlet::cli
