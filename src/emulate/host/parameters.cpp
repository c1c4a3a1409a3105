#include "emulate/host/parameters.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

#include "base/value/text.hpp"

namespace ringlet::cuda {
namespace {

struct TypeSize {
  std::string_view name;
  std::size_t bytes;
};

constexpr std::array kNumbers = {
    TypeSize{"bool", 1},
    TypeSize{"char", 1},
    TypeSize{"signed char", 1},
    TypeSize{"unsigned char", 1},
    TypeSize{"short", 2},
    TypeSize{"unsigned short", 2},
    TypeSize{"int", 4},
    TypeSize{"unsigned int", 4},
    TypeSize{"float", 4},
    TypeSize{"long", 8},
    TypeSize{"unsigned long", 8},
    TypeSize{"long long", 8},
    TypeSize{"unsigned long long", 8},
    TypeSize{"double", 8},
};

// Counts both kinds of brackets. Operator names do not occur in kernels.
int DepthChange(char c) {
  if (c == '(' || c == '<' || c == '[' || c == '{') return 1;
  if (c == ')' || c == '>' || c == ']' || c == '}') return -1;
  return 0;
}

// Returns the beginning of the parameter list: the bracket that the last one closes.
std::size_t ListBegin(std::string_view demangled) {
  if (!demangled.ends_with(')')) return std::string_view::npos;
  int depth = 0;
  for (std::size_t at = demangled.size(); at-- > 0;) {
    depth -= DepthChange(demangled[at]);
    if (depth == 0) return at;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> SplitList(std::string_view list) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < list.size(); ++at) {
    depth += DepthChange(list[at]);
    if (list[at] != ',' || depth != 0) continue;
    parts.push_back(Trim(list.substr(begin, at - begin)));
    begin = at + 1;
  }
  if (!Trim(list).empty()) parts.push_back(Trim(list.substr(begin)));
  return parts;
}

std::optional<std::size_t> SizeOf(std::string_view type) {
  if (type.find_first_of("*&") != std::string_view::npos && !type.ends_with('>'))
    return sizeof(void*);
  if (type.ends_with(" const")) type.remove_suffix(6);
  const auto at = std::ranges::find(kNumbers, type, &TypeSize::name);
  return at == kNumbers.end() ? std::nullopt : std::optional(at->bytes);
}

}  // namespace

std::string Demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return status == 0 && text ? text.get() : name;
}

std::string_view BareName(std::string_view demangled) {
  const std::size_t list = ListBegin(demangled);
  std::string_view name = demangled.substr(0, list);
  int depth = 0;
  for (std::size_t at = 0; at < name.size(); ++at) {
    depth += DepthChange(name[at]);
    if (name[at] == ' ' && depth == 0) return name.substr(at + 1);  // skips the result
  }
  return name;
}

std::optional<std::vector<std::size_t>> ParameterSizes(std::string_view demangled) {
  const std::size_t list = ListBegin(demangled);
  if (list == std::string_view::npos) return std::nullopt;
  std::vector<std::size_t> sizes;
  for (const std::string_view type :
       SplitList(demangled.substr(list + 1, demangled.size() - list - 2))) {
    if (type == "void") continue;
    const auto bytes = SizeOf(type);
    if (!bytes) return std::nullopt;
    sizes.push_back(*bytes);
  }
  return sizes;
}

}  // namespace ringlet::cuda
