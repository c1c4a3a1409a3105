#include "capture/scrub.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>

#include "base/value/text.hpp"
#include "discovery/kernel_text.hpp"

namespace ringlet::discovery {
namespace {

bool IsHex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/// Returns the lines of `text` that satisfy `keep`.
template <typename Keep>
std::string Lines(std::string_view text, Keep keep) {
  std::string kept;
  for (const std::string_view line : Split(text, '\n'))
    if (keep(line)) kept.append(line).push_back('\n');
  return kept;
}

bool IsCpuLine(std::string_view line) {
  constexpr std::array<std::string_view, 9> kKeys = {
      "processor", "vendor_id",       "cpu family",       "model",   "model name",
      "cpu",       "CPU implementer", "CPU architecture", "CPU part"};
  const std::string_view key = Trim(line.substr(0, line.find(':')));
  return std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end();
}

std::string KeepUsed(const std::string& path, std::string content) {
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (name == "cpuinfo") return Lines(content, IsCpuLine);
  if (name == "meminfo")
    return Lines(content, [](auto line) { return line.find("MemTotal:") != line.npos; });
  if (name == "uevent")
    return Lines(content, [](auto line) { return line.starts_with("DEVTYPE="); });
  return content;
}

/// Numbers for secrets, in order of first occurrence.
class Numbers {
 public:
  std::size_t Of(const std::string& secret) {
    return numbers_.emplace(secret, numbers_.size() + 1).first->second;
  }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// Returns the length of a UUID at the begin of `text`, or 0.
std::size_t UuidAt(std::string_view text) {
  constexpr std::size_t kLength = 36;
  if (text.size() < kLength) return 0;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    if (dash ? text[i] != '-' : !IsHex(text[i])) return 0;
  }
  return kLength;
}

class Scrubber {
 public:
  TarEntry Scrubbed(TarEntry entry) {
    entry.content = entry.kind == TarEntry::Kind::kFile ? KeepUsed(entry.path, entry.content)
                                                        : Path(entry.content);
    if (entry.path.ends_with("/sys_image_guid") && !Trim(entry.content).empty())
      entry.content = Guid(entry.content);
    if (entry.path.find("/ndevs/") != std::string::npos) entry.content = Path(entry.content);
    entry.path = Path(entry.path);
    return entry;
  }

 private:
  std::string Guid(const std::string& content) {
    if (!ParseGuid(content)) return content;  // 0: unused
    const std::size_t number = guids_.Of(std::string(Trim(content)));
    return fmt::format("0000:0000:{:04x}:{:04x}\n", number >> 16 & 0xffff, number & 0xffff);
  }

  std::string Path(std::string_view path) {
    std::string out;
    for (const std::string_view part : Split(path, '/'))
      out.append(out.empty() && part.data() == path.data() ? "" : "/").append(Part(part));
    return out;
  }

  std::string Part(std::string_view part) {
    // "enx001122334455", "lower_enx001122334455", "rocex1122334455667788"
    constexpr std::size_t kMacDigits = 12;
    const auto last = std::find_if_not(part.rbegin(), part.rend(), IsHex);
    const auto digits = static_cast<std::size_t>(last - part.rbegin());
    if (digits >= kMacDigits && last != part.rend() && *last == 'x') {
      const std::string_view tail = part.substr(part.size() - digits);
      return fmt::format("{}{:012x}", part.substr(0, part.size() - digits),
                         names_.Of(std::string(tail)));
    }
    std::string out;
    while (!part.empty()) {
      const std::size_t uuid = UuidAt(part);
      if (uuid != 0) {
        out += fmt::format("00000000-0000-0000-0000-{:012x}",
                           uuids_.Of(std::string(part.substr(0, uuid))));
      } else {
        out += part.front();
      }
      part.remove_prefix(std::max<std::size_t>(uuid, 1));
    }
    return out;
  }

  Numbers guids_, names_, uuids_;
};

}  // namespace

std::vector<TarEntry> Scrub(std::vector<TarEntry> entries) {
  Scrubber scrubber;
  for (TarEntry& entry : entries) entry = scrubber.Scrubbed(std::move(entry));
  return entries;
}

}  // namespace ringlet::discovery
