// Segment: the memory that a rank shares with the other processes of its host. It contains the
// rank's doorbell and one incoming pipe for each peer.
#pragma once
#include <cstdint>
#include <memory>

#include "base/wire/handshake.hpp"
#include "os/fs/shm.hpp"
#include "transport/link/pipe.hpp"

namespace ringlet::transport {

struct SegmentShape {
  std::uint32_t pipes = 0;
  std::uint64_t pipe_bytes = kPipeBytesDefault;

  /// Returns true for a shape that an honest peer describes: 1 to kPipesMax pipes of a valid size.
  bool Valid() const { return pipes >= 1 && pipes <= kPipesMax && IsPipeSize(pipe_bytes); }
  std::size_t PipeOffset(std::uint32_t pipe) const {
    return sizeof(DoorbellWord) + pipe * PipeFootprint(pipe_bytes);
  }
  std::size_t TotalBytes() const { return PipeOffset(pipes); }

  static constexpr std::uint32_t kPipesMax = 4096;
};

class Segment {
 public:
  /// \param shape  valid
  static Result<std::shared_ptr<Segment>> Create(const SegmentShape& shape);
  /// Maps a peer's segment. Errors  as os::Shm::Map, and kProtocol if `shape` is not valid
  static Result<std::shared_ptr<Segment>> Map(os::Fd received, const SegmentShape& shape);

  DoorbellWord& word() const { return *reinterpret_cast<DoorbellWord*>(shm_.bytes().data()); }
  /// \param pipe  below shape().pipes
  PipePlace Pipe(std::uint32_t pipe) const;
  void Prefault(std::uint32_t pipe) const;
  const SegmentShape& shape() const { return shape_; }
  const os::Fd& fd() const { return shm_.fd(); }
  /// A random value in this process's own memory. Peers identify the process by it. Only a segment
  /// from Create has one.
  const Secret& sign() const { return sign_; }

 private:
  Segment(os::Shm shm, const SegmentShape& shape) : shm_(std::move(shm)), shape_(shape) {}

  os::Shm shm_;
  SegmentShape shape_;
  Secret sign_{};
};

}  // namespace ringlet::transport
