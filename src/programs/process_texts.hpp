// Arguments and variables in the form that execve requires.
#pragma once
#include <string>
#include <vector>

#include "base/settings/env_map.hpp"

namespace ringlet::os {

/// Returns "NAME=value" for each.
inline std::vector<std::string> VariableTexts(const EnvMap& environment) {
  std::vector<std::string> texts;
  for (const auto& [name, value] : environment) texts.push_back(name + "=" + value);
  return texts;
}

/// Returns pointers to the texts, and a final null. Valid as long as the texts.
inline std::vector<char*> PointersTo(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace ringlet::os
