#include "comm/run/observer.hpp"

#include <gmock/gmock.h>

#include "comm/backend/backends_for_test.hpp"

namespace ringlet::comm {
namespace {

std::size_t ObserversOfFirst(const EnvMap& environment) {
  std::size_t count = 0;
  RunFormed(2, environment, [&](std::uint32_t rank, Communicator& mine) {
    if (rank == 0)
      count = ObserversOf(mine.origin(), mine.peer_table(), mine.backend(), mine.control()).size();
  });
  return count;
}

TEST(Observer, ExistsOnlyIfTheUserRequestsIt) {
  EXPECT_EQ(ObserversOfFirst({}), 0u);
}

TEST(Observer, AFaultIsInjectedIntoItsRankAlone) {
  EXPECT_EQ(ObserversOfFirst({{"RINGLET_FAULT", "0@all_reduce:9"}}), 1u);
  EXPECT_EQ(ObserversOfFirst({{"RINGLET_FAULT", "1@all_reduce:9"}}), 0u);
}

}  // namespace
}  // namespace ringlet::comm
