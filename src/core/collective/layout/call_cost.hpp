// CallCost: a model of the time that an algorithm takes, to choose one and explain the choice.
//
// The model has two kinds of links, within a host and between hosts. The ranks of a host share the
// link to other hosts. The model is coarse: if two times differ by less than a fifth, the
// algorithms are equally good. All numbers are integers, so that all ranks choose alike. Pure.
#pragma once
#include <cstddef>
#include <cstdint>

#include "collective/call/call.hpp"
#include "collective/layout/layout.hpp"

namespace ringlet::collective {

/// One kind of link.
struct LinkCost {
  std::uint64_t latency_ns = 0;   ///< from a sender with data to a receiver that acts on it
  std::uint64_t overhead_ns = 0;  ///< processor time per message sent or received
  std::uint32_t mb_per_s = 1;     ///< per rank within a host, per host between hosts
  bool operator==(const LinkCost&) const = default;
};

struct CostModel {
  /// Shared memory between ranks that each have a core.
  LinkCost local{.latency_ns = 1'000, .overhead_ns = 400, .mb_per_s = 5'000};
  /// TCP over 10 Gb/s Ethernet.
  LinkCost remote{.latency_ns = 25'000, .overhead_ns = 5'000, .mb_per_s = 1'200};
  std::uint32_t reduce_mb_per_s = 10'000;  ///< per rank, in bytes of one operand
  bool operator==(const CostModel&) const = default;
};

/// A call on a layout. Each function returns the time of one step of an algorithm in nanoseconds.
class CallCost {
 public:
  /// \param one_call, ranks_layout  outlive this
  CallCost(const Call& one_call, const Layout& ranks_layout, const CostModel& cost_model);

  const Call& call;
  const Layout& layout;
  const CostModel model;
  /// Bytes per block, at most 2^40, so that sums of times fit in 64 bits.
  const std::uint64_t bytes;
  const std::uint64_t ranks;
  const std::uint64_t hosts;
  const std::uint64_t mates;  ///< ranks on the largest host

  const LinkCost& slowest() const { return hosts > 1 ? model.remote : model.local; }
  /// Returns the link to a rank that is `distance` ranks away.
  const LinkCost& LinkAt(std::uint64_t distance) const {
    return Crosses(distance) ? model.remote : model.local;
  }
  static std::uint64_t Hop(const LinkCost& link) { return link.latency_ns + link.overhead_ns; }
  static std::uint64_t Moving(const LinkCost& link, std::uint64_t amount) {
    return amount * 1000 / link.mb_per_s;
  }
  std::uint64_t Reducing(std::uint64_t amount) const {
    return amount * 1000 / model.reduce_mb_per_s;
  }
  /// Each rank exchanges `amount` bytes with the rank that is `distance` away. The ranks of a host
  /// share the link to other hosts.
  std::uint64_t Round(std::uint64_t distance, std::uint64_t amount) const;
  /// On a host, `senders` ranks each send a message to another host, `amount` bytes in total. Each
  /// rank has its own processor, but all share the NIC of the host. A fifth of the overhead for
  /// each turn is a guess.
  std::uint64_t Together(std::uint64_t senders, std::uint64_t amount) const;
  /// A rank sends `messages` messages at once, `amount` bytes in total.
  static std::uint64_t Burst(const LinkCost& link, std::uint64_t messages, std::uint64_t amount) {
    return messages == 0 ? 0 : link.latency_ns + messages * link.overhead_ns + Moving(link, amount);
  }
  /// Each rank sends a separate block to each other rank.
  std::uint64_t ToEach() const;
  /// Returns ceil(log2(n)).
  static std::uint64_t Rounds(std::uint64_t n);

 private:
  bool Crosses(std::uint64_t distance) const { return distance >= mates; }
};

}  // namespace ringlet::collective
