#include "prepared.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "content.hpp"
#include "dice.hpp"
#include "reference.hpp"
#include "verdicts.hpp"

namespace oracle {
namespace {

// Returns the call of the one differing rank.
Call Differing(Call call, int n) {
  switch (call.odd) {
    case Odd::kCount: ++call.count; break;
    case Odd::kType: call.type = call.type == Type::kInt8 ? Type::kInt32 : Type::kInt8; break;
    case Odd::kOp: call.op = call.op == Op::kMax ? Op::kMin : Op::kMax; break;
    case Odd::kRoot: call.root = (call.root + 1) % n; break;
    case Odd::kKind:
      call.kind = call.kind == Kind::kAllGather ? Kind::kAllReduce : Kind::kAllGather;
      break;
    case Odd::kNone: break;
  }
  return call;
}

}  // namespace

Prepared::Prepared(std::uint64_t seed, const Call& call, int n, int self, ncclComm_t comm,
                   Heap& heap)
    : seed_(seed), call_(call), n_(n), self_(self), comm_(comm) {
  odd_ = call.odd != Odd::kNone && call.odd_rank == self;
  if (odd_) call_ = Differing(call, n);
  in_bytes_ = InputCount(call_, n, self) * SizeOf(call_.type);
  out_bytes_ = OutputCount(call_, n, self) * SizeOf(call_.type);
  PlaceBuffers(heap);
  const Content content(seed, call_, n);
  scalar_when_run_ = content.Scalar(self);
  if (in_bytes_ > 0) content.Fill(self, InputCount(call_, n, self), send_);
  for (Region& region : regions_)
    region.before.assign(region.block, region.block + region.offset + region.bytes + kGuard);
}

bool Prepared::InPlace() const {
  if (call_.kind == Kind::kBcast) return true;
  if (!call_.in_place) return false;
  if (call_.kind == Kind::kAllToAll || call_.kind == Kind::kSendRecv) return false;
  return in_bytes_ > 0 && out_bytes_ > 0;
}

Prepared::Region Prepared::Make(std::size_t bytes, Heap& heap) const {
  Region region;
  region.offset = kGuard + call_.misalign;
  region.bytes = bytes;
  const std::size_t all = region.offset + bytes + kGuard;
  region.block = heap.Take(call_.memory, all, comm_);
  std::memset(region.block, 0xc0 | static_cast<int>(call_.id & 0xf), all);
  return region;
}

void Prepared::PlaceBuffers(Heap& heap) {
  const std::size_t block = call_.count * SizeOf(call_.type);
  if (InPlace()) {
    std::size_t send_at = 0, recv_at = 0;
    const std::size_t own = static_cast<std::size_t>(self_) * block;
    if (call_.kind == Kind::kAllGather || call_.kind == Kind::kGather) send_at = own;
    if (call_.kind == Kind::kReduceScatter || call_.kind == Kind::kScatter) recv_at = own;
    regions_.push_back(Make(std::max(send_at + in_bytes_, recv_at + out_bytes_), heap));
    send_ = regions_[0].payload() + send_at;
    recv_ = regions_[0].payload() + recv_at;
    return;
  }
  regions_.push_back(Make(in_bytes_, heap));
  regions_.push_back(Make(out_bytes_, heap));
  send_ = regions_[0].payload();
  recv_ = regions_[1].payload();
  // If this rank's part has no output, takes the input in its place, as callers with equal pointers
  // on every rank do.
  if (call_.in_place && out_bytes_ == 0) recv_ = send_;
}

// Read before the call returns, so it need not last.
ncclCollConfig_t Prepared::Config() const {
  ncclCollConfig_t config = NCCL_COLLCONFIG_INITIALIZER;
  config.forceAlgSelection = 0;
  config.algSelection = kSelections.at(static_cast<std::size_t>(call_.selection - 1));
  return config;
}

ncclResult_t Prepared::SelectedReduction(ncclRedOp_t op, void* recv) {
  const auto type = static_cast<ncclDataType_t>(call_.type);
  const ncclCollConfig_t config = Config();
  if (call_.kind == Kind::kAllReduce)
    return ncclAllReduceConfig(send_, recv, call_.count, type, op, comm_, stream_, &config);
  if (call_.kind == Kind::kReduce)
    return ncclReduceConfig(send_, recv, call_.count, type, op, call_.root, comm_, stream_,
                            &config);
  return ncclReduceScatterConfig(send_, recv, call_.count, type, op, comm_, stream_, &config);
}

ncclResult_t Prepared::IssueSelected(const void* send, void* recv) {
  const auto type = static_cast<ncclDataType_t>(call_.type);
  const ncclCollConfig_t config = Config();
  const std::size_t count = call_.count;
  switch (call_.kind) {
    case Kind::kBroadcast:
      return ncclBroadcastConfig(send, recv, count, type, call_.root, comm_, stream_, &config);
    case Kind::kBcast:  // without such a form
      return ncclBroadcastConfig(recv, recv, count, type, call_.root, comm_, stream_, &config);
    case Kind::kAllGather:
      return ncclAllGatherConfig(send, recv, count, type, comm_, stream_, &config);
    case Kind::kAllToAll:
      return ncclAlltoAllConfig(send, recv, count, type, comm_, stream_, &config);
    case Kind::kGather:
      return ncclGatherConfig(send, recv, count, type, call_.root, comm_, stream_, &config);
    default: return ncclScatterConfig(send, recv, count, type, call_.root, comm_, stream_, &config);
  }
}

ncclResult_t Prepared::Reduction(ncclRedOp_t op) {
  const auto type = static_cast<ncclDataType_t>(call_.type);
  void* recv = out_bytes_ == 0 && call_.null_unused ? nullptr : recv_;
  if (call_.selection > 0) return SelectedReduction(op, recv);
  if (call_.kind == Kind::kAllReduce)
    return ncclAllReduce(send_, recv, call_.count, type, op, comm_, stream_);
  if (call_.kind == Kind::kReduce)
    return ncclReduce(send_, recv, call_.count, type, op, call_.root, comm_, stream_);
  return ncclReduceScatter(send_, recv, call_.count, type, op, comm_, stream_);
}

ncclResult_t Prepared::IssueReduction(bool grouped) {
  if (call_.op != Op::kPreMulSum) return Reduction(static_cast<ncclRedOp_t>(call_.op));
  // The library reads a scalar in memory when the call runs, so it may change until then. It reads
  // an immediate one at once, so that may change from then on.
  const bool immediate = !call_.late_scalar;
  std::uint64_t early = scalar_when_run_;
  ncclRedOp_t op = ncclSum;
  Must(ncclRedOpCreatePreMulSum(&op, immediate ? &early : &scalar_,
                                static_cast<ncclDataType_t>(call_.type),
                                immediate ? ncclScalarHostImmediate : ncclScalarDevice, comm_),
       "ncclRedOpCreatePreMulSum");
  early = 0;
  if (!grouped && !stream_) BeforeEnd();
  ncclResult_t result = Reduction(op);
  if (result == ncclInProgress && !grouped) result = Settle(comm_);
  Must(ncclRedOpDestroy(op, comm_), "ncclRedOpDestroy");
  return result;
}

ncclResult_t Prepared::IssueMessages(bool grouped) {
  const auto type = static_cast<ncclDataType_t>(call_.type);
  const std::size_t bytes = call_.count * SizeOf(call_.type);
  ncclResult_t first = ncclSuccess;
  const auto note = [&](ncclResult_t result) {
    if (first == ncclSuccess) first = result;
  };
  const auto send = [&](std::size_t m) {
    note(ncclSend(send_ + m * bytes, call_.count, type, Peer(call_.shift), comm_, stream_));
  };
  const auto receive = [&](std::size_t m) {
    note(ncclRecv(recv_ + m * bytes, call_.count, type, Peer(-call_.shift), comm_, stream_));
  };
  const auto messages = static_cast<std::size_t>(call_.repeat);
  if (call_.ungrouped && !grouped) {
    for (int turn = 0; turn < 2; ++turn)
      for (std::size_t m = 0; m < messages; ++m) (turn == self_ % 2) ? send(m) : receive(m);
    return first;
  }
  note(ncclGroupStart());
  for (std::size_t m = 0; m < messages; ++m) {
    send(m);
    receive(m);
  }
  note(ncclGroupEnd());
  return first;
}

ncclResult_t Prepared::Issue(bool grouped) {
  if (Reduces(call_.kind)) return IssueReduction(grouped);
  if (call_.kind == Kind::kSendRecv) return IssueMessages(grouped);
  const auto type = static_cast<ncclDataType_t>(call_.type);
  void* send = in_bytes_ == 0 && call_.null_unused ? nullptr : send_;
  void* recv = out_bytes_ == 0 && call_.null_unused ? nullptr : recv_;
  const std::size_t count = call_.count;
  if (call_.selection > 0) return IssueSelected(send, recv);
  switch (call_.kind) {
    case Kind::kBroadcast:
      return ncclBroadcast(send, recv, count, type, call_.root, comm_, stream_);
    case Kind::kBcast: return ncclBcast(recv, count, type, call_.root, comm_, stream_);
    case Kind::kAllGather: return ncclAllGather(send, recv, count, type, comm_, stream_);
    case Kind::kAllToAll: return ncclAlltoAll(send, recv, count, type, comm_, stream_);
    case Kind::kGather: return ncclGather(send, recv, count, type, call_.root, comm_, stream_);
    default: return ncclScatter(send, recv, count, type, call_.root, comm_, stream_);
  }
}

std::optional<std::string> Prepared::CheckRegion(const Region& region, bool succeeded) const {
  const std::byte* begin = region.block;
  const std::byte* end = begin + region.before.size();
  const bool holds = out_bytes_ > 0 && recv_ >= begin && recv_ < end;
  for (const std::byte* at = begin; at < end; ++at) {
    if (holds && at == recv_) {
      at += out_bytes_ - 1;
      continue;
    }
    const std::size_t next = holds && at < recv_ ? static_cast<std::size_t>(recv_ - at)
                                                 : static_cast<std::size_t>(end - at);
    const std::byte* was = region.before.data() + (at - begin);
    if (std::memcmp(at, was, next) != 0) {
      const auto differs = std::mismatch(at, at + next, was).first;
      return fmt::format(
          "byte {} from the beginning of a buffer of {} bytes was changed, which is "
          "no part of the output",
          differs - region.payload(), region.bytes);
    }
    at += next - 1;
  }
  if (holds && succeeded) return Compare(seed_, call_, n_, self_, recv_);
  return std::nullopt;
}

std::optional<std::string> Prepared::Check(bool succeeded) const {
  for (const Region& region : regions_)
    if (auto wrong = CheckRegion(region, succeeded)) return wrong;
  return std::nullopt;
}

std::uint64_t Prepared::Digest() const {
  std::uint64_t digest = out_bytes_;
  for (std::size_t at = 0; at < out_bytes_; at += sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, recv_ + at, std::min(sizeof word, out_bytes_ - at));
    digest = Mix(digest ^ word);
  }
  return digest | 1;
}

}  // namespace oracle
