#include "tool/run/input_pump.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <array>

namespace ringlet::cli {
namespace {

struct Pipe {
  os::Fd read, write;
};

Pipe OpenPipe() {
  std::array<int, 2> ends{};
  EXPECT_EQ(::pipe(ends.data()), 0);
  return {os::Fd(ends[0]), os::Fd(ends[1])};
}

void Put(const os::Fd& to, std::string_view text) {
  ASSERT_EQ(::write(to.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(InputPumpTest, CopiesInputUpToItsEnd) {
  Pipe typed = OpenPipe();
  auto pump = InputPump::Open(typed.read.get()).value();
  pump.Pump();  // no input has arrived, so it does not block
  Put(typed.write, "hello\n");
  std::vector<int> waited;
  pump.AddDescriptor(waited);
  EXPECT_THAT(waited, testing::ElementsAre(typed.read.get()));
  pump.Pump();
  std::array<char, 64> got{};
  ASSERT_EQ(::read(pump.reader().get(), got.data(), got.size()), 6);
  EXPECT_EQ(std::string_view(got.data(), 6), "hello\n");
  typed.write.Close();
  pump.Pump();
  EXPECT_EQ(::read(pump.reader().get(), got.data(), got.size()), 0);
  waited.clear();
  pump.AddDescriptor(waited);
  EXPECT_THAT(waited, testing::IsEmpty());
}

TEST(InputPumpTest, EndsWhenTheProgramStopsReading) {
  Pipe typed = OpenPipe();
  auto pump = InputPump::Open(typed.read.get()).value();
  pump.reader().Close();
  Put(typed.write, "hello\n");
  pump.Pump();  // neither receives a signal nor waits
  std::vector<int> waited;
  pump.AddDescriptor(waited);
  EXPECT_THAT(waited, testing::IsEmpty());
}

}  // namespace
}  // namespace ringlet::cli
