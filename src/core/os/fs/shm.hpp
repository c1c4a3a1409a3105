// Memory that two processes share: an anonymous file of fixed size.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// A mapping. The file is anonymous, so a dying process leaves no file behind.
/// It is sealed against shrinking, so that a peer cannot turn our reads into SIGBUS. If the system
/// denies memfd_create, as seccomp filters of sandboxes do, it is a file without a name in
/// /dev/shm, which cannot be sealed and which only processes of the same user can map.
class Shm {
 public:
  /// New memory, zero-filled. A peer needs fd() for Map.
  /// Errors  kInvalidArgument  `bytes` is 0
  ///         kSystem           no descriptors or no address space left; or memfd_create is denied
  ///                           and /dev/shm lacks space
  static Result<Shm> Create(std::size_t bytes);

  /// The kernel's reason why Create makes files in /dev/shm. Empty if it makes a memfd.
  static std::string WhyInFiles();

  /// Maps a descriptor received from a peer. It is outside input: it must be memory of exactly
  /// `bytes_expected`, sealed or made as by Create; otherwise it is not mapped. The descriptor is
  /// always closed, and fd() is then invalid.
  /// Errors  kProtocol  it is not such memory; the message states what it is
  ///         kSystem    no address space left
  static Result<Shm> Map(Fd received, std::size_t bytes_expected);

  /// Maps memory that another process of this PID namespace holds open; `device` and `inode` are
  /// those of its ShmIdentity. The other process does not take part.
  /// Errors  kSystem    the process has ended, or is of another user or PID namespace
  ///         kProtocol  its descriptor is other memory; and as Map
  static Result<Shm> MapOf(std::int32_t pid, std::int32_t descriptor, std::uint64_t device,
                           std::uint64_t inode, std::size_t bytes_expected);

  /// Identifies a file. Two files of one running system never share both numbers.
  struct ShmIdentity {
    std::uint64_t device = 0, inode = 0;
  };
  /// Errors  kSystem  the descriptor was closed
  Result<ShmIdentity> identity() const;

  Shm(Shm&& other) noexcept;
  Shm& operator=(Shm&& other) noexcept;
  ~Shm();

  std::span<std::byte> bytes() const { return bytes_; }
  const Fd& fd() const { return fd_; }
  /// Keeps the mapping.
  void CloseDescriptor() { fd_ = Fd(); }

  /// Faults in the pages of [offset, offset + count) now; a later first touch costs about 3 us a
  /// page. A hint: before Linux 5.14, only the first touch of a page faults it in.
  void Prefault(std::size_t offset, std::size_t count) const;

  /// Faults in all pages, as huge pages if the system provides them on request.
  /// Errors  kSystem  not enough memory
  Status Fill() const;
  /// Returns all pages to the system, even those mapped by other processes. Later reads yield zero.
  /// fd() must be valid.
  void Discard() const;

 private:
  Shm(Fd fd, std::span<std::byte> bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  static Result<std::span<std::byte>> MapWhole(int fd, std::size_t bytes);

  Fd fd_;
  std::span<std::byte> bytes_;
};

}  // namespace ringlet::os
