// The parameters of a kernel, whose sizes a launch does not tell. Pure.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ringlet::cuda {

/// A name as C++ writes it: "void fill<float>(float*, float)" of "_Z4fillIfEvPT_S0_"; the name
/// itself where it is not mangled.
std::string Demangled(const std::string& name);

/// "fill<float>" of "void fill<float>(float*, float)": without result and parameters.
std::string_view BareName(std::string_view demangled);

/// The sizes of the parameters in a demangled name; empty if one is neither pointer nor number, or
/// the name shows no parameters.
std::optional<std::vector<std::size_t>> ParameterSizes(std::string_view demangled);

}  // namespace ringlet::cuda
