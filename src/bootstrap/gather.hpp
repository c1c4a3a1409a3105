// All-gather and barrier over the standing connections, as values in and out: along the tree in
// 2 * depth steps, or around the ring in size - 1. No I/O: a Member moves the frames.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.hpp"
#include "bootstrap/tree.hpp"
#include "ringlet/status.hpp"

namespace ringlet::bootstrap {

/// Every rank's entry of one all-gather.
class Table {
 public:
  Table() = default;
  /// \param entries  for each of `count` ranks a u32 length and as many bytes
  /// Errors  kProtocol  not exactly `count` entries.
  static Result<Table> Parse(Slice entries, std::uint32_t count);

  std::uint32_t size() const { return static_cast<std::uint32_t>(views_.size()); }
  View At(Rank rank) const { return views_.at(Index(rank)); }

 private:
  Slice entries_;
  std::vector<View> views_;
};

/// What every collective on the control network is identified by.
struct GatherHeader {
  std::uint32_t sequence = 0;
  bool barrier = false;  ///< no entries at all, just "I am here"
  bool operator==(const GatherHeader&) const = default;
};
void Encode(Writer& out, const GatherHeader& header);
GatherHeader DecodeGatherHeader(Reader& in);
inline constexpr std::size_t kGatherHeaderBytes = 5;

/// One rank's part of the collectives along the tree, one after the other.
class TreeGather {
 public:
  /// \param size  of the communicator
  TreeGather(TreePlace place, std::uint32_t size)
      : place_(std::move(place)), size_(size), from_child_(place_.children.size()) {}

  /// Begins the next collective. Errors  kProtocol  another rank is in another one.
  Status Start(bool barrier, Bytes payload);
  /// A kGather frame's payload from child number `child`, or a kTable one from the parent.
  Status OnChild(std::size_t child, const Slice& payload);
  Status OnParent(const Slice& payload);

  /// Payload of the kGather frame for the parent, once complete.
  std::optional<Bytes> TakeUpward() { return std::exchange(upward_, std::nullopt); }
  /// Payload of the kTable frame for every child, and this rank's result.
  std::optional<Slice> TakeDownward() { return std::exchange(downward_, std::nullopt); }
  /// The result of the last Start, once.
  std::optional<Table> TakeResult() { return std::exchange(result_, std::nullopt); }

  bool running() const { return running_; }
  /// Who is awaited: "ranks 3-5 (below rank 3)" or "rank 0's answer".
  std::string Awaited() const;

 private:
  Status Advance();
  Status Complete(const Slice& table);

  TreePlace place_;
  std::uint32_t size_;
  GatherHeader current_{1, false};
  bool running_ = false;
  bool sent_up_ = false;
  Bytes own_;
  std::vector<std::optional<Slice>> from_child_;  // at most one ahead: a child waits for its table
  std::optional<Bytes> upward_;
  std::optional<Slice> downward_;
  std::optional<Table> result_;
};

/// One rank's part of the collectives around the ring.
class RingGather {
 public:
  RingGather(Rank self, std::uint32_t size) : self_(Index(self)), size_(size), blocks_(size) {}

  Status Start(bool barrier, Bytes payload);
  /// A kBlock frame's payload from the previous rank.
  Status OnPrevious(const Slice& payload);

  /// Payloads of kBlock frames for the next rank, in order.
  std::vector<Bytes> TakeForward() { return std::exchange(forward_, {}); }
  std::optional<Table> TakeResult() { return std::exchange(result_, std::nullopt); }
  bool running() const { return running_; }
  std::string Awaited() const;

 private:
  Status Store(std::uint32_t origin, Bytes block);

  std::uint32_t self_, size_;
  GatherHeader current_{1, false};
  bool running_ = false;
  std::vector<std::optional<Bytes>> blocks_;
  std::uint32_t known_ = 0;
  std::vector<Bytes> forward_;
  std::optional<Table> result_;
};

}  // namespace ringlet::bootstrap
