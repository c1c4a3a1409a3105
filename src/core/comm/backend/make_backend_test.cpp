#include "comm/backend/make_backend.hpp"

#include "comm/backend/backends_for_test.hpp"
#include "comm/backend/emulated.hpp"
#include "comm/backend/hierarchy.hpp"
#include "comm/backend/over_links.hpp"
#include "comm/backend/shared_memory.hpp"
#include "comm/machine/machines_for_test.hpp"

namespace ringlet::comm {
namespace {

template <typename Expected>
bool Is(const Backend& backend) {
  return dynamic_cast<const Expected*>(&backend) != nullptr;
}

TEST(MakeBackend, RanksOfASingleHostUseSharedMemory) {
  RunFormed(2, {{"RINGLET_LINKS", "auto"}}, [](std::uint32_t, Communicator& mine) {
    EXPECT_TRUE(Is<SharedMemory>(mine.backend()));
    EXPECT_TRUE(mine.backend().traits.begins_without_waiting);
  });
}

TEST(MakeBackend, UsesLinksWithoutSharedMemory) {
  RunFormed(2, {{"RINGLET_LINKS", "tcp"}}, [](std::uint32_t, Communicator& mine) {
    EXPECT_TRUE(Is<OverLinks>(mine.backend()));
    EXPECT_FALSE(mine.backend().traits.begins_without_waiting) << "the first step may need a link";
  });
}

TEST(MakeBackend, HostsWithSeveralRanksUseAHierarchy) {
  RunOnTwoHosts(
      [](std::uint32_t, Communicator& mine) { EXPECT_TRUE(Is<Hierarchy>(mine.backend())); });
}

using MakeBackendOnMachine = OnMachine;
TEST_F(MakeBackendOnMachine, RanksOfAnEmulatedMachineUseTheEmulatedBackend) {
  RunOn(1, 2, {}, [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    EXPECT_TRUE(Is<Emulated>((*formed)->backend()));
    EXPECT_NE((*formed)->backend().machine(), nullptr);
  });
}

}  // namespace
}  // namespace ringlet::comm
