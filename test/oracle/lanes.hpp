// The host streams of a rank, and the ways in which a step's calls go over them: behind a gate,
// with events between, into graphs.
#pragma once
#include <ringlet/stream.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

/// Throws Refusal, with the library's sentence.
void MustStream(ringletResult_t result, const char* what);

/// Holds streams until all is issued.
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

/// The streams of one rank, made when they are first used.
class Lanes {
 public:
  Lanes() = default;
  ~Lanes();
  Lanes(const Lanes&) = delete;
  Lanes& operator=(const Lanes&) = delete;

  /// \param seed  decides the kinds of streams that are made
  void Use(int count, std::uint64_t seed);
  int count() const { return count_; }
  ringletStream_t operator[](int index) const { return streams_[static_cast<std::size_t>(index)]; }

  /// `later` waits for what `earlier` has.
  void Order(int earlier, int later) const;
  /// All in one capture, which begins on the first.
  void BeginCapture() const;
  /// Launches what was captured so many times, each on another stream.
  void EndCaptureAndLaunch(int times) const;
  /// Waits for all; "", or the first sentence of those that failed.
  std::string Synchronize() const;

 private:
  int count_ = 0;
  std::vector<ringletStream_t> streams_;
};

}  // namespace oracle
