#include "comm/plugin/tuner.hpp"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

#include "comm/machine/machines_for_test.hpp"
#include "os/fs/temp_tree_for_test.hpp"

namespace ringlet::comm {
namespace {

using plan::NcclAlgorithm;
using plan::Protocol;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr int kTree = 0, kRing = 1, kNvls = 4;
constexpr int kLl = 0, kSimple = 2;

std::string TunerAt(const std::string& name) {
  return RINGLET_TEST_PLUGINS "libnccl-tuner-" + name + ".so";
}

std::size_t TimesIn(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++count;
  return count;
}

/// A plug-in of test/plugins: the queries since this was made, and its answers.
class Asked {
 public:
  explicit Asked(const std::string& name)
      : library_(
            os::SharedLibrary::Open(TunerAt(name), os::SharedLibrary::Unloading::kForEver).value()),
        before_(All().size()) {
    Choose(-1, 0, 0);
  }
  ~Asked() {
    Choose(-1, 0, 0);
    RingBase(-1);
  }
  std::string All() const { return library_.Find<const char*()>("plugin_lines")(); }
  std::string Since() const { return All().substr(before_); }
  int open() const { return library_.Find<int()>("plugin_open")(); }
  void Choose(int algorithm, int protocol, int channels) const {
    library_.Find<void(int, int, int)>("plugin_choose")(algorithm, protocol, channels);
  }
  void RingBase(double base_us) const { library_.Find<void(double)>("plugin_ring_base")(base_us); }

