// All-gather and barrier over the standing connections, as values in and out: along the tree in 2 *
// depth steps, or around the ring in size - 1 steps. No I/O: a Member moves the frames.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/value/bytes.hpp"
#include "bootstrap/tree.hpp"
#include "ringlet/status.hpp"
#include "ringlet/types.hpp"

namespace ringlet::bootstrap {

/// Every rank's entry of one all-gather: a shared buffer with an index, never decoded as a whole.
class Table {
 public:
  Table() = default;
  /// \param bytes  the u32 end of the entry of each of `count` ranks, then the entries
  /// Errors  kProtocol  not a table of `count` entries.
  /// Cost    O(count); does not copy an owned slice
  static Result<Table> Parse(const Slice& bytes, std::uint32_t count);
  /// Encodes the input of Parse from entries by rank.
  static Bytes Join(const std::vector<View>& entries);

  std::uint32_t size() const { return size_; }
  View At(Rank rank) const;

 private:
  std::uint32_t EndOf(std::uint32_t index) const;
  Slice bytes_;
  std::uint32_t size_ = 0;
};

/// The identity of a collective on the control network.
struct GatherHeader {
  std::uint32_t sequence = 0;
  bool barrier = false;  ///< true: frames carry no entries, only the sender's arrival
  /// Digest of the ranks that the sender believes to be in the group.
  std::uint64_t group_digest = 0;
  bool operator==(const GatherHeader&) const = default;
};
void Encode(Writer& out, const GatherHeader& header);
GatherHeader DecodeGatherHeader(Reader& in);
inline constexpr std::size_t kGatherHeaderBytes = 13;
/// True for a frame of a collective of this group that has already ended on this rank.
bool IsOver(const GatherHeader& header, const GatherHeader& current);

/// The part of one rank in consecutive collectives along the tree, by rank of the group.
class TreeGather {
 public:
  TreeGather(std::uint32_t self, std::uint32_t size, std::uint64_t group_digest, TreePlace place);

  /// Begins the next collective.
  /// Errors  kProtocol  another rank is in a different collective.
  Status Start(bool barrier, Bytes payload);
  /// Takes the payload of a kGather frame from a child, or of a kTable frame from the parent.
  /// Ignores a repeated frame.
  Status OnChild(std::uint32_t child, const Slice& payload);
  Status OnParent(const Slice& payload);

  /// Payload of the kGather frame for the parent, once complete.
  std::optional<Bytes> TakeUpward() { return std::exchange(upward_, std::nullopt); }
  /// Payload of the kTable frame for every child. It is also this rank's result.
  std::optional<Slice> TakeDownward() { return std::exchange(downward_, std::nullopt); }
  /// Takes the result of the last Start.
  std::optional<Table> TakeResult() { return std::exchange(result_, std::nullopt); }

  bool running() const { return running_; }
  /// The ranks that must send the next frame: the children, then the parent.
  std::vector<std::uint32_t> AwaitedRanks() const;
  /// AwaitedRanks as text: "rank 3 or those below it", or "the answer of rank 0".
  std::string Awaited() const;

 private:
  Status Advance();
  Status JoinEntries(View entries);
  Status Complete(const Slice& table);

  std::uint32_t self_, size_;
  TreePlace place_;
  GatherHeader current_;
  bool running_ = false;
  bool sent_up_ = false;
  Bytes own_;
  std::vector<std::optional<Slice>> from_child_;  // one collective ahead at most
  std::optional<Bytes> upward_;
  std::optional<Slice> downward_;
  std::optional<Table> result_;
};

/// The part of one rank in the collectives around the ring.
class RingGather {
 public:
  RingGather(std::uint32_t self, std::uint32_t size, std::uint64_t group_digest)
      : self_(self), size_(size), current_{1, false, group_digest}, blocks_(size) {}

  Status Start(bool barrier, Bytes payload);
  /// Takes the payload of a kBlock frame from the previous rank. Ignores a repeated frame.
  Status OnPrevious(const Slice& payload);

  /// Payloads of kBlock frames for the next rank, in order.
  std::vector<Bytes> TakeForward() { return std::exchange(forward_, {}); }
  std::optional<Table> TakeResult() { return std::exchange(result_, std::nullopt); }
  bool running() const { return running_; }
  std::string Awaited() const;

 private:
  Status Store(std::uint32_t origin, Bytes block);

  std::uint32_t self_, size_;
  GatherHeader current_;
  bool running_ = false;
  std::vector<std::optional<Bytes>> blocks_;
  std::uint32_t known_ = 0;
  std::vector<Bytes> forward_;
  std::optional<Table> result_;
};

}  // namespace ringlet::bootstrap
