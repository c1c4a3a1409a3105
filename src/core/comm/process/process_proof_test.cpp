#include "comm/process/process_proof.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/establish/ranks_for_test.hpp"

namespace ringlet::comm {
namespace {

Result<std::vector<os::KnownProcess>> Prove(Control& control, ProcessProof& proof) {
  RINGLET_TRY_ASSIGN(const auto nonces, control.RequireEqual(0, "nothing", proof.nonce()));
  std::vector<Rank> host;
  for (std::uint32_t rank = 0; rank < nonces.size(); ++rank) host.push_back(Rank{rank});
  RINGLET_TRY_ASSIGN(const bootstrap::Table told,
                     control.AllGather(proof.Claim(control.rank(), host, nonces)));
  std::vector<View> claims;
  for (const Rank rank : host) claims.push_back(told.At(rank));
  auto found = proof.Check(control.rank(), host, claims);
  // Waits until all ranks have read it.
  RINGLET_TRY(control.Barrier());
  return found;
}

TEST(ProcessProof, RanksVerifyEachOther) {
  RunRanks(3, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    auto proof = ProcessProof::Draw();
    ASSERT_TRUE(proof.ok());
    const auto found = Prove((*formed)->control(), *proof);
    ASSERT_TRUE(found.ok()) << found.error().message;
    for (std::uint32_t other = 0; other < 3; ++other)
      EXPECT_EQ((*found)[other].pid, other == rank ? 0 : ::getpid());
  });
}

// Rank 1 names an existing process, with readable memory that is not a proof.
TEST(ProcessProof, RefusesAPidWithoutAProof) {
  RunRanks(3, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    Control& control = (*formed)->control();
    if (rank == 1) {
      const std::vector<std::byte> nothing(1024);
      Writer claim;
      claim.U32(static_cast<std::uint32_t>(::getpid()))
          .U64(reinterpret_cast<std::uintptr_t>(nothing.data()));
      EXPECT_TRUE(control.RequireEqual(0, "nothing").ok());
      EXPECT_TRUE(control.AllGather(claim.Take()).ok());
      EXPECT_TRUE(control.Barrier().ok());
      return;
    }
    auto proof = ProcessProof::Draw();
    ASSERT_TRUE(proof.ok());
    const auto found = Prove(control, *proof);
    ASSERT_TRUE(found.ok()) << found.error().message;
    EXPECT_EQ((*found)[1].pid, 0);
    EXPECT_EQ((*found)[2 - rank].pid, ::getpid());
  });
}

}  // namespace
}  // namespace ringlet::comm
