// Memory that two processes share: an anonymous file whose size can no longer be changed.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "os/fs/fd.hpp"
#include "ringlet/status.hpp"

namespace ringlet::os {

/// One mapping. It has no name in any file system, so nothing is left behind when a process dies,
/// and it is sealed against shrinking, so that a peer cannot turn our reads into SIGBUS. If the
/// system denies memfd_create, as seccomp filters of sandboxes do, it is a file without a name in
/// /dev/shm, which cannot be sealed and which only processes of the same user can map.
class Shm {
 public:
  /// New memory, zero-filled. fd() is what a peer needs for Map.
  /// Errors  kInvalidArgument  `bytes` is 0
  ///         kSystem           no descriptors or no address space left; or memfd_create is denied,
  ///                           and /dev/shm has no place for it
  static Result<Shm> Create(std::size_t bytes);

  /// Why Create makes files in /dev/shm, with the reason of the kernel; empty: it makes a memfd.
  static std::string WhyInFiles();

  /// Maps what a peer has sent. The descriptor is outside input: it must be memory of exactly
  /// `bytes_expected`, sealed or a file as Create makes it, or nothing is mapped. It is closed
  /// either way; fd() is then invalid. Errors  kProtocol  it is not such memory; the sentence says
  /// what it is
  ///         kSystem    no address space left
  static Result<Shm> Map(Fd received, std::size_t bytes_expected);

  /// The file for `Map`, of memory that another process of this PID namespace holds open; `device`
  /// and `inode` are of its Identity. It need not be sent, and the other process does nothing.
  /// Errors  kSystem    the process is gone, of another user, or in another PID namespace
  ///         kProtocol  its descriptor is other memory; and as Map
  static Result<Shm> MapOf(std::int32_t pid, std::int32_t descriptor, std::uint64_t device,
                           std::uint64_t inode, std::size_t bytes_expected);

  /// Which file it is. Two files of one running system never have both numbers in common.
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
  /// The mapping stays.
  void CloseDescriptor() { fd_ = Fd(); }

  /// Brings the pages of [offset, offset + count) in now; a first touch later costs about 3 us a
  /// page. A hint: where the kernel cannot (before Linux 5.14), the pages come when they are
  /// touched.
  void Prefault(std::size_t offset, std::size_t count) const;

  /// Brings all of it in, in huge pages where the system gives them for the asking.
  /// Errors  kSystem  there is not that much memory
  Status Fill() const;
  /// Gives all pages back to the system, whichever process has them mapped: reads then give zero.
  /// fd() must be valid.
  void Discard() const;

 private:
  Shm(Fd fd, std::span<std::byte> bytes) : fd_(std::move(fd)), bytes_(bytes) {}
  static Result<std::span<std::byte>> MapWhole(int fd, std::size_t bytes);

  Fd fd_;
  std::span<std::byte> bytes_;
};

}  // namespace ringlet::os
