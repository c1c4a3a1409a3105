#include "os/process/host.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "base/value/text.hpp"
#include "os/fs/fd.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kStartTicksField = 22;  // proc(5), counted from 1
constexpr std::size_t kFileBytesMax = 4096;

std::string HostName() {
  std::array<char, 256> name{};  // HOST_NAME_MAX is 64 on Linux
  if (gethostname(name.data(), name.size() - 1) != 0) return "";
  return name.data();
}

Result<std::uint64_t> StartTicksAt(const FileTree& files, const std::string& path) {
  RINGLET_TRY_ASSIGN(const std::string stat, files.Read(path, kFileBytesMax));
  const std::optional<std::uint64_t> ticks = ParseStartTicks(stat);
  if (!ticks)
    return Error{Code::kUnsupported, fmt::format("{} does not have the format of proc(5)", path)};
  return *ticks;
}

}  // namespace

std::optional<std::uint64_t> ParseStartTicks(std::string_view stat) {
  const std::size_t bracket = stat.rfind(')');
  if (bracket == std::string_view::npos) return std::nullopt;
  // The text after the bracket and a space is field 3.
  const std::vector<std::string_view> fields = Split(Trim(stat.substr(bracket + 1)), ' ');
  constexpr std::size_t kIndex = kStartTicksField - 3;
  return fields.size() > kIndex ? ParseDecimal(fields[kIndex]) : std::nullopt;
}

std::optional<std::uint64_t> ParseNamespaceInode(std::string_view link) {
  const std::size_t open = link.find(":[");
  if (open == std::string_view::npos || !link.ends_with(']')) return std::nullopt;
  return ParseDecimal(link.substr(open + 2, link.size() - open - 3));
}

Host ReadHost(const FileTree& files) {
  return HostOf(ReadBootId(files));
}

Host HostOf(std::string boot_id) {
  return {.name = HostName(),
          .boot_id = std::move(boot_id),
          .pid = static_cast<std::uint32_t>(getpid()),
          .uid = geteuid()};
}

std::string ReadBootId(const FileTree& files) {
  const Result<std::string> boot_id = files.Read("/proc/sys/kernel/random/boot_id", kFileBytesMax);
  return boot_id.ok() ? std::string(Trim(*boot_id)) : "";
}

std::uint64_t NetNamespace(const FileTree& files) {
  const Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto cookie = NamespaceCookie(socket.get());
  return cookie ? *cookie : NetNamespaceInode(files);
}

std::optional<std::uint64_t> NamespaceCookie([[maybe_unused]] int socket) {
#ifdef SO_NETNS_COOKIE
  std::uint64_t cookie = 0;
  socklen_t bytes = sizeof cookie;
  if (::getsockopt(socket, SOL_SOCKET, SO_NETNS_COOKIE, &cookie, &bytes) == 0) return cookie;
#endif
  return std::nullopt;
}

std::uint64_t NetNamespaceInode(const FileTree& files) {
  const Result<std::string> link = files.ReadLink("/proc/self/ns/net");
  return link.ok() ? ParseNamespaceInode(*link).value_or(0) : 0;
}

std::uint64_t OwnStartTicks(const FileTree& files) {
  const Result<std::uint64_t> start = StartTicksAt(files, "/proc/self/stat");
  return start.ok() ? *start : 0;
}

}  // namespace ringlet::os
