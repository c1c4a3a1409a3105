#include "tool/results/report_printer.hpp"

#include <gmock/gmock.h>

namespace ringlet::cli {
namespace {

using std::chrono::seconds;
using testing::HasSubstr;

constexpr Instant kShownStart = std::chrono::hours(1);
const Row kShownRow{.bytes = 8, .count = 2, .out_of_place = Measurement{.time_us = 1, .wrong = 0}};

// A presenter with both streams in memory.
class PresenterTest : public testing::TestWithParam<bool> {
 protected:
  static constexpr std::size_t kBytes = 16'384;
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  using File = std::unique_ptr<std::FILE, Close>;

  std::string Text(const std::vector<char>& memory, const File& file) {
    std::fflush(file.get());
    return memory.data();
  }
  std::string Output() { return Text(output_memory_, output_); }
  std::string Errors() { return Text(errors_memory_, errors_); }

  std::vector<char> output_memory_ = std::vector<char>(kBytes);
  std::vector<char> errors_memory_ = std::vector<char>(kBytes);
  File output_{::fmemopen(output_memory_.data(), kBytes, "w")};
  File errors_{::fmemopen(errors_memory_.data(), kBytes, "w")};
  ReportPrinter presenter_{{.report = {.ranks = 4},
                            .head = {.ranks = 4},
                            .json = GetParam(),
                            .sizes = 2,
                            .start = kShownStart,
                            .output = output_.get(),
                            .errors = errors_.get()}};
};

TEST_P(PresenterTest, PrintsATableRowByRowOrOneJsonObjectAtTheEnd) {
  presenter_.OnMessage(Formed{"2 shm"});
  presenter_.OnMessage(kShownRow);
  if (GetParam()) {
    EXPECT_EQ(Output(), "");
  } else {
    EXPECT_THAT(Output(), HasSubstr("links 2 shm"));
    EXPECT_THAT(Output(), HasSubstr("float     sum"));
  }
  EXPECT_FALSE(presenter_.complete());
  presenter_.OnMessage(kShownRow);
  EXPECT_TRUE(presenter_.complete());
  presenter_.Finish();
  EXPECT_THAT(Output(), HasSubstr(GetParam() ? "\"links\": \"2 shm\"" : "Avg bus bandwidth"));
  EXPECT_EQ(Errors(), "");
}

TEST_P(PresenterTest, ReportsSlowFormationFromTimeToTime) {
  presenter_.OnTick(kShownStart + seconds(1));
  EXPECT_EQ(Errors(), "");
  presenter_.OnTick(kShownStart + seconds(2));
  presenter_.OnTick(kShownStart + seconds(3));
  EXPECT_EQ(Errors(), "ringlet bench: forming a communicator of 4 ranks, 2 s\n");
}

TEST_P(PresenterTest, ReportsProgressOnlyForJsonOutput) {
  presenter_.OnMessage(Formed{"2 shm"});
  presenter_.OnMessage(kShownRow);
  presenter_.OnTick(kShownStart + seconds(5));
  EXPECT_EQ(Errors(), GetParam() ? "ringlet bench: 1 of 2 sizes measured after 5 s\n" : "");
}

INSTANTIATE_TEST_SUITE_P(Forms, PresenterTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Json" : "Table"; });

}  // namespace
}  // namespace ringlet::cli
