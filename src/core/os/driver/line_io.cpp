#include "os/driver/line_io.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "os/fs/fd.hpp"

namespace ringlet::os {
namespace {

constexpr std::size_t kGatherMax = 64;  // buffers in one sendmsg
constexpr std::size_t kDescriptorsMax = 16;

/// Room for the descriptors of one message.
struct ControlBuffer {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kDescriptorsMax * sizeof(int))> bytes{};
};

/// Attaches `descriptors` to `message`, written into `room`.
void Attach(msghdr& message, const Descriptors& descriptors, ControlBuffer& room) {
  const std::size_t fds = std::min(descriptors.size(), kDescriptorsMax);
  message.msg_control = room.bytes.data();
  message.msg_controllen = CMSG_SPACE(fds * sizeof(int));
  cmsghdr* c = CMSG_FIRSTHDR(&message);
  c->cmsg_level = SOL_SOCKET;
  c->cmsg_type = SCM_RIGHTS;
  c->cmsg_len = CMSG_LEN(fds * sizeof(int));
  for (std::size_t i = 0; i < fds; ++i) {
    const int fd = descriptors[i].value;
    std::memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof fd);
  }
}

Descriptors DescriptorsOf(msghdr& message) {
  Descriptors descriptors;
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(int));
      descriptors.push_back(Keep(Fd(fd)));
    }
  }
  return descriptors;
}

}  // namespace

void UnsentQueue::Push(Slice data, Descriptors descriptors) {
  bytes_ += data.bytes.size();
  unsent_.push_back(Unsent{data.Owned(), std::move(descriptors)});
}

UnsentQueue::Sent UnsentQueue::SendSome(int fd, bool is_unix) {
  std::array<iovec, kGatherMax> pieces;
  std::size_t count = 0;
  for (const Unsent& unsent : unsent_) {
    // Descriptors travel with the first byte of their own message, so such a message starts a call.
    if (count == pieces.size() || (count > 0 && !unsent.descriptors.empty())) break;
    View rest = unsent.data.bytes;
    if (count == 0) rest = rest.subspan(sent_of_first_);
    pieces[count++] = {const_cast<std::byte*>(rest.data()), rest.size()};
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  ControlBuffer room;
  const Descriptors& descriptors = unsent_.front().descriptors;
  if (!descriptors.empty() && is_unix) Attach(message, descriptors, room);
  const ssize_t sent = ::sendmsg(fd, &message, MSG_NOSIGNAL);
  if (sent < 0) return {.error = errno};
  Forget(static_cast<std::size_t>(sent));
  return {.bytes = static_cast<std::size_t>(sent)};
}

void UnsentQueue::Forget(std::size_t sent) {
  unsent_.front().descriptors.clear();
  bytes_ -= sent;
  sent_of_first_ += sent;
  while (!unsent_.empty() && sent_of_first_ >= unsent_.front().data.bytes.size()) {
    sent_of_first_ -= unsent_.front().data.bytes.size();
    unsent_.pop_front();
  }
}

LineReading ReadSome(int fd, bool is_unix, std::span<std::byte> room) {
  ControlBuffer control;
  iovec piece{room.data(), room.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (is_unix) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = control.bytes.size();
  }
  LineReading reading{.bytes = ::recvmsg(fd, &message, MSG_CMSG_CLOEXEC)};
  if (reading.bytes < 0) reading.error = errno;
  if (reading.bytes <= 0) return reading;
  reading.descriptors_lost = (message.msg_flags & MSG_CTRUNC) != 0;
  if (is_unix) reading.descriptors = DescriptorsOf(message);
  return reading;
}

}  // namespace ringlet::os
