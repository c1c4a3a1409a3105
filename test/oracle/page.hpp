// The memory shared by the supervisor and all ranks of a running program: unique ids in transit
// between ranks, the progress of each rank, and its findings.
#pragma once
#include <nccl.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace oracle {

inline constexpr int kRanksMax = 64;
inline constexpr int kCommsMax = 256;
inline constexpr int kIdsOfComm = 2;
inline constexpr std::uint32_t kCallsMax = 16384;

enum class State : std::uint32_t { kRunning, kPassed, kRefused, kFailed };

struct Page {
  struct Id {
    std::atomic<std::uint32_t> ready{0};
    ncclUniqueId id{};
  };
  struct Rank {
    std::atomic<State> state{State::kRunning};
    std::atomic<std::uint32_t> step{0};
    std::atomic<std::uint64_t> calls{0};  ///< executed and compared
  };
  static constexpr std::size_t kTextMax = 3000;

  std::array<std::array<Id, kIdsOfComm>, kCommsMax> ids;
  std::array<Rank, kRanksMax> ranks;
  /// A digest of the output of each all-reduce of floats, from the first rank with one.
  std::array<std::atomic<std::uint64_t>, kCallsMax> digests;
  std::atomic<std::uint32_t> told{0};  ///< 1: a process writes `text`; 2: it is written
  std::atomic<std::uint32_t> crashed{0};
  std::atomic<std::uint32_t> refused{0};  ///< 1: a process writes `reason`; 2: it is written
  std::array<char, kTextMax> text{};
  std::array<char, kTextMax> reason{};

  /// Keeps the first failure. Returns false for later ones.
  bool RecordFailure(std::string_view what) { return Write(told, text, what); }
  void Refuse(std::string_view why) { Write(refused, reason, why); }
  std::uint64_t Progress() const {
    std::uint64_t sum = 0;
    for (const Rank& rank : ranks) sum += rank.step.load() + rank.calls.load();
    return sum;
  }

 private:
  static bool Write(std::atomic<std::uint32_t>& flag, std::array<char, kTextMax>& to,
                    std::string_view from) {
    std::uint32_t expected = 0;
    if (!flag.compare_exchange_strong(expected, 1)) return false;
    from.copy(to.data(), kTextMax - 1);
    flag = 2;
    return true;
  }
};

/// A page in an unnamed file, so a rank started by exec can map it.
class SharedPage {
 public:
  /// Creates a page. Throws std::runtime_error.
  SharedPage();
  /// Maps that of another process.
  explicit SharedPage(int descriptor);
  ~SharedPage();
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;

  Page& operator*() const { return *page_; }
  Page* operator->() const { return page_; }
  int descriptor() const { return descriptor_; }

 private:
  void Map();

  int descriptor_ = -1;
  Page* page_ = nullptr;
};

}  // namespace oracle
