#include "discovery/sysfs.hpp"

#include <algorithm>

#include "base/value/text.hpp"
#include "discovery/kernel_text.hpp"

namespace ringlet::discovery {

using topology::BusId;

namespace {

/// Returns the text trimmed and cut at a NUL: Linux 5.15-rc wrote a NUL after lists of CPUs.
std::string TextOf(const std::string& content) {
  return std::string(Trim(std::string_view(content).substr(0, content.find('\0'))));
}

}  // namespace

std::string ResolveLink(std::string_view link, std::string_view target) {
  std::vector<std::string_view> parts;
  const auto walk = [&](std::string_view path) {
    for (const std::string_view part : Split(path, '/')) {
      if (part.empty() || part == ".") continue;
      if (part != "..") {
        parts.push_back(part);
      } else if (!parts.empty()) {
        parts.pop_back();
      }
    }
  };
  if (!target.starts_with('/')) walk(link.substr(0, link.rfind('/')));
  walk(target);
  std::string path;
  for (const std::string_view part : parts) path.append("/").append(part);
  return path.empty() ? "/" : path;
}

std::vector<BusId> FunctionsIn(std::string_view path) {
  std::vector<BusId> functions;
  std::vector<std::string_view> parts = Split(path, '/');
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Result<BusId> bus = BusId::Parse(*part);
    if (bus.ok()) {
      functions.push_back(*bus);
    } else if (!functions.empty()) {
      break;
    }
  }
  return functions;
}

void Sysfs::RecordMissing(std::string what) {
  if (missing_.size() < kMissingMax) {
    missing_.push_back(std::move(what));
  } else if (missing_.size() == kMissingMax) {
    missing_.push_back("this list of missing facts is incomplete");
  }
}

std::optional<std::string> Sysfs::Peek(const std::string& path) const {
  const Result<std::string> content = files_.Read(path, kSmallFileBytesMax);
  if (!content.ok()) return std::nullopt;
  return TextOf(*content);
}

std::string Sysfs::Read(const std::string& path) {
  Result<std::string> content = files_.Read(path, kSmallFileBytesMax);
  if (!content.ok()) RecordMissing(content.error().message);
  return content.ok() ? TextOf(*content) : "";
}

std::optional<std::uint32_t> Sysfs::PeekNumber(const std::string& path) const {
  return ParseKnown(Peek(path).value_or(""));
}

std::optional<std::uint32_t> Sysfs::PeekHex(const std::string& path, std::uint32_t max) const {
  const std::string text = Peek(path).value_or("");
  if (!text.starts_with("0x")) return std::nullopt;
  const auto number = ParseUnsigned(text);
  return number && *number <= max ? std::optional(static_cast<std::uint32_t>(*number))
                                  : std::nullopt;
}

std::optional<std::string> Sysfs::Linked(const std::string& path) const {
  const Result<std::string> target = files_.ReadLink(path);
  if (!target.ok()) return std::nullopt;
  return ResolveLink(path, *target);
}

}  // namespace ringlet::discovery
