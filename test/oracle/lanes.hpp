// The host streams of a rank, and the ways of a step's calls over them: behind a gate, with events
// between, into graphs.
#pragma once
#include <ringlet/stream.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

/// Throws Refusal with the library's message.
void MustStream(ringletResult_t result, const char* what);

/// Blocks streams until all calls are issued.
class Gate {
 public:
  Gate() = default;
  ~Gate() { Open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  void Hold(ringletStream_t stream);
  void Open();

 private:
  std::atomic<bool> open_{false};
};

/// The streams of one rank, created at their first use.
class Lanes {
 public:
  Lanes() = default;
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// \param seed  selects the kinds of new streams
  void Use(int count, std::uint64_t seed);
  int count() const { return count_; }
  ringletStream_t operator[](int index) const { return streams_[static_cast<std::size_t>(index)]; }

  /// `later` waits for the present work of `earlier`.
  void Order(int earlier, int later) const;
  /// Captures all in one, which begins on the first.
  void BeginCapture() const;
  /// Launches the capture this number of times, each on another stream.
  void EndCaptureAndLaunch(int times) const;
  /// Waits for all. Returns "", or the message of the first failed one.
  std::string Synchronize() const;

 private:
  int count_ = 0;
  std::vector<ringletStream_t> streams_;
};

}  // namespace oracle
