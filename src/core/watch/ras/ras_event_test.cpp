#include "watch/ras/ras_event.hpp"

#include <gmock/gmock.h>

#include "base/value/json_object.hpp"
#include "watch/ras/ras_jobs_for_test.hpp"

namespace ringlet::watch {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Reach = RankState::Reach;

/// The names of the events between states `before` and `now` of process 101.
std::vector<std::string> Between(std::optional<Reach> before, std::optional<Reach> now) {
  const auto peers = [](std::optional<Reach> reach) {
    JobStatus job = JobForTest({1, 1});
    if (reach)
      job.states[1].reach = *reach;
    else
      job.states.pop_back();
    return RasPeersOf({job});
  };
  std::vector<std::string> names;
  for (const RasEvent& event : RasEventsBetween(peers(before), peers(now))) {
    EXPECT_EQ(event.peer.pid, 101u);
    names.push_back(event.name + (event.group == kLifecycleEvents ? "" : " trace"));
  }
  return names;
}

TEST(RasEvents, ReportNewDeadAndSilentProcesses) {
  EXPECT_THAT(Between(Reach::kHere, Reach::kHere), IsEmpty());
  EXPECT_THAT(Between(std::nullopt, Reach::kHere), ElementsAre("PEER_NEW"));
  EXPECT_THAT(Between(Reach::kHere, Reach::kGone), ElementsAre("PEER_DEAD"));
  EXPECT_THAT(Between(Reach::kGone, Reach::kGone), IsEmpty());
  EXPECT_THAT(Between(Reach::kHere, Reach::kSilent), ElementsAre("PEER_UNRESPONSIVE trace"));
  EXPECT_THAT(Between(Reach::kSilent, Reach::kUnknown), IsEmpty());
  EXPECT_THAT(Between(Reach::kSilent, Reach::kGone), ElementsAre("PEER_DEAD"));
  EXPECT_THAT(Between(Reach::kSilent, Reach::kHere), ElementsAre("PEER_RECOVERED trace"));
  EXPECT_THAT(Between(Reach::kHere, Reach::kLeft), IsEmpty()) << "it has left in good order";
  EXPECT_THAT(Between(Reach::kHere, std::nullopt), IsEmpty());
}

TEST(RasEvents, ArePrintedAsTextOrJson) {
  const RasEvent event{.name = "PEER_DEAD", .peer = {.host = "alpha", .pid = 7, .devices = {1}}};
  EXPECT_EQ(RasText(event, "2026-11-24 15:04:05"),
            "[2026-11-24 15:04:05] PEER_DEAD: Process 7 on node alpha managing GPU 1 \n");
  const Json json = Json::parse(RasJson(event, "2026-11-24 15:04:05"));
  EXPECT_EQ(json["group"], "LIFECYCLE");
  EXPECT_EQ(json["event"], "PEER_DEAD");
  EXPECT_EQ(json["peer"]["cuda_devs"], Json({1}));
}

TEST(RasEvents, GroupsAreParsed) {
  std::string wrong;
  EXPECT_EQ(ParseRasEvents("", wrong), kLifecycleEvents);
  EXPECT_EQ(ParseRasEvents("TRACE", wrong), kTraceEvents);
  EXPECT_EQ(ParseRasEvents("lifecycle,trace", wrong), ParseRasEvents("all", wrong));
  EXPECT_FALSE(ParseRasEvents("trace,weather", wrong).has_value());
  EXPECT_EQ(wrong, "weather");
}

}  // namespace
}  // namespace ringlet::watch
