#include "os/net/congestion.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <fstream>

#include "os/error.hpp"

namespace ringlet::os {
namespace {

std::string FirstLineOf(const char* path) {
  std::string line;
  std::ifstream file(path);
  std::getline(file, line);
  return line;
}

CongestionControls LocalCongestionControls() {
  return {.available = FirstLineOf("/proc/sys/net/ipv4/tcp_available_congestion_control"),
          .permitted = FirstLineOf("/proc/sys/net/ipv4/tcp_allowed_congestion_control")};
}

}  // namespace

std::string WhyNotCongestion(std::string_view name, int os_errno, const CongestionControls& known) {
  const auto list = [](const std::string& names) {
    return names.empty() ? std::string("an unknown list") : names;
  };
  if (os_errno == ENOENT)
    return fmt::format("the congestion control \"{}\" is not loaded in the kernel; it has: {}",
                       name, list(known.available));
  if (os_errno == EPERM)
    return fmt::format(
        "the kernel does not permit the congestion control \"{}\" to this process; it permits to "
        "all: {} (net.ipv4.tcp_allowed_congestion_control); others need CAP_NET_ADMIN",
        name, list(known.permitted));
  return fmt::format("the congestion control \"{}\" cannot be chosen: {}", name,
                     ErrnoText(os_errno));
}

Status SetCongestionControl(const Fd& socket, const std::string& name) {
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(),
                   static_cast<socklen_t>(name.size())) == 0)
    return Ok();
  const int os_errno = errno;
  return Error{Code::kInvalidArgument, WhyNotCongestion(name, os_errno, LocalCongestionControls()),
               os_errno};
}

Status CheckCongestionControl(const std::string& name) {
  Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) socket = Fd(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return SystemError("cannot create a socket", errno);
  return SetCongestionControl(socket, name);
}

std::string CongestionControlOf(const Fd& socket) {
  std::array<char, 64> name{};
  auto bytes = static_cast<socklen_t>(name.size() - 1);
  if (::getsockopt(socket.get(), IPPROTO_TCP, TCP_CONGESTION, name.data(), &bytes) != 0) return "";
  return name.data();
}

}  // namespace ringlet::os
