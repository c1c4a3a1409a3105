#include "comm/process/mapped_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <tuple>

namespace ringlet::comm {
namespace {

using testing::HasSubstr;

MemoryLabel SomeLabel(Process& process, std::size_t bytes) {
  std::byte* const memory = process.heap().Allocate(3 << 20).value();
  return LabelOf(process, View(memory + 4096, bytes)).value();
}

TEST(MappedMemory, MapsTheMemoryAtAnotherAddress) {
  const auto process = *Process::StartHere();
  std::byte* const memory = process->heap().Allocate(3 << 20).value();
  const MemoryLabel label = LabelOf(*process, View(memory + 4096, 100)).value();
  const auto mapped = MappedMemory::Map(*process, label);
  ASSERT_TRUE(mapped.ok()) << mapped.error().message;
  ASSERT_EQ(mapped->bytes().size(), 100u);
  EXPECT_NE(mapped->bytes().data(), memory + 4096);
  mapped->bytes()[99] = std::byte{7};
  EXPECT_EQ(memory[4096 + 99], std::byte{7});
}

TEST(MappedMemory, StaysMappedWhenItsOwnerFreesIt) {
  const auto process = *Process::StartHere();
  std::byte* const memory = process->heap().Allocate(4096).value();
  const auto mapped =
      MappedMemory::Map(*process, LabelOf(*process, View(memory, 4096)).value()).value();
  std::memset(memory, 5, 4096);
  ASSERT_TRUE(process->heap().Free(memory).ok());
  EXPECT_EQ(mapped.bytes()[17], std::byte{0});
}

TEST(MappedMemory, LabelsRoundTrip) {
  const auto process = *Process::StartHere();
  const MemoryLabel label = SomeLabel(*process, 33);
  const Bytes bytes = label.Encode();
  ASSERT_EQ(bytes.size(), MemoryLabel::kBytes);
  const MemoryLabel back = MemoryLabel::Decode(bytes).value();
  const auto all = [](const MemoryLabel& l) {
    return std::tuple(l.host, l.pid, l.start_ticks, l.descriptor, l.device, l.inode,
                      l.allocation_bytes, l.offset, l.bytes);
  };
  EXPECT_EQ(all(back), all(label));
  EXPECT_EQ(MemoryLabel::Decode(View(bytes).first(63)).error().code, Code::kProtocol);
}

TEST(MappedMemory, OtherMemoryCannotBeLabelled) {
  const auto process = *Process::StartHere();
  std::byte own[8] = {};
  const auto label = LabelOf(*process, View(own));
  ASSERT_FALSE(label.ok());
  EXPECT_THAT(label.error().message, HasSubstr("8 bytes"));
}

TEST(MappedMemory, RefusesAFalseLabel) {
  const auto process = *Process::StartHere();
  const MemoryLabel label = SomeLabel(*process, 64);
  MemoryLabel lie = label;
  lie.host ^= 1;
  EXPECT_THAT(MappedMemory::Map(*process, lie).error().message, HasSubstr("another host"));
  lie = label;
  lie.offset = label.allocation_bytes - 63;
  EXPECT_EQ(MappedMemory::Map(*process, lie).error().code, Code::kProtocol);
  lie = label;
  lie.bytes = ~std::uint64_t{0};
  EXPECT_EQ(MappedMemory::Map(*process, lie).error().code, Code::kProtocol);
  lie = label;
  lie.allocation_bytes += 4096;
  EXPECT_EQ(MappedMemory::Map(*process, lie).error().code, Code::kProtocol);
  lie = label;
  ++lie.inode;
  EXPECT_EQ(MappedMemory::Map(*process, lie).error().code, Code::kProtocol);
  lie = label;
  lie.descriptor = 100'000;
  EXPECT_EQ(MappedMemory::Map(*process, lie).error().code, Code::kSystem);
}

TEST(MappedMemory, DetectsTheEndOfAProcess) {
  const auto process = *Process::StartHere();
  MemoryLabel label = SomeLabel(*process, 64);
  EXPECT_FALSE(HasEnded(*process, label));
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t ended{};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &ended, WEXITED | WNOWAIT), 0);
  label.pid = static_cast<std::uint32_t>(child);
  label.start_ticks = 0;
  EXPECT_TRUE(HasEnded(*process, label)) << "it has ended, but is not buried";
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(HasEnded(*process, label));
  label.pid = static_cast<std::uint32_t>(::getpid());
  label.start_ticks = 1;
  EXPECT_TRUE(HasEnded(*process, label)) << "its pid is another process's by now";
}

}  // namespace
}  // namespace ringlet::comm
