// The environment as a value: os::ReadEnvironment makes one, tests write one.
#pragma once
#include <functional>
#include <map>
#include <string>

namespace ringlet {

/// Names of environment variables and their values.
using EnvMap = std::map<std::string, std::string, std::less<>>;

}  // namespace ringlet
