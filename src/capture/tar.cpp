#include "capture/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace ringlet::discovery {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kNameBytesMax = 100;

void Pad(std::string& out) {
  out.resize((out.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

/// POSIX.1-1988 defines the offset of each field.
std::string Header(std::string_view name, std::string_view link, std::size_t bytes, char type,
                   unsigned mode) {
  std::string header(kBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) {
    std::copy(text.begin(), text.end(), header.begin() + static_cast<std::ptrdiff_t>(at));
  };
  put(0, name.substr(0, kNameBytesMax));
  put(100, fmt::format("{:07o}", mode));
  put(108, "0000000");  // owner
  put(116, "0000000");  // group
  put(124, fmt::format("{:011o}", bytes));
  put(136, "00000000000");  // time
  put(148, "        ");     // placeholder for the checksum field itself
  header[156] = type;
  put(157, link.substr(0, kNameBytesMax));
  put(257, std::string_view("ustar\00000", 8));
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put(148, fmt::format("{:06o}", sum));
  header[154] = '\0';
  return header;
}

/// GNU's record for a longer name ('L') or link ('K') of the next header.
void AddLong(std::string& out, std::string_view text, char type) {
  if (text.size() <= kNameBytesMax) return;
  out += Header("././@LongLink", "", text.size() + 1, type, 0644);
  out.append(text).push_back('\0');
  Pad(out);
}

}  // namespace

std::string ToTar(const std::vector<TarEntry>& entries) {
  std::string out;
  for (const TarEntry& entry : entries) {
    const bool folder = entry.kind == TarEntry::Kind::kFolder;
    const bool link = entry.kind == TarEntry::Kind::kLink;
    const std::string name = entry.path + (folder ? "/" : "");
    const std::string_view target = link ? std::string_view(entry.content) : "";
    AddLong(out, target, 'K');
    AddLong(out, name, 'L');
    const std::size_t bytes = folder || link ? 0 : entry.content.size();
    out += Header(name, target, bytes, folder ? '5' : link ? '2' : '0', folder ? 0755 : 0644);
    if (bytes != 0) out += entry.content;
    Pad(out);
  }
  out.append(2 * kBlock, '\0');
  return out;
}

}  // namespace ringlet::discovery
