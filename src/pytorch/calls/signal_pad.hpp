// Signals between the ranks of a host: words in memory that they share, by PyTorch's convention for
// symmetric memory. A word is 0; who raises a signal makes it 1, and who takes it makes it 0.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// The place of a rank's signals: a word for each channel and each rank that raises one.
struct SignalPad {
  std::uint32_t* words = nullptr;
  std::size_t bytes = 0;

  /// \pre  Has
  std::uint32_t& Word(std::uint32_t channel, std::uint32_t from, std::uint32_t ranks) const {
    return words[std::size_t{channel} * ranks + from];
  }
  bool Has(std::uint32_t channel, std::uint32_t ranks) const {
    return (std::size_t{channel} + 1) * ranks * sizeof(std::uint32_t) <= bytes;
  }
};

/// How long to wait for another rank, and what ends it before.
struct SignalWaiting {
  std::chrono::milliseconds timeout{};
  std::stop_token abort = {};
  /// Why the other rank will not come; empty: it may. Asked now and then
  std::function<std::string()> why_in_vain = {};
  std::string what = {};  ///< for messages: "rank 0 waits for ..."
};

/// Raises the signal, as soon as the one before has been taken.
/// Errors  kTimeout, kAborted; kPeerLost  it waits in vain
Status RaiseSignal(std::uint32_t& word, const SignalWaiting& waiting);
/// Takes the signal, as soon as it has been raised. Errors  as RaiseSignal
Status TakeSignal(std::uint32_t& word, const SignalWaiting& waiting);

}  // namespace ringlet::torch_api
