// Counts the bytes that a rank moved over the links of its machine, and the calls that moved them.
// Bytes are counted when links receive data. The plan's numbers are computed for comparison.
#pragma once
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>

#include "collective/exec/sent_bytes.hpp"
#include "comm/machine/machine.hpp"

namespace ringlet::comm {

/// Counts for one rank of one communicator. Only the calling thread uses it.
class MachineTraffic {
 public:
  MachineTraffic(std::shared_ptr<const GpuMachine> machine, Rank self)
      : machine_(std::move(machine)), self_(self) {}

  /// Returns the counter of an operation with this carriage.
  collective::SentBytes& counter(plan::TransferPurpose carriage) {
    return sent_[static_cast<std::size_t>(carriage)];
  }
  /// A collective begins.
  void Began(const collective::Call& call, collective::CallPlace place,
             const MachineAlgorithm& way);
  /// The collective has ended, later than predicted.
  void WasSlower(const collective::Call& call, const MachineAlgorithm& way);
  /// A message begins. \param kind  of a pair of ranks
  void BeganMessage(Rank peer, std::size_t bytes,
                    collective::CallKind kind = collective::CallKind::kSendReceive);

  /// Returns the measured and the planned bytes as JSON: "links", an entry for each link that the
  /// rank's data used, and "calls". Keys: docs/reference/emulate-report.md.
  /// \param communicator  its public number; \param host  as RINGLET_HOSTID names it
  std::string ToJson(std::uint64_t communicator, const std::string& host) const;

 private:
  /// Identifies a call: function, elements, bytes per element, algorithm and protocol.
  using CallKey = std::tuple<collective::CallKind, std::size_t, std::size_t, std::string>;
  struct CallCount {
    std::uint64_t calls = 0, slower = 0;
    MachineAlgorithm way = {};
  };
  static CallKey KeyOf(const collective::Call& call, const MachineAlgorithm& way);

  std::shared_ptr<const GpuMachine> machine_;
  Rank self_;
  std::array<collective::SentBytes, 3> sent_;     // by carriage
  std::array<collective::SentBytes, 3> planned_;  // by carriage, as planned
  std::map<CallKey, CallCount> calls_;
};

}  // namespace ringlet::comm
