// Tensors of a group's ranks, mapped into each other's address spaces. Included by module.cpp only.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "comm/process/mapped_memory.hpp"
#include "pytorch/backend.hpp"

namespace ringlet::torch_api {

/// The labels of all ranks' memory; empty for memory that cannot be mapped.
using Labels = std::vector<std::optional<comm::MemoryLabel>>;

/// Gathers the labels of all ranks, in a turn. Errors  those of all-gather
inline Result<Labels> GatherLabels(comm::Communicator& communicator, View memory,
                                   Milliseconds timeout) {
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  const auto own = comm::LabelOf(*process, memory);
  constexpr std::size_t kEach = 1 + comm::MemoryLabel::kBytes;
  const std::size_t size = communicator.identity().size;
  Writer out;
  out.U8(own.ok() ? 1 : 0).Raw(own.ok() ? own->Encode() : comm::MemoryLabel().Encode());
  Bytes all(kEach * size);
  communicator.set_timeout(timeout);
  RINGLET_TRY(
      AllGather(communicator,
                {.input = out.view(), .output = all, .count = kEach, .type = DataType::kUint8}));
  Labels labels;
  for (std::size_t rank = 0; rank < size; ++rank) {
    const View one = View(all).subspan(rank * kEach, kEach);
    RINGLET_TRY_ASSIGN(const auto label, comm::MemoryLabel::Decode(one.subspan(1)));
    labels.push_back(one[0] == std::byte{1} ? std::optional(label) : std::nullopt);
  }
  return labels;
}

/// Maps the memory of a rank, located by its label, into this process.
inline Result<std::shared_ptr<comm::MappedMemory>> MapRank(const Labels& labels, std::size_t rank) {
  if (!labels[rank])
    return Error{Code::kInvalidArgument,
                 fmt::format("rank {} has not allocated it with ringlet.empty", rank)};
  RINGLET_TRY_ASSIGN(const auto process, SharedProcess());
  auto mapped = comm::MappedMemory::Map(*process, *labels[rank]);
  if (!mapped.ok())
    return Error{mapped.error().code, fmt::format("the memory of rank {} cannot be mapped: {}",
                                                  rank, mapped.error().message)};
  return std::make_shared<comm::MappedMemory>(std::move(*mapped));
}

}  // namespace ringlet::torch_api
