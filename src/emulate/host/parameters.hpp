// Determines the sizes of a kernel's parameters, which a launch does not contain. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cuda {

/// Returns a name as C++ writes it: "void fill<float>(float*, float)" for "_Z4fillIfEvPT_S0_";
/// `name` itself if it is not mangled.
std::string Demangled(const std::string& name);

/// Removes result and parameters: "fill<float>" for "void fill<float>(float*, float)".
std::string_view BareName(std::string_view demangled);

/// Returns the parameter sizes of a demangled name; empty if a parameter is neither a pointer nor a
/// number, or if the name contains no parameters.
std::optional<std::vector<std::size_t>> ParameterSizes(std::string_view demangled);

}  // namespace ringlet::cuda
