#include "comm/process/process_proof.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include "comm/establish/ranks_for_test.hpp"
#include "os/process/process_memory.hpp"

namespace ringlet::comm {
namespace {

bool IsReadable(const os::KnownProcess& process) {
  std::byte any{};
  return os::ReadMemoryOf(process, process.sign_at, {&any, 1});
}

// Returns, by rank, whether its memory could be read.
Result<std::vector<bool>> Prove(Control& control, ProcessProof& proof) {
  RINGLET_TRY_ASSIGN(const auto nonces, control.RequireEqual(0, "nothing", proof.nonce()));
  std::vector<Rank> host;
  for (std::uint32_t rank = 0; rank < nonces.size(); ++rank) host.push_back(Rank{rank});
  RINGLET_TRY_ASSIGN(const bootstrap::Table told,
                     control.AllGather(proof.Claim(control.rank(), host, nonces)));
  std::vector<View> claims;
  for (const Rank rank : host) claims.push_back(told.At(rank));
  std::vector<bool> found;
  for (const os::KnownProcess& process : proof.Claimed(control.rank(), host, claims))
    found.push_back(IsReadable(process));
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
    for (std::uint32_t other = 0; other < 3; ++other) EXPECT_EQ((*found)[other], other != rank);
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
    EXPECT_FALSE((*found)[1]);
    EXPECT_TRUE((*found)[2 - rank]);
  });
}

// Rank 1 names the sign of rank 0, which is in memory that all ranks of the test can read.
TEST(ProcessProof, RefusesTheSignOfAnotherRank) {
  RunRanks(2, EnvMap{}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const std::vector<Rank> host = {Rank{0}, Rank{1}};
    Control& control = (*formed)->control();
    auto proof = ProcessProof::Draw();
    ASSERT_TRUE(proof.ok());
    const auto nonces = control.RequireEqual(0, "nothing", proof->nonce());
    ASSERT_TRUE(nonces.ok()) << nonces.error().message;
    Bytes claim = proof->Claim(control.rank(), host, *nonces);
    const auto told = control.AllGather(claim);
    ASSERT_TRUE(told.ok()) << told.error().message;
    if (rank == 0) {
      const std::vector<View> true_claims = {told->At(Rank{0}), told->At(Rank{1})};
      EXPECT_TRUE(IsReadable(proof->Claimed(control.rank(), host, true_claims)[1]));
      const std::vector<View> false_claims = {told->At(Rank{0}), told->At(Rank{0})};
      EXPECT_FALSE(IsReadable(proof->Claimed(control.rank(), host, false_claims)[1]));
    }
    EXPECT_TRUE(control.Barrier().ok());
  });
}

}  // namespace
}  // namespace ringlet::comm
