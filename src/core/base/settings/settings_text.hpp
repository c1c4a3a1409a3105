// Formats the settings for people and programs: `ringlet env` (--json), docs/reference/settings.md.
#pragma once
#include <string>

#include "base/settings/settings.hpp"

namespace ringlet {

/// Columns: variable, value, origin, default, help. Secrets are "(set)".
/// \param only  the name of one setting, without prefix; empty: all
std::string SettingsTable(const Settings& settings, std::string_view only = {});

/// An array of objects {name, value, from, default, unit, allowed, nccl_alias, must_agree, help}.
/// Values are strings in the spelling of the environment; "" is unset.
std::string SettingsJson(const Settings& settings, std::string_view only = {});

/// The whole of docs/reference/settings.md.
std::string SettingsMarkdown();

}  // namespace ringlet
