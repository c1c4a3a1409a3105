#include "comm/process/process.hpp"

#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "discovery/placement.hpp"

namespace ringlet::comm {
namespace {

TEST(Process, APreparedProcessIsServedByItsBorrowerThenByItsThread) {
  const auto process = *Process::PrepareHere();
  const auto tell = [&] {
    auto told = std::make_shared<std::promise<std::thread::id>>();
    process->driver().Post([told] { told->set_value(std::this_thread::get_id()); });
    return told->get_future().share();
  };
  const auto ready = [](const auto& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  };
  const auto before = discovery::AllowedCpus(process->files()).value();
  auto lease = process->Borrow(2);
  process->services().MoveServicesNear(topology::CpuSet::Of(0, 0), 0);
  const auto answer = tell();
  process->driver().RunUntil([&] { return ready(answer); },
                             os::SocketDriver::Now() + std::chrono::seconds(60));
  ASSERT_TRUE(ready(answer));
  EXPECT_EQ(answer.get(), std::this_thread::get_id());
  EXPECT_EQ(discovery::AllowedCpus(process->files()).value(), before)
      << "the borrower stays where it is";
  EXPECT_TRUE(lease.End().ok());
  const auto later = tell();
  ASSERT_EQ(later.wait_for(std::chrono::seconds(60)), std::future_status::ready);
  EXPECT_NE(later.get(), std::this_thread::get_id());
}

}  // namespace
}  // namespace ringlet::comm
