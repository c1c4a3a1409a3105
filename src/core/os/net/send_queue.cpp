#include "os/net/send_queue.hpp"

#include <linux/sockios.h>
#include <linux/tcp.h>  // glibc's header has only the oldest fields of tcp_info
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>

namespace ringlet::os {
namespace {

/// Returns the rate of recent deliveries, limited to the kernel's present pacing rate.
std::uint64_t RateOf(const tcp_info& info) {
  if (info.tcpi_delivery_rate == 0) return 0;
  return std::min<std::uint64_t>(info.tcpi_delivery_rate, info.tcpi_pacing_rate);
}

}  // namespace

std::optional<SendQueue> SendQueueOf(int fd) {
  tcp_info info{};
  socklen_t size = sizeof info;
  int bytes = 0;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::nullopt;
  if (::ioctl(fd, SIOCOUTQ, &bytes) != 0 || bytes < 0) return std::nullopt;
  SendQueue queue{.bytes = static_cast<std::uint64_t>(bytes), .bytes_per_second = RateOf(info)};
  if (bytes > 0 && info.tcpi_retransmits > 0)
    queue.quiet = std::chrono::milliseconds(info.tcpi_last_ack_recv);
  return queue;
}

}  // namespace ringlet::os
