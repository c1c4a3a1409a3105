#include "os/driver/line_io.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>

#include "os/driver/parts_for_test.hpp"

namespace ringlet::os {
namespace {

class LineIo : public testing::Test {
 protected:
  void Push(std::string_view text, Descriptors descriptors = {}) {
    queue.Push(Slice(AsView(text)), std::move(descriptors));  // borrowed, so the queue keeps a copy
  }
  LineReading Read() { return ReadSome(ends.second.get(), true, room); }
  std::string Text(const LineReading& reading) {
    return std::string(AsText(View(room).first(static_cast<std::size_t>(reading.bytes))));
  }

  std::pair<Fd, Fd> ends = SocketPair();
  UnsentQueue queue;
  Bytes room = Bytes(1 << 20);
};

TEST_F(LineIo, ASingleSystemCallSendsManyMessages) {
  for (int i = 0; i < 64; ++i) Push("ab");
  Push("next");
  EXPECT_EQ(queue.bytes(), 132u);
  EXPECT_EQ(queue.SendSome(ends.first.get(), true).bytes, 128u);
  EXPECT_EQ(queue.bytes(), 4u);
  EXPECT_EQ(queue.SendSome(ends.first.get(), true).bytes, 4u);
  EXPECT_TRUE(queue.empty());
  EXPECT_EQ(Read().bytes, 132);
}

TEST_F(LineIo, APartlySentMessageContinuesAfterItsSentBytes) {
  const std::string much(4 << 20, 'm');
  Push(much);
  Push("end");
  std::string heard;
  while (heard.size() < much.size() + 3) {
    const UnsentQueue::Sent sent =
        queue.empty() ? UnsentQueue::Sent{} : queue.SendSome(ends.first.get(), true);
    ASSERT_TRUE(sent.error == 0 || sent.error == EAGAIN) << sent.error;
    const LineReading reading = Read();
    if (reading.bytes > 0) heard += Text(reading);
    EXPECT_EQ(queue.bytes() == 0, queue.empty());
  }
  EXPECT_EQ(heard, much + "end");
}

TEST_F(LineIo, AMessageWithADescriptorStartsACall) {
  Push("before");
  Push("with", {Keep(Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC)))});
  Push("after");
  EXPECT_EQ(queue.SendSome(ends.first.get(), true).bytes, 6u);
  LineReading reading = Read();
  EXPECT_EQ(Text(reading), "before");
  EXPECT_TRUE(reading.descriptors.empty());
  EXPECT_EQ(queue.SendSome(ends.first.get(), true).bytes, 9u);
  reading = Read();
  EXPECT_EQ(Text(reading), "withafter");
  ASSERT_EQ(reading.descriptors.size(), 1u);
  EXPECT_NE(::fcntl(reading.descriptors[0].value, F_GETFD) & FD_CLOEXEC, 0);
  EXPECT_FALSE(reading.descriptors_lost);
}

TEST_F(LineIo, AnErrorLeavesTheQueueUnchanged) {
  Push("words");
  ends.second.Close();
  const UnsentQueue::Sent sent = queue.SendSome(ends.first.get(), true);
  EXPECT_EQ(sent.error, EPIPE);
  EXPECT_EQ(sent.bytes, 0u);
  EXPECT_EQ(queue.bytes(), 5u);
}

TEST_F(LineIo, AReadDistinguishesASilentFromAClosedPeer) {
  LineReading reading = Read();
  EXPECT_LT(reading.bytes, 0);
  EXPECT_EQ(reading.error, EAGAIN);
  ends.first.Close();
  reading = Read();
  EXPECT_EQ(reading.bytes, 0);
  EXPECT_EQ(reading.error, 0);
}

}  // namespace
}  // namespace ringlet::os
