// Signals between the ranks of a host: words in shared memory, by PyTorch's convention for
// symmetric memory. Raising a signal sets its word from 0 to 1, and taking it resets the word.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>

#include "ringlet/status.hpp"

namespace ringlet::torch_api {

/// The signals of one rank: a word for each channel and each raising rank.
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

/// The limits of a wait for another rank.
struct SignalWaiting {
  std::chrono::milliseconds timeout{};
  std::stop_token abort = {};
  /// Returns the reason why the other rank will never respond; empty if it may. Called periodically
  std::function<std::string()> why_in_vain = {};
  std::string what = {};  ///< for messages: "rank 0 waits for ..."
};

/// Raises the signal as soon as the previous one was taken.
/// Errors  kTimeout, kAborted; kPeerLost  the other rank will not take it
Status RaiseSignal(std::uint32_t& word, const SignalWaiting& waiting);
/// Takes the signal as soon as it is raised. Errors  as RaiseSignal
Status TakeSignal(std::uint32_t& word, const SignalWaiting& waiting);

}  // namespace ringlet::torch_api
