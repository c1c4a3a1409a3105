#include "os/error.hpp"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <utility>

namespace ringlet::os {

std::string ErrnoText(int error) {
  std::string text = strerrordesc_np(error) ? strerrordesc_np(error) : "unknown error";
  text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  const char* name = strerrorname_np(error);
  return fmt::format("{} ({} {})", text, name ? name : "errno", error);
}

Error SystemError(std::string what, int error) {
  return Error{Code::kSystem, std::move(what) + ": " + ErrnoText(error), error};
}

}  // namespace ringlet::os
