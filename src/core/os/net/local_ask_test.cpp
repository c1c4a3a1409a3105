#include "os/net/local_ask.hpp"

#include <gmock/gmock.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

#include "os/net/listener.hpp"
#include "os/net/sockaddr.hpp"

namespace ringlet::os {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::chrono::seconds kLong(60);  // longer than a test may take

/// A listener that answers one caller with `text`.
class OneAnswer {
 public:
  OneAnswer(const std::string& name, std::string text)
      : listener_(Listen(Address::Unix(name)).value()), thread_([this, text = std::move(text)] {
          int caller = -1;
          while (caller < 0) caller = ::accept(listener_.fd.get(), nullptr, nullptr);
          const Fd fd(caller);
          std::array<char, 256> question{};
          heard_.assign(question.data(), static_cast<std::size_t>(::recv(fd.get(), question.data(),
                                                                         question.size(), 0)));
          ::send(fd.get(), text.data(), text.size(), MSG_NOSIGNAL);
        }) {}
  ~OneAnswer() { thread_.join(); }
  const Address& address() const { return listener_.address; }
  std::string heard() {
    thread_.join();
    thread_ = std::thread([] {});
    return heard_;
  }

 private:
  Listener listener_;
  std::string heard_;
  std::thread thread_;
};

std::string NameForTest(const char* what) {
  return "ringlet-local-ask-test-" + std::to_string(::getpid()) + "-" + what;
}

TEST(QueryProcesses, ReturnsAnswersInTheOrderOfTheAddresses) {
  OneAnswer first(NameForTest("first"), "one"), second(NameForTest("second"), "two");
  const Address nobody = Address::Unix(NameForTest("nobody"));
  const auto answers = QueryProcesses({first.address(), nobody, second.address()},
                                      {.text = "status", .answer_bytes_max = 10, .timeout = kLong});
  ASSERT_EQ(answers.size(), 3u);
  EXPECT_EQ(answers[0].value(), "one");
  EXPECT_EQ(answers[1].error().code, Code::kPeerLost);
  EXPECT_THAT(answers[1].error().message, HasSubstr("nobody"));
  EXPECT_EQ(answers[2].value(), "two");
  EXPECT_EQ(first.heard(), "status\n");
}

TEST(QueryProcesses, ALongAnswerIsRefused) {
  OneAnswer process(NameForTest("long"), "12345678901");
  const auto answers = QueryProcesses({process.address()},
                                      {.text = "status", .answer_bytes_max = 10, .timeout = kLong});
  EXPECT_EQ(answers[0].error().code, Code::kProtocol);
}

TEST(QueryProcesses, AProcessThatDoesNotAnswerTimesOut) {
  const Listener silent = Listen(Address::Unix(NameForTest("silent"))).value();
  const auto answers = QueryProcesses(
      {silent.address},
      {.text = "status", .answer_bytes_max = 10, .timeout = std::chrono::milliseconds(1)});
  EXPECT_EQ(answers[0].error().code, Code::kTimeout);
}

TEST(QueryProcesses, AnEmptyAnswerIsAnError) {
  OneAnswer process(NameForTest("empty"), "");
  const auto answers = QueryProcesses({process.address()},
                                      {.text = "status", .answer_bytes_max = 10, .timeout = kLong});
  EXPECT_EQ(answers[0].error().code, Code::kPeerLost);
}

TEST(AbstractNames, AreParsedFromTheTextOfTheKernel) {
  EXPECT_THAT(AbstractNamesIn("Num       RefCount Protocol Flags    Type St Inode Path\n"
                              "0000000000000000: 00000002 00000000 00010000 0001 01 123 @b\n"
                              "0000000000000000: 00000002 00000000 00010000 0001 01 124 /run/x\n"
                              "0000000000000000: 00000002 00000000 00010000 0001 01 125\n"
                              "0000000000000000: 00000003 00000000 00000000 0001 03 126 @a\n"
                              "0000000000000000: 00000003 00000000 00000000 0001 03 127 @b\n"),
              ElementsAre("a", "b"));
  EXPECT_TRUE(AbstractNamesIn("").empty());
}

TEST(AbstractNames, ContainTheNamesOfThisProcess) {
  const Listener listener = Listen(Address::Unix(NameForTest("listed"))).value();
  EXPECT_THAT(AbstractNames(FileTree::Open("/").value()).value(), Contains(NameForTest("listed")));
}

}  // namespace
}  // namespace ringlet::os
