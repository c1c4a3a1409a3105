#include "transport/shm/segment.hpp"

#include <fmt/format.h>

#include "os/process/random.hpp"

namespace ringlet::transport {

Result<std::shared_ptr<Segment>> Segment::Create(const SegmentShape& shape) {
  RINGLET_ASSERT(shape.Valid());
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::Create(shape.TotalBytes()));
  const std::shared_ptr<Segment> segment(new Segment(std::move(shm), shape));
  RINGLET_TRY_ASSIGN(segment->sign_, os::SecureRandom());
  return segment;
}

Result<std::shared_ptr<Segment>> Segment::Map(os::Fd received, const SegmentShape& shape) {
  if (!shape.Valid())
    return Error{Code::kProtocol,
                 fmt::format("a peer offers {} pipes of {} bytes", shape.pipes, shape.pipe_bytes)};
  RINGLET_TRY_ASSIGN(os::Shm shm, os::Shm::Map(std::move(received), shape.TotalBytes()));
  return std::shared_ptr<Segment>(new Segment(std::move(shm), shape));
}

PipePlace Segment::Pipe(std::uint32_t pipe) const {
  RINGLET_ASSERT(pipe < shape_.pipes);
  return PipePlace::At(shm_.bytes().subspan(shape_.PipeOffset(pipe)), shape_.pipe_bytes);
}

void Segment::Prefault(std::uint32_t pipe) const {
  shm_.Prefault(0, sizeof(DoorbellWord));
  // Messages fault in the other pages of a larger ring when they first use them.
  shm_.Prefault(shape_.PipeOffset(pipe),
                PipeFootprint(std::min<std::size_t>(shape_.pipe_bytes, kPipeBytesDefault)));
}

}  // namespace ringlet::transport
