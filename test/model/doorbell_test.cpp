// The doorbell: no rank sleeps through a notification.
#include "transport/link/doorbell.hpp"

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <memory>

#include "programs_for_test.hpp"
#include "transport/arena/bell_waiter.hpp"
#include "transport/link/doorbell_waiter.hpp"

namespace ringlet::model {
namespace {

using transport::BellWaiter;
using transport::DoorbellButton;
using transport::DoorbellWaiter;
using transport::DoorbellWord;

struct Shared {
  DoorbellWord bell;
  std::atomic<int> news[2] = {};
};
Shared shared;

class DoorbellModel : public testing::Test {
 public:
  DoorbellModel() {
    SharedMemory().Share("shared", &shared, sizeof shared);
    SharedMemory().Name("bell", &shared.bell, sizeof shared.bell);
    SharedMemory().Name("news", &shared.news, sizeof shared.news);
    std::array<int, 2> sockets{};
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, sockets.data()) != 0) std::abort();
    for (std::size_t i = 0; i < 2; ++i) sockets_[i] = os::Fd(sockets[i]);
  }
  ~DoorbellModel() override { SharedMemory().Forget(); }

 protected:
  static bool All(std::size_t ringers, int news) {
    for (std::size_t i = 0; i < ringers; ++i)
      if (shared.news[i].load(std::memory_order_seq_cst) < news) return false;
    return true;
  }

  Scenario RingsInPoll(std::size_t ringers);

  // An owner that waits until each of the ringers has had `news`, one after the other.
  static Scenario Rings(std::size_t ringers, int news) {
    Scenario scenario{
        .name = std::to_string(ringers) + " ringers, news each: " + std::to_string(news),
        .begin =
            [] {
              shared.bell.value = 0;
              for (auto& one : shared.news) one = 0;
            },
        .threads = {[=] {
          BellWaiter waiter(shared.bell);
          while (!All(ringers, news)) {
            const auto ticket = waiter.Prepare();
            if (All(ringers, news)) return;
            waiter.Wait(ticket, std::chrono::hours(1));
          }
        }},
        .end = {}};
    for (std::size_t i = 0; i < ringers; ++i)
      scenario.threads.push_back([=] {
        for (int one = 1; one <= news; ++one) {
          shared.news[i].store(one, std::memory_order_seq_cst);
          DoorbellButton(shared.bell, -1).Ring();
        }
      });
    return scenario;
  }

  std::array<os::Fd, 2> sockets_;
  std::unique_ptr<DoorbellWaiter> waiter_;
};

TEST_F(DoorbellModel, NoRankSleepsThroughARing) {
  ExpectRightInAll(Rings(1, 1));
  ExpectRightInAll(Rings(1, 2));
  ExpectRightInAll(Rings(2, 1));
}

// As Rings(ringers, 1), with an owner that watches sockets too, and so sleeps in epoll.
Scenario DoorbellModel::RingsInPoll(std::size_t ringers) {
  Scenario scenario = Rings(ringers, 1);
  scenario.name += ", in epoll";
  scenario.begin = [begin = scenario.begin, this] {
    begin();
    waiter_.reset();
    waiter_ = DoorbellWaiter::Create(shared.bell, {}).value();
    if (!waiter_->WatchSocket(sockets_[0].get(), nullptr).ok()) std::abort();
  };
  scenario.threads[0] = [=, this] {
    while (!All(ringers, 1)) {
      const auto ticket = waiter_->Prepare();
      if (All(ringers, 1)) return;
      waiter_->Wait(ticket, std::chrono::hours(1));
    }
  };
  return scenario;
}

TEST_F(DoorbellModel, NoRankSleepsInPollThroughARing) {
  ExpectRightInAll(RingsInPoll(1));
  ExpectRightInAll(RingsInPoll(2));
  constexpr const char* kAsleep = "nobody wakes them";
  ExpectFound(RingsInPoll(1), Dropped("the event is not written", "", Op::kSignal), kAsleep);
  ExpectFound(RingsInPoll(1),
              Weakened("Arm stores with release", "bell", Op::kStore, Order::kRelease), kAsleep);
}

TEST_F(DoorbellModel, PlantedMistakesAreFound) {
  constexpr const char* kAsleep = "nobody wakes them";
  const Scenario one = Rings(1, 1);
  ExpectFound(one, Weakened("Arm stores with release", "bell", Op::kStore, Order::kRelease),
              kAsleep);
  ExpectFound(one, Weakened("Ring loads with acquire", "bell", Op::kLoad, Order::kAcquire),
              kAsleep);
  ExpectFound(one, Weakened("news are stored with release", "news", Op::kStore, Order::kRelease),
              kAsleep);
  ExpectFound(one, Weakened("news are looked at with acquire", "news", Op::kLoad, Order::kAcquire),
              kAsleep);
  ExpectFound(one, Dropped("sleeps without a comparison", "bell", Op::kFutexWait), kAsleep);
  ExpectFound(one, Dropped("the ringer leaves the wake-up to another", "bell", Op::kFutexWake),
              kAsleep);
}

}  // namespace
}  // namespace ringlet::model
