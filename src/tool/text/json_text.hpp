// JSON as the tool writes it.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include <string>

namespace ringlet::cli {

enum class JsonLayout { kIndented, kLine };

/// With a newline at its end. The text of a file or another program need not be UTF-8; JSON must
/// be: such bytes are replaced.
std::string JsonText(const nlohmann::ordered_json& json, JsonLayout layout = JsonLayout::kIndented);

}  // namespace ringlet::cli
