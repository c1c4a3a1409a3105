#include "comm/process/mapped_memory.hpp"

#include <fmt/format.h>

#include <utility>

#include "os/process/host.hpp"
#include "os/process/process_state.hpp"

namespace ringlet::comm {

Bytes MemoryLabel::Encode() const {
  Writer out;
  out.U64(host).U32(pid).U64(start_ticks).U32(descriptor).U64(device).U64(inode);
  return out.U64(allocation_bytes).U64(offset).U64(bytes).Take();
}

Result<MemoryLabel> MemoryLabel::Decode(View bytes) {
  Reader in(bytes);
  MemoryLabel label;
  label.host = in.U64();
  label.pid = in.U32();
  label.start_ticks = in.U64();
  label.descriptor = in.U32();
  label.device = in.U64();
  label.inode = in.U64();
  label.allocation_bytes = in.U64();
  label.offset = in.U64();
  label.bytes = in.U64();
  if (!in.AtEnd())
    return Error{Code::kProtocol, fmt::format("a label of memory has {} bytes, not {}",
                                              bytes.size(), MemoryLabel::kBytes)};
  return label;
}

Result<MemoryLabel> LabelOf(Process& process, View memory) {
  const auto allocation = process.heap().Find(memory);
  if (allocation == nullptr)
    return Error{Code::kInvalidArgument,
                 fmt::format("the {} bytes at {} are not in memory that other processes can map",
                             memory.size(), static_cast<const void*>(memory.data()))};
  RINGLET_TRY_ASSIGN(const auto identity, allocation->identity());
  const std::span<std::byte> whole = allocation->bytes();
  return MemoryLabel{.host = process.facts().host_hash,
                     .pid = process.host().pid,
                     .start_ticks = os::OwnStartTicks(process.files()),
                     .descriptor = static_cast<std::uint32_t>(allocation->fd().get()),
                     .device = identity.device,
                     .inode = identity.inode,
                     .allocation_bytes = whole.size(),
                     .offset = static_cast<std::uint64_t>(memory.data() - whole.data()),
                     .bytes = memory.size()};
}

bool HasEnded(const Process& process, const MemoryLabel& label) {
  const auto stat = process.files().Read(fmt::format("/proc/{}/stat", label.pid));
  if (!stat.ok()) return true;
  if (label.start_ticks != 0 && os::ParseStartTicks(*stat) != label.start_ticks) return true;
  return os::ProcessStateIn(*stat) == "ended";
}

Result<MappedMemory> MappedMemory::Map(const Process& process, const MemoryLabel& label) {
  if (label.host != process.facts().host_hash)
    return Error{Code::kInvalidArgument, "it is memory of another host, which cannot be mapped"};
  if (label.offset > label.allocation_bytes || label.bytes > label.allocation_bytes - label.offset)
    return Error{Code::kProtocol, fmt::format("{} bytes at {} do not lie in an allocation of {}",
                                              label.bytes, label.offset, label.allocation_bytes)};
  RINGLET_TRY_ASSIGN(auto whole,
                     os::Shm::MapOf(static_cast<std::int32_t>(label.pid),
                                    static_cast<std::int32_t>(label.descriptor), label.device,
                                    label.inode, static_cast<std::size_t>(label.allocation_bytes)));
  const std::span<std::byte> bytes = whole.bytes().subspan(static_cast<std::size_t>(label.offset),
                                                           static_cast<std::size_t>(label.bytes));
  return MappedMemory(std::move(whole), bytes);
}

}  // namespace ringlet::comm
