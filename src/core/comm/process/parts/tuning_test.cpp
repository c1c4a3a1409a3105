#include "comm/process/parts/tuning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/settings/agreement.hpp"
#include "comm/establish/ranks_for_test.hpp"
#include "os/fs/write_file.hpp"

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

TEST(Tuning, RanksAreGroupedByHost) {
  const auto process_of = [](std::uint32_t rank) {
    return ProcessWith({{"RINGLET_HOSTID", rank % 2 == 0 ? "even" : "odd"}});
  };
  RunRanks(4, process_of, [](std::uint32_t, Result<std::unique_ptr<Communicator>> communicator) {
    ASSERT_TRUE(communicator.ok()) << communicator.error().message;
    const auto layout = LayoutOf((*communicator)->plan(), (*communicator)->peer_table());
    EXPECT_EQ(layout.order.size(), 4u);
    ASSERT_EQ(layout.groups.size(), 2u);
    EXPECT_THAT(layout.groups[0], testing::UnorderedElementsAre(Rank{0}, Rank{2}));
    EXPECT_THAT(layout.groups[1], testing::UnorderedElementsAre(Rank{1}, Rank{3}));
    EXPECT_TRUE(SumOfRanks(**communicator, 1000).ok());
  });
}

TEST(Tuning, AHostWithoutSharedMemoryHasAHigherLatency) {
  Settings settings;
  const auto fast = TunerFor(settings, {}).model.local;
  settings.links = LinkChoice::kTcp;
  EXPECT_GT(TunerFor(settings, {}).model.local.latency_ns, fast.latency_ns);
}

TEST(Tuning, AnAlgorithmThatDoesNotExistIsRefusedAtTheStart) {
  const auto process = Process::Start({{"RINGLET_HOST_ALGO", "fastest"}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message, HasSubstr("must be one of ring, doubling"));
}

class TuneFile : public testing::Test {
 protected:
  ~TuneFile() override {
    for (const std::string& path : written_) std::filesystem::remove(path);
  }
  std::string Write(const std::string& name, const std::string& text) {
    const std::string path = testing::TempDir() + "ringlet-" + name;
    EXPECT_TRUE(os::WriteFile(path, text).ok());
    written_.push_back(path);
    return path;
  }

 private:
  std::vector<std::string> written_;
};

TEST_F(TuneFile, ChoosesTheAlgorithm) {
  const std::string path =
      Write("tuned", "ringlet-tuning 1\nall_reduce ranks 4 hosts 1 bytes any ring\n");
  const auto process = Process::Start({{"RINGLET_TUNE_FILE", path}});
  ASSERT_TRUE(process.ok()) << process.error().message;
  const auto tuner = TunerFor((*process)->settings(), (*process)->facts().measured_choices);
  EXPECT_EQ(tuner.measured.For(CallKind::kAllReduce, 4, 1, 8, false), collective::Algorithm::kRing);
}

TEST_F(TuneFile, ErrorsStateFileAndLine) {
  const std::string path = Write("bad", "ringlet-tuning 1\nall_reduce ranks four\n");
  const auto process = Process::Start({{"RINGLET_TUNE_FILE", path}});
  ASSERT_FALSE(process.ok());
  EXPECT_THAT(process.error().message, HasSubstr(path + ", line 2"));
  const auto missing = Process::Start({{"RINGLET_TUNE_FILE", path + "-not-there"}});
  ASSERT_FALSE(missing.ok());
  EXPECT_THAT(missing.error().message, HasSubstr("RINGLET_TUNE_FILE"));
}

TEST_F(TuneFile, DifferentContentsChangeTheAgreementDigest) {
  Settings one, same, other;
  const std::string line = "ringlet-tuning 1\nall_reduce ranks 4 hosts 1 bytes any ";
  one.tune_file = same.tune_file = Write("agreed", line + "ring\n");
  ASSERT_TRUE(ReadTuning(one).ok());
  ASSERT_TRUE(ReadTuning(same).ok());
  EXPECT_EQ(AgreementDigest(one), AgreementDigest(same));
  other.tune_file = Write("agreed", line + "halving\n");
  ASSERT_TRUE(ReadTuning(other).ok());
  EXPECT_NE(AgreementDigest(one), AgreementDigest(other));
}

}  // namespace
}  // namespace ringlet::comm