 private:
  const os::SharedLibrary library_;
  const std::size_t before_;
};

class TunerTest : public OnMachine {
 protected:
  std::string Log() const {
    std::ifstream in(PathOf("log"), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  EnvMap With(const std::string& plugin) const {
    return {{"RINGLET_TUNER_PLUGIN", TunerAt(plugin)},
            {"RINGLET_DEBUG", "INFO"},
            {"RINGLET_DEBUG_SUBSYS", "INIT,TUNING"},
            {"RINGLET_DEBUG_FILE", PathOf("log")}};
  }
  /// Runs four ranks on the machine's four GPUs, each with one sum of 1,000 floats.
  void SumOnMachine(const EnvMap& environment) const {
    RunOn(1, 4, environment, [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
    });
  }
};

TEST_F(TunerTest, ReceivesTheCommunicatorAndEachCollective) {
  for (const std::string version : {"six", "five"}) {
    const Asked asked(version);
    SumOnMachine(With(version));
    EXPECT_EQ(
        TimesIn(asked.Since(),
                "init 4 ranks on 1, domains 1 of 4 to 4, tree 17.8, ring over network 14.0\n"),
        4u)
        << asked.Since();
    EXPECT_EQ(TimesIn(asked.Since(), "function 4 of 4000, 1 at once, 7 x 3, "), 4u);
    EXPECT_THAT(asked.Since(), HasSubstr("registered 0, channels 0\n"));
    EXPECT_EQ(asked.open(), 0);
  }
}

TEST_F(TunerTest, ItsCheapestChoiceRuns) {
  const Asked asked("six");
  for (const auto& [algorithm, protocol, line] :
       {std::tuple(kTree, kLl,
                   "AllReduce: 4000 Bytes -> Algo TREE proto LL channel{Lo..Hi}={0..1}"),
        std::tuple(kRing, kSimple,
                   "AllReduce: 4000 Bytes -> Algo RING proto SIMPLE channel{Lo..Hi}={0..1}")}) {
    asked.Choose(algorithm, protocol, 2);
    SumOnMachine(With("six"));
    EXPECT_THAT(Log(), HasSubstr(line));
  }
}

TEST_F(TunerTest, AnUnchangedTableKeepsTheDefaultChoice) {
  const Asked asked("six");
  SumOnMachine(With("six"));
  EXPECT_THAT(asked.Since(), HasSubstr("function 4"));
  EXPECT_THAT(Log(), Not(HasSubstr("-> Algo")));
}

TEST_F(TunerTest, CanReduceTheChannelsAlone) {
  const Asked asked("six");
  asked.Choose(-1, 0, 1);
  SumOnMachine(With("six"));
  EXPECT_THAT(Log(), HasSubstr("channel{Lo..Hi}={0..0}"));
}

TEST_F(TunerTest, TheEmulatedMachineFollowsTheChoice) {
  RunOn(1, 4, {}, [](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    if (rank != 0) return;
    const GpuMachine& machine = *(*formed)->backend().machine();
    const collective::Call call{.count = 1 << 20};
    const auto way = [&](collective::TunerChoice choice) {
      collective::Call tuned = call;
      tuned.tuner = choice;
      return machine.AlgorithmNamesOf(tuned).value();
    };
    const MachineAlgorithm tree = way({.given = true, .algorithm = kTree, .protocol = kLl});
    EXPECT_EQ(tree.carriage, plan::TransferPurpose::kTree);
    EXPECT_EQ(tree.pick->protocol, Protocol::kLl);
    EXPECT_EQ(tree.predicted_ns(), *machine.TimesOf(call)[kTree][kLl]);
    const MachineAlgorithm many =
        way({.given = true, .algorithm = kRing, .protocol = kSimple, .channels = 64});
    EXPECT_EQ(many.channels, machine.gpus().channels().counts().rings);
    // NVLS is missing, so the model's choice runs.
    EXPECT_EQ(way({.given = true, .algorithm = kNvls, .protocol = kSimple}),
              machine.AlgorithmNamesOf(call).value());
  });
}

TEST_F(TunerTest, ItsConstantsChangeTheModel) {
  const Asked asked("six");
  const auto time = [&](double ring_base) {
    asked.RingBase(ring_base);
    std::uint64_t found = 0;
    RunOn(1, 4, With("six"), [&](std::uint32_t rank, Result<std::unique_ptr<Communicator>> formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      const auto times = (*formed)->backend().machine()->TimesOf({.count = 1000});
      if (rank == 0) found = *times[kRing][kSimple];
    });
    return found;
  };
  const std::uint64_t usual = time(-1);
  EXPECT_EQ(time(8.4), usual);
  EXPECT_EQ(time(108.4), usual + 100'000);
}

TEST_F(TunerTest, RanksDetectDifferentChoices) {
  const Asked asked("differs");
  asked.Choose(kTree, kSimple, 1);
  RunOn(1, 2, With("differs"), [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    ASSERT_TRUE(formed.ok()) << formed.error().message;
    const Status status = SumOfRanks(**formed, 1000);
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().code, Code::kProtocol);
    EXPECT_THAT(status.error().message, HasSubstr("NCCL_TUNER_PLUGIN"));
  });
}

TEST_F(TunerTest, ChoosesRingsAndTreesOverLinks) {
  const Asked asked("six");
  for (const auto& [algorithm, name] : {std::pair(kTree, "TREE"), std::pair(kRing, "RING")}) {
    asked.Choose(algorithm, kSimple, 7);
    EnvMap environment = With("six");
    environment["RINGLET_LINKS"] = "tcp";
    RunRanks(3, environment, [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
      ASSERT_TRUE(formed.ok()) << formed.error().message;
      EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
      EXPECT_TRUE(Barrier(**formed).ok());
    });
    EXPECT_THAT(Log(), HasSubstr(std::string("AllReduce: 4000 Bytes -> Algo ") + name));
  }
  EXPECT_THAT(asked.Since(), HasSubstr("init 3 ranks on 1, domains 1 of 3 to 3"));
  EXPECT_THAT(asked.Since(), HasSubstr("7 x 3, 2 possible"));
  EXPECT_EQ(asked.open(), 0);
}

TEST_F(TunerTest, IsNotCalledIfRanksShareMemory) {
  const Asked asked("six");
  RunRanks(2, With("six"), [](std::uint32_t, Result<std::unique_ptr<Communicator>> formed) {
    EXPECT_TRUE(SumOfRanks(**formed, 1000).ok());
  });
  EXPECT_THAT(asked.Since(), Not(HasSubstr("function")));
  EXPECT_EQ(TimesIn(Log(), "RINGLET_TUNER_PLUGIN is not used"), 1u) << Log();
}

TEST_F(TunerTest, FaultyPluginsAreNamedAndIgnored) {
  const auto log = [&](const std::string& plugin) {
    std::ofstream(PathOf("log")).flush();
    EnvMap environment = With(plugin);
    environment["RINGLET_DEBUG"] = "WARN";
    SumOnMachine(environment);
    return Log();
  };
  EXPECT_THAT(log("null"), HasSubstr("lacks the function getCollInfo in ncclTunerPlugin_v6"));
  EXPECT_THAT(log("four"), HasSubstr("has ncclTunerPlugin_v4"));
  EXPECT_THAT(log("no-such"), HasSubstr("libnccl-tuner-no-such.so"));
  EXPECT_THAT(log("refuses"), HasSubstr("refused communicator"));
  EXPECT_THAT(log("errs"), HasSubstr("answered getCollInfo with error 2"));
  EXPECT_THAT(log("nonsense"), HasSubstr("requested -5 channels"));
}

/// Queries a plug-in as one communicator does.
class TunerAnswers : public testing::Test {
 protected:
  std::unique_ptr<TunerSession> Begin() const {
    return TunerSession::Begin(*plugin_, {.ranks = 2}, plan::kNcclConstants);
  }

  const Asked asked_{"six"};
  os::Logger logger_{Settings{}, "host", 1};
  const std::unique_ptr<TunerPlugin> plugin_ = TunerPlugin::Load(TunerAt("six"), logger_).value();
};

TEST_F(TunerAnswers, HaveAtMostTheChannelsOfNccl) {
  plan::TimeTable times{};
  times[kRing][kSimple] = 5'000;
  asked_.Choose(kRing, kSimple, 300);
  EXPECT_EQ(Begin()->Ask(plan::Function::kAllReduce, 8, times).channels, 64);
}

TEST_F(TunerAnswers, ChooseTheFirstOfEquallyCheapAlgorithms) {
  plan::TimeTable times{};
  times[kTree][kSimple] = 7'000;
  times[kRing][kLl] = times[kRing][kSimple] = 5'000;
  asked_.Choose(-1, 0, 1);
  const collective::TunerChoice choice = Begin()->Ask(plan::Function::kAllReduce, 8, times);
  EXPECT_TRUE(choice.given);
  EXPECT_EQ(choice.algorithm, kRing);
  EXPECT_EQ(choice.protocol, kLl);
}

TEST_F(TunerAnswers, HaveBoundedConstants) {
  asked_.RingBase(1e300);
  const auto session = Begin();
  EXPECT_EQ(session->constants().base_ns[kRing][kSimple], 1'000'000'000u);
  EXPECT_EQ(session->constants().base_ns[kTree][kSimple],
            plan::kNcclConstants.base_ns[kTree][kSimple]);
}

TEST_F(TunerTest, WritesToTheLog) {
  SumOnMachine(With("six"));
  EXPECT_THAT(Log(), AllOf(HasSubstr("tuner sees 4 ranks"), HasSubstr("tuner_plugin.c")));
}

}  // namespace
}  // namespace ringlet::comm
