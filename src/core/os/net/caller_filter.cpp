#include "os/net/caller_filter.hpp"

#include <fcntl.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>

#include "os/fs/fd.hpp"

namespace ringlet::os {

bool KernelHoldsCallers() {
  static const bool holds = [] {
    const Fd file(::open("/proc/sys/net/ipv4/tcp_syncookies", O_RDONLY | O_CLOEXEC));
    char cookies = '0';
    return ::read(file.get(), &cookies, 1) == 1 && cookies != '0';
  }();
  return holds;
}

void DeferSilentCallers(int listener) {
  const int silent_s = 1;
  ::setsockopt(listener, IPPROTO_TCP, TCP_DEFER_ACCEPT, &silent_s, sizeof silent_s);
}

// The kernel runs the filter over each segment for the listener, starting at the TCP header. A load
// beyond the segment's end drops it.
bool AdmitOnly(int listener, std::string_view greeting) {
  if (greeting.size() != kGreetingBytes) return false;
  std::uint32_t word = 0;
  for (const char c : greeting) word = word << 8 | static_cast<unsigned char>(c);
  constexpr std::uint32_t kFlagsAt = 13, kSynOrReset = 0x06, kLengthAt = 12;
  std::array<sock_filter, 10> program = {{
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kFlagsAt),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, kSynOrReset, 6, 0),
      BPF_STMT(BPF_LD | BPF_B | BPF_ABS, kLengthAt),  // header length in words, in the upper half
      BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xf0),
      BPF_STMT(BPF_ALU | BPF_RSH | BPF_K, 2),
      BPF_STMT(BPF_MISC | BPF_TAX, 0),
      BPF_STMT(BPF_LD | BPF_W | BPF_IND, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, word, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, 0xffffffff),
      BPF_STMT(BPF_RET | BPF_K, 0),
  }};
  const sock_fprog filter{.len = program.size(), .filter = program.data()};
  return ::setsockopt(listener, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter) == 0;
}

void AdmitAll(int accepted) {
  const int ignored = 0;
  ::setsockopt(accepted, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof ignored);
}

}  // namespace ringlet::os
