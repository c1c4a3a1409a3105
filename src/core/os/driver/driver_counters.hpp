// The counters of a driver: bytes, connections, system calls.
#pragma once
#include <atomic>
#include <cstdint>

namespace ringlet::os {

/// Bytes and calls so far, over all machines.
struct DriverCounters {
  std::uint64_t bytes_sent = 0, bytes_received = 0;
  std::uint64_t lines_dialled = 0, lines_accepted = 0;
  std::uint64_t dials_failed = 0;       ///< among lines_dialled
  std::uint64_t strangers_refused = 0;  ///< among lines_accepted
  std::uint64_t system_calls = 0;

  DriverCounters& operator+=(const DriverCounters& other) {
    bytes_sent += other.bytes_sent;
    bytes_received += other.bytes_received;
    lines_dialled += other.lines_dialled;
    lines_accepted += other.lines_accepted;
    dials_failed += other.dials_failed;
    strangers_refused += other.strangers_refused;
    system_calls += other.system_calls;
    return *this;
  }
};

/// The shared counters of the parts of one driver.
struct DriverTally {
  DriverCounters counters;  ///< of the driver's thread
  /// Number of connections that could not be dialled or accepted, or arrived without the
  /// descriptors that they carried, because no descriptor was left. Any thread.
  std::atomic<std::uint64_t> shortages{0};
};

}  // namespace ringlet::os
