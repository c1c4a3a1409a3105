// The bytes that a peer fetches from an offer are the offered bytes, although the offer may be
// withdrawn and the memory written at any moment.
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <optional>

#include "programs_for_test.hpp"
#include "transport/shm/pipe_link.hpp"

namespace ringlet::model {
namespace {

using transport::DoorbellButton;
using transport::DoorbellWord;
using transport::kPipeBytesMin;
using transport::PipeLink;
using transport::PipeLinkParts;
using transport::PipePlace;
using transport::PipeReader;
using transport::PipeWriter;
using transport::RtsSizes;

constexpr int kOffered = 7, kChanged = 9;
using Data = std::array<int, 2>;

struct Shared {
  DoorbellWord bells[2];
  alignas(64) std::byte pipes[2][transport::PipeFootprint(kPipeBytesMin)];
  Data data, fetched;
  std::mutex offers[2];
};
Shared shared;

void CopyLocked(View from, std::byte* to) {
  std::memcpy(to, from.data(), from.size());
}

class OfferModel : public testing::Test {
 public:
  OfferModel() {
    SharedMemory().Share("shared", &shared, offsetof(Shared, offers));
    SharedMemory().Name("data", &shared.data, sizeof shared.data);
    SharedMemory().Name("fetched", &shared.fetched, sizeof shared.fetched);
    for (int i = 0; i < 2; ++i) {
      const auto& header = *PipePlace::At(shared.pipes[i], kPipeBytesMin).header;
      SharedMemory().Name("withdrawn", &header.withdrawn, sizeof header.withdrawn);
      SharedMemory().Name("answers", &header.answers, sizeof header.answers);
    }
  }
  ~OfferModel() override { SharedMemory().Forget(); }

 protected:
  void Begin(bool same_process) {
    for (auto& link : links_) link.reset();
    std::memset(static_cast<void*>(&shared), 0, offsetof(Shared, offers));
    shared.data.fill(kOffered);
    for (std::size_t side = 0; side < 2; ++side) {
      const DoorbellButton bell(shared.bells[1 - side], -1);
      links_[side].emplace(PipeLinkParts{
          .peer = Rank{static_cast<std::uint32_t>(1 - side)},
          .peer_name = "the peer",
          .kind = "test",
          .out = PipeWriter(PipePlace::At(shared.pipes[1 - side], kPipeBytesMin), bell),
          .in = PipeReader(PipePlace::At(shared.pipes[side], kPipeBytesMin), bell),
          .memory = nullptr,
          .process = LocalHost(),
          .own_offer = same_process ? &shared.offers[side] : nullptr,
          .peer_offer = same_process ? &shared.offers[1 - side] : nullptr,
          .offers = RtsSizes{.reached_min = 1, .kernel_min = 1}});
    }
  }

  // Rank 0 offers, withdraws at once and writes; rank 1 fetches.
  Scenario Withdrawn(bool same_process) {
    return {.name = same_process ? "fetched by a thread" : "fetched by the kernel",
            .begin = [=, this] { Begin(same_process); },
            .threads = {[=, this] {
                          const View data = std::as_bytes(std::span(shared.data));
                          links_[0]->SendRts(data);
                          links_[0]->Withdraw();
                          if (same_process) {
                            shared.data.fill(kChanged);
                          } else {
                            for (int& word : shared.data)
                              std::atomic_ref(word).store(kChanged, std::memory_order_relaxed);
                          }
                        },
                        [=, this] {
                          const auto got = links_[1]->Get(
                              reinterpret_cast<std::uintptr_t>(shared.data.data()), 0,
                              std::as_writable_bytes(std::span(shared.fetched)), CopyLocked);
                          if (!got.ok() || !*got) return;
                          for (const int word : shared.fetched)
                            if (word != kOffered) Fail("what was fetched was not offered");
                        }},
            .end = {}};
  }
  std::array<std::optional<PipeLink>, 2> links_;
};

TEST_F(OfferModel, FetchedBytesAreTheOfferedOnes) {
  ExpectRightInAll(Withdrawn(true));
  ExpectRightInAll(Withdrawn(false));
}

TEST_F(OfferModel, PlantedMistakesAreFound) {
  ExpectFound(Withdrawn(true), Dropped("whoever withdraws does not lock", "a lock", Op::kLock),
              "data race");
  ExpectFound(Withdrawn(false), Dropped("nothing is withdrawn", "withdrawn", Op::kReadWrite),
              "not offered");
}

}  // namespace
}  // namespace ringlet::model
